import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Manager } from '@reeve/runtime/manager';
import { seededRandom, settled, TestApi, VirtualClock } from '@reeve/runtime/testing';
import { greeter } from './greeting-operator.ts';

test('the operator keeps a ConfigMap for each Greeting, puts it right, and says so; in less than 40 lines', async () => {
  const clock = new VirtualClock();
  const api = new TestApi();
  let ids = 0;
  const ports = { clock, random: seededRandom(1), ids: { next: (prefix: string) => `${prefix}-${++ids}` } };
  const manager = new Manager(ports, { name: 'greeter', transport: api.transport }).add(greeter);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const advance = async () => {
    for (let i = 0; i < 20; i++) await settled();
    await clock.advance(1_000);
  };
  const group = 'examples.reeve.dev';
  const map = () => api.object('configmaps', 'ns/world', '') as { data?: object } | undefined;
  api.put('greetings', 'world', { text: 'hello, world' }, group);
  await advance();
  assert.deepEqual(map()?.data, { text: 'hello, world' });
  assert.deepEqual(api.object('greetings', 'ns/world', group)?.status, { said: 'hello, world' });
  api.delete('configmaps', 'world', '');
  await advance();
  assert.ok(map(), 'deleted by somebody, and there again');
  api.put('greetings', 'world', { text: 'good night' }, group);
  await advance();
  assert.deepEqual(map()?.data, { text: 'good night' });
  stop.abort();
  await running;
  const source = readFileSync(new URL('./greeting-operator.ts', import.meta.url), 'utf8');
  assert.ok(source.trimEnd().split('\n').length < 40);
});
