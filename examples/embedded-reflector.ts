/**
 * A Kubernetes API in this process, without a socket, and a reflector that follows one of its kinds.
 * `embedded-reflector.test.ts` runs it through everything that breaks a watch.
 */
import { ApiServer, memoryJournal, Store } from '@reeve/embedded';
import { type AnyObject, type Clock, KubeClient, type Random, type Resource, type Stored } from '@reeve/kube';
import { listWatchOf, Reflector, ResourceCache } from '@reeve/runtime';

export async function embeddedWorld(ports: { readonly clock: Clock; readonly random: Random }) {
  const store = await Store.open({ journal: memoryJournal(), clock: ports.clock });
  const server = await ApiServer.open({ store, ...ports });
  const client = new KubeClient({ transport: server.transport(), ...ports });
  return { store, server, client };
}

/** All objects of a kind in one namespace, kept up to date. */
export function reflect(
  client: KubeClient,
  resource: Resource,
  namespace: string,
  ports: { readonly clock: Clock; readonly random: Random },
) {
  const source = listWatchOf(client.resource(resource, namespace));
  const { group, kind } = resource;
  const cache = new ResourceCache<Stored<AnyObject>>({ scope: { group, kind, namespace } });
  return new Reflector(ports, { source, cache });
}
