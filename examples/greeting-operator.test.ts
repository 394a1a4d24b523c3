import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { crdOf, kind, schema } from '@reeve/runtime';
import { Manager } from '@reeve/runtime/manager';
import { seededRandom, settled, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { type KubeObject, resource } from '@reeve/kube';
import { greeter } from './greeting-operator.ts';

const greeting = kind({
  group: 'examples.reeve.dev',
  version: 'v1',
  plural: 'greetings',
  kind: 'Greeting',
  namespaced: true,
  spec: schema.object({ text: schema.text() }),
  status: schema.object({ said: schema.optional(schema.text()) }),
});
const greetings = resource<KubeObject & { readonly spec: { readonly text: string } }>(greeting);
const configMaps = resource({ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true });

test('the operator keeps a ConfigMap for each Greeting, puts it right, and says so; in less than 40 lines', async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const snapshot = await snapshotOf({ namespaces: ['ns'], definitions: [crdOf(greeting)] });
  const api = await ApiWorld.open({ clock, random, snapshot });
  let ids = 0;
  const ports = { clock, random, ids: { next: (prefix: string) => `${prefix}-${++ids}` } };
  const manager = new Manager(ports, { name: 'greeter', transport: api.transport }).add(greeter);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const advance = async () => {
    for (let i = 0; i < 20; i++) await settled();
    await clock.advance(1_000);
  };
  const map = () => api.find<{ readonly data?: object }>('configmaps', 'ns', 'world');
  const people = api.client.resource(greetings, 'ns');
  await people.create({ metadata: { name: 'world' }, spec: { text: 'hello, world' } });
  await advance();
  assert.deepEqual(map()?.data, { text: 'hello, world' });
  assert.deepEqual(api.find('greetings.examples.reeve.dev', 'ns', 'world')?.status, { said: 'hello, world' });
  await api.client.resource(configMaps, 'ns').delete('world');
  await advance();
  assert.ok(map(), 'deleted by somebody, and there again');
  await people.patch('world', { type: 'merge', value: { spec: { text: 'good night' } } });
  await advance();
  assert.deepEqual(map()?.data, { text: 'good night' });
  stop.abort();
  await running;
  const source = readFileSync(new URL('./greeting-operator.ts', import.meta.url), 'utf8');
  assert.ok(source.trimEnd().split('\n').length < 40);
});
