/** All kinds that a server serves and whose objects can be listed, watched and deleted: built in or custom. */
import { type KubeClient, type KubeObject, type Resource, resource, resourcesOf } from '@reeve/kube';

export type Discovery = Pick<KubeClient, 'read'>;

const needed: readonly string[] = ['list', 'watch', 'delete'];

export async function servedKinds(client: Discovery, signal?: AbortSignal): Promise<readonly Resource<KubeObject>[]> {
  const options = signal ? { signal } : {};
  const { groups = [] } = (await client.read('/apis', options)) as unknown as {
    readonly groups?: readonly { readonly name: string; readonly preferredVersion?: { readonly version: string } }[];
  };
  const places = [
    { group: '', version: 'v1' },
    ...groups.map(({ name, preferredVersion }) => ({ group: name, version: preferredVersion?.version ?? 'v1' })),
  ];
  const kinds: Resource<KubeObject>[] = [];
  for (const { group, version } of places) {
    for (const { plural, kind, namespaced, verbs } of await resourcesOf(client, group, version, options)) {
      if (!needed.every((verb) => verbs.includes(verb))) continue;
      kinds.push(resource<KubeObject>({ group, version, plural, kind, namespaced }));
    }
  }
  return kinds;
}
