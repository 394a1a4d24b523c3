/**
 * A Kubernetes API in this process, without a socket, and a reflector that follows one of its kinds.
 * `embedded-reflector.test.ts` runs it through everything that breaks a watch.
 */
import { ApiServer, memoryJournal, Store } from '@reeve/embedded';
import { type AnyObject, type Clock, KubeClient, type Random, type Resource } from '@reeve/kube';
import { type ListWatch, Reflector, ResourceCache } from '@reeve/runtime';

export async function embeddedWorld(ports: { readonly clock: Clock; readonly random: Random }) {
  const store = await Store.open({ journal: memoryJournal(), clock: ports.clock });
  const server = await ApiServer.open({ store, ...ports });
  const client = new KubeClient({ transport: server.transport(), ...ports });
  return { store, server, client };
}

type Described = AnyObject & {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
};

/** All objects of a kind in one namespace, kept up to date. */
export function reflect(
  client: KubeClient,
  resource: Resource,
  namespace: string,
  ports: { readonly clock: Clock; readonly random: Random },
) {
  const objects = client.resource(resource, namespace);
  const source: ListWatch<Described> = {
    list: ({ resourceVersion, ...request }) =>
      objects.list({ ...request, ...(resourceVersion === '' ? {} : { resourceVersion }) }),
    watch: ({ resourceVersion, ...request }) =>
      objects.watchBatches({
        ...request,
        ...(resourceVersion === '' ? {} : { resourceVersion }),
      }) as AsyncIterable<never>,
  };
  const { group, kind } = resource;
  return new Reflector(ports, { source, cache: new ResourceCache<Described>({ scope: { group, kind, namespace } }) });
}
