/** A controller on this runtime: brings status.revision to spec.revision. */
import { accessOf, type KubeObject, loadContext, networkTransport, resource, systemKubePorts } from '@reeve/kube';
import { systemPorts } from '@reeve/runtime';
import { controller, Manager, trafficClasses } from '@reeve/runtime/manager';
import { until } from '@reeve/rig';
import { NAMESPACE } from '../kubernetes/objects.ts';
import { Count } from '../process/count.ts';
import { ready, serveFollower } from '../process/follower.ts';
import { ownHeapBytes } from '../process/usage.ts';

interface Widget extends KubeObject {
  readonly spec?: { readonly revision?: number };
  readonly status?: { readonly revision?: number; readonly phase?: string };
}

const [kubeconfig = '', concurrency = '8'] = process.argv.slice(2);
const widgets = resource<Widget>({
  group: 'bench.reeve.dev',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});
const gate = Promise.withResolvers<void>();
const count = new Count();

const follower = controller<Widget>({
  name: 'bench',
  kind: widgets,
  namespace: NAMESPACE,
  concurrency: Number(concurrency),
  async reconcile({ object, status }) {
    // Until it is open, keys gather in the queue.
    await gate.promise;
    const revision = object.spec?.revision ?? 0;
    if (object.status?.revision === revision) return;
    if (await status({ revision, phase: 'Ready' })) count.add();
  },
});

const ports = systemKubePorts();
const { transport } = networkTransport(accessOf(await loadContext(ports, { file: kubeconfig }), ports), ports.clock);
const unlimited = { perSecond: 1e9, burst: 1e9 };
const budget = Object.fromEntries(trafficClasses.map((name) => [name, unlimited]));
const heapBefore = ownHeapBytes();
const manager = new Manager(systemPorts, { name: 'bench', transport, budget, log: console.error }).add(follower);
void manager.run(new AbortController().signal);
await until('the first list is there', () => manager.phase === 'leading' && manager.readyz().every(({ ok }) => ok), {
  timeoutMs: 600_000,
});
ready(heapBefore);
await serveFollower({ count, objects: () => 0, open: () => gate.resolve() });
