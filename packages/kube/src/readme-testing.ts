import { connect, type KubeObject, resource, systemKubePorts } from '@reeve/kube';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps = resource<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

/** Writes a greeting and tells what becomes of it until it is deleted. */
export async function greet(say: (line: string) => void): Promise<void> {
  using connection = await connect(systemKubePorts());
  const maps = connection.client.resource(configMaps, connection.namespace);

  await maps.apply({ metadata: { name: 'greeting' }, data: { hello: 'world' } });

  const { items, resourceVersion } = await maps.listAll({ fieldSelector: 'metadata.name=greeting' });
  for (const { data } of items) say(`hello ${data?.hello}`);

  for await (const event of maps.watch({ resourceVersion, fieldSelector: 'metadata.name=greeting' })) {
    if (event.type === 'DELETED') return say('gone');
    if (event.type !== 'BOOKMARK') say(`hello ${event.object.data?.hello}`);
  }
}
