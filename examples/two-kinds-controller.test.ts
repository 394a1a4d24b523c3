import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '@reeve/kube';
import { crdOf, kind, schema } from '@reeve/runtime';
import { Manager } from '@reeve/runtime/manager';
import { seededRandom, settled, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { kindA, kindB, type Shape, ShapeController } from './two-kinds-controller.ts';

const definitionOf = (of: Resource<Shape>) =>
  crdOf(
    kind({
      ...of,
      spec: schema.object({ color: schema.text() }),
      status: schema.object({ painted: schema.optional(schema.text()) }),
    }),
  );

test('kind A: one queue, two types of worker; kind B: two queues, a worker each; one observer per resource, with a manager', async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const snapshot = await snapshotOf({ namespaces: ['ns'], definitions: [kindA, kindB].map(definitionOf) });
  const api = await ApiWorld.open({ clock, random, snapshot });
  const [circles, squares] = [api.client.resource(kindA, 'ns'), api.client.resource(kindB, 'ns')];
  const colors = new Map<string, string>();
  const painted: string[] = [];
  const shapes = new ShapeController({
    colorOf: async (name) => colors.get(name),
    paint: async (name, color, by) => {
      colors.set(name, color);
      painted.push(`${by}: ${name} ${color}`);
    },
  });
  const ports = { clock, random, ids: { next: (prefix: string) => prefix } };
  const manager = new Manager(ports, { name: 'shapes', transport: api.transport }).add(shapes);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const advance = async (ms: number) => {
    for (let i = 0; i < 20; i++) await settled();
    await clock.advance(ms);
  };
  await circles.create({ metadata: { name: 'x' }, spec: { color: 'red' } });
  await circles.create({ metadata: { name: 'y' }, spec: { color: 'blue' } });
  await squares.create({ metadata: { name: 'p' }, spec: { color: 'red' } });
  await squares.create({ metadata: { name: 'q' }, spec: { color: 'green' } });
  await advance(1_000);
  const first = ['fast painter: p red', 'painter: y blue', 'red painter: x red', 'slow painter: q green'];
  assert.deepEqual(painted.sort(), first);
  assert.deepEqual(api.find('circles.examples.reeve.dev', 'ns', 'x')?.status, { painted: 'red' });

  // By their state objects change queue and type of worker.
  painted.length = 0;
  await circles.patch('x', { type: 'merge', value: { spec: { color: 'black' } } });
  await squares.patch('q', { type: 'merge', value: { spec: { color: 'red' } } });
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
