/** An operator for one custom kind: every Greeting gets a ConfigMap with its text, and a status that says so. */
import { accessOf, type KubeObject, loadContext, networkTransport, resource, systemKubePorts } from '@reeve/kube';
import { systemPorts } from '@reeve/runtime';
import { controller, Manager, owning } from '@reeve/runtime/manager';

interface Greeting extends KubeObject {
  readonly spec?: { readonly text?: string };
  readonly status?: { readonly said?: string };
}
interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const here = { version: 'v1', namespaced: true } as const;
const greetings = resource<Greeting>({ ...here, group: 'examples.reeve.dev', plural: 'greetings', kind: 'Greeting' });
const configMaps = resource<ConfigMap>({ ...here, group: '', plural: 'configmaps', kind: 'ConfigMap' });

export const greeter = controller<Greeting>({
  name: 'greeter',
  kind: greetings,
  owns: [owning(configMaps, { labelSelector: 'app=greeting' })],
  async reconcile({ object, apply, status }) {
    const text = object.spec?.text ?? 'hello';
    await apply(configMaps, { metadata: { name: object.metadata.name, labels: { app: 'greeting' } }, data: { text } });
    await status({ said: text });
  },
});

if (import.meta.main) {
  const ports = systemKubePorts();
  const { transport } = networkTransport(accessOf(await loadContext(ports), ports), ports.clock);
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const election = { namespace: 'default', name: 'greeter' };
  await new Manager(systemPorts, { name: 'greeter', transport, election, log: console.log })
    .add(greeter)
    .run(stop.signal);
}
