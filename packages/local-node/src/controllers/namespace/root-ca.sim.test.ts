import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, ROOT_CA } from '../../kinds/config-map.ts';
import { namespaces } from '../../kinds/namespace.ts';
import { Cluster } from '../cluster-testing.ts';
import { RootCaPublisher } from './root-ca.ts';

test('every namespace has the authority, also after somebody changed or deleted it, and the next one after a renewal', async (t) => {
  const cluster = await Cluster.start(t, { controllers: [new RootCaPublisher('first')] });
  const maps = cluster.of(configMaps);
  const data = async (namespace = 'ns') => (await cluster.of(configMaps, namespace).find(ROOT_CA))?.data;
  await cluster.until('it is there', async () => (await data())?.['ca.crt'] === 'first');
  await cluster.of(namespaces).create({ metadata: { name: 'later' } });
  await cluster.until('in a new one, too', async () => (await data('later'))?.['ca.crt'] === 'first');

  await maps.patch(ROOT_CA, { type: 'merge', value: { data: { 'ca.crt': 'mine', more: 'x' } } });
  await cluster.until('it is as it was', async () => (await data())?.['ca.crt'] === 'first');
  assert.deepEqual(await data(), { 'ca.crt': 'first' });
  await maps.delete(ROOT_CA);
  await cluster.until('it is back', async () => (await data())?.['ca.crt'] === 'first');

  await cluster.stopManager();
  cluster.startManager([new RootCaPublisher('second')]);
  await cluster.until('the new one', async () => (await data())?.['ca.crt'] === 'second');
});
