/**
 * This runtime: a reflector with its cache, on the client, as a manager sets them up. Fields are parsed when they are read: with `read`
 * every field of every object is, also of those that are listed.
 */
import { connect, type KubeObject, resource, type Stored, systemKubePorts } from '@reeve/kube';
import { type ListWatch, Reflector, ResourceCache } from '@reeve/runtime';
import { listWatchOf } from '@reeve/runtime/manager';
import { NAMESPACE } from '../kubernetes/objects.ts';
import { Count } from '../process/count.ts';
import { ready, serveFollower } from '../process/follower.ts';
import { heapBeforeList } from '../process/usage.ts';

const [kubeconfig = '', plural = '', reading = ''] = process.argv.slice(2);
const kind =
  plural === 'pods'
    ? resource({ group: '', version: 'v1', plural, kind: 'Pod', namespaced: true })
    : resource({ group: 'bench.reeve.dev', version: 'v1', plural, kind: 'Widget', namespaced: true });

const ports = systemKubePorts();
const { client } = await connect(ports, { file: kubeconfig });
const gate = Promise.withResolvers<void>();
const server = listWatchOf(client.resource(kind, NAMESPACE), {});
const source: ListWatch<Stored<KubeObject>> = {
  list: (request) => server.list(request),
  // The watch begins when it is told to: until then changes gather in the server.
  async *watch(request) {
    await gate.promise;
    yield* server.watch(request);
  },
};
const cache = new ResourceCache<Stored<KubeObject>>({
  scope: { group: kind.group, kind: kind.kind, namespace: NAMESPACE },
});
const listed = Promise.withResolvers<void>();
const reflector = new Reflector(ports, {
  source,
  cache,
  streams: false,
  // A gate that stays closed for a while is not a dead server.
  silenceMs: [900_000, 1_000_000],
  synced: () => listed.resolve(),
});
const count = new Count();
const heapBefore = await heapBeforeList(() => client.resource(kind, NAMESPACE).list({ limit: 1_000 }));
void (async () => {
  for await (const batch of reflector.batches()) {
    for (const { object } of batch) {
      if (reading === 'read') Object.values(object);
      count.add();
    }
  }
})();
await listed.promise;
ready(heapBefore);
await serveFollower({ count, objects: () => cache.size, open: () => gate.resolve() });
