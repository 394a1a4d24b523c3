import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Manager } from '@reeve/runtime/manager';
import { seededRandom, settled, TestApi, VirtualClock } from '@reeve/runtime/testing';
import { ShapeController } from './two-kinds-controller.ts';

test('kind A: one queue, two types of worker; kind B: two queues, a worker each; one observer per resource, with a manager', async () => {
  const clock = new VirtualClock();
  const api = new TestApi();
  const colors = new Map<string, string>();
  const painted: string[] = [];
  const shapes = new ShapeController({
    colorOf: async (name) => colors.get(name),
    paint: async (name, color, by) => {
      colors.set(name, color);
      painted.push(`${by}: ${name} ${color}`);
    },
  });
  const ports = { clock, random: seededRandom(1), ids: { next: (prefix: string) => prefix } };
  const manager = new Manager(ports, { name: 'shapes', transport: api.transport }).add(shapes);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const advance = async (ms: number) => {
    for (let i = 0; i < 20; i++) await settled();
    await clock.advance(ms);
  };
  const group = 'examples.reeve.dev';
  api.put('circles', 'x', { color: 'red' }, group);
  api.put('circles', 'y', { color: 'blue' }, group);
  api.put('squares', 'p', { color: 'red' }, group);
  api.put('squares', 'q', { color: 'green' }, group);
  await advance(1_000);
  const first = ['fast painter: p red', 'painter: y blue', 'red painter: x red', 'slow painter: q green'];
  assert.deepEqual(painted.sort(), first);
  assert.deepEqual(api.object('circles', 'ns/x', group)?.status, { painted: 'red' });

  // By their state objects change queue and type of worker.
  painted.length = 0;
  api.put('circles', 'x', { color: 'black' }, group);
  api.put('squares', 'q', { color: 'red' }, group);
  await advance(1_000);
  assert.deepEqual(painted.sort(), ['fast painter: q red', 'painter: x black']);

  // The real world changes by itself: the observer of that resource, and no other, brings it back.
  painted.length = 0;
  await advance(60_000);
  assert.deepEqual(painted, []);
  colors.set('y', 'grey');
  await advance(15_000);
  assert.deepEqual(painted, ['painter: y blue']);

  stop.abort();
  await running;
  assert.equal(clock.sleeping, 0);
});
