import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '@reeve/kube';
import { Refusal, TestApi } from '../manager/api-testing.ts';
import { rest } from '../manager/manager-testing.ts';
import { countingIds } from '../manager/setup-testing.ts';
import { constantRandom, VirtualClock } from '../ports/virtual-clock-testing.ts';
import type { KubeEvent, Occurrence } from './event.ts';
import { clippedNote, eventName } from './event.ts';
import { EventRecorder, type RecorderOptions } from './recorder.ts';

const regarding = { kind: 'Thing', namespace: 'ns', name: 'a', uid: 'u1' };
const occurrence: Occurrence = { type: 'Warning', reason: 'Failed', action: 'Reconcile', note: 'no', regarding };

function setUp(options: Partial<RecorderOptions> = {}) {
  const api = new TestApi();
  const clock = new VirtualClock();
  const client = new KubeClient({ clock, random: constantRandom(0), transport: api.transport });
  const dropped: string[] = [];
  const recorder = new EventRecorder({ clock, ids: countingIds() }, client, {
    reportingController: 'reeve.dev/test',
    reportingInstance: 'pod-1',
    dropped: (why) => dropped.push(why),
    ...options,
  });
  const events = () => [...api.kind('events', 'events.k8s.io').objects.values()] as unknown as KubeEvent[];
  const advance = async (ms: number) => {
    await rest();
    await clock.advance(ms);
    await rest();
  };
  return { api, clock, recorder, dropped, events, advance };
}

test('an event is written as events.k8s.io has it', async () => {
  const it = setUp();
  it.recorder.record(occurrence);
  await it.advance(0);
  const [event] = it.events();
  assert.deepEqual(
    { ...event, metadata: undefined, spec: undefined, apiVersion: undefined, kind: undefined },
    {
      ...occurrence,
      eventTime: '1970-01-01T00:16:40.000000Z',
      reportingController: 'reeve.dev/test',
      reportingInstance: 'pod-1',
      metadata: undefined,
      spec: undefined,
      apiVersion: undefined,
      kind: undefined,
    },
  );
  assert.equal(event?.metadata.namespace, 'ns');
  await it.recorder[Symbol.asyncDispose]();
  assert.equal(it.clock.sleeping, 0);
});

test('the same again is a series: one object, counted, written at most once a minute, over after six', async () => {
  const it = setUp();
  for (let i = 0; i < 100; i++) {
    it.recorder.record(occurrence);
    await it.clock.advance(1_000);
  }
  await it.advance(60_000);
  assert.equal(it.events().length, 1);
  assert.equal(it.events()[0]?.series?.count, 100);
  assert.ok(it.api.writes.length <= 4, it.api.writes.join());
  await it.advance(361_000);
  it.recorder.record(occurrence);
  await it.advance(0);
  assert.equal(it.events().length, 2, 'a new series');
  await it.recorder[Symbol.asyncDispose]();
});

test('another cause is another event at once, and one that comes back is soon the newest again', async () => {
  const it = setUp();
  const missing = (what: string) => it.recorder.record({ ...occurrence, note: `${what} not found, looked 3 times` });
  const told = () =>
    it
      .events()
      .map(({ note, series }) => `${note} ×${series?.count ?? 1} ${series?.lastObservedTime.slice(11, 19) ?? ''}`);
  missing('configmap "later-1"');
  await it.advance(1_000);
  missing('configmap "later-2"');
  await it.advance(1_000);
  assert.deepEqual(told(), [
    'configmap "later-1" not found, looked 3 times ×1 ',
    'configmap "later-2" not found, looked 3 times ×1 ',
  ]);
  missing('configmap "later-1"');
  await it.advance(10_000);
  assert.equal(told()[0], 'configmap "later-1" not found, looked 3 times ×2 00:16:42', 'not after a minute only');
  for (let second = 0; second < 60; second++) {
    missing(`configmap "later-${1 + (second % 2)}"`);
    await it.advance(1_000);
  }
  assert.ok(it.api.writes.length <= 3 + 14, `${it.api.writes.length} writes`);
  await it.recorder[Symbol.asyncDispose]();
});

test('an event has the words of what happened at its time, and numbers and names are words', async () => {
  const it = setUp();
  for (let i = 5; i >= 0; i--) {
    it.recorder.record({ ...occurrence, note: `old-${i} is made anew` });
    await it.advance(1_000);
  }
  const told = it.events().map(({ note, series }) => `${note} ×${series?.count ?? 1}`);
  assert.deepEqual(
    told,
    [5, 4, 3, 2, 1, 0].map((i) => `old-${i} is made anew ×1`),
  );
  await it.recorder[Symbol.asyncDispose]();
});

test('of words that are others each time the newest are told, a few at once and then one in five minutes', async () => {
  const it = setUp({ burst: 60 });
  const start = it.clock.now();
  for (let second = 0; second < 900; second++) {
    it.recorder.record({ ...occurrence, reason: 'Chatty', note: `second ${second}` });
    await it.clock.advance(1_000);
  }
  for (let i = 0; i < 5; i++) it.recorder.record({ ...occurrence, reason: 'Calm', action: `Of ${i}` });
  await it.advance(300_000);
  const chatty = it.events().filter(({ reason }) => reason === 'Chatty');
  assert.ok(chatty.length > 20 && chatty.length <= 24, `${chatty.length}`);
  for (const { note, eventTime, series } of chatty) {
    const at = Date.parse(series?.lastObservedTime ?? eventTime);
    assert.equal(note, `second ${(at - start) / 1_000}`);
  }
  assert.equal(chatty.at(-1)?.note, 'second 899');
  assert.equal(
    chatty.reduce((sum, { series }) => sum + (series?.count ?? 1), 0),
    900,
  );
  assert.equal(it.events().filter(({ reason }) => reason === 'Calm').length, 5);
  assert.deepEqual(it.dropped, []);
  it.recorder.record({ ...occurrence, reason: 'Chatty', note: 'one' });
  it.recorder.record({ ...occurrence, reason: 'Chatty', note: 'the last' });
  await it.recorder[Symbol.asyncDispose]();
  assert.ok(it.events().some(({ note }) => note === 'the last'));
});

test('words that are held back and come again when it has been quiet begin once', async () => {
  const it = setUp({ burst: 1, refillMs: 1_800_000, wordings: 1 });
  it.recorder.record({ ...occurrence, note: 'one' });
  it.recorder.record({ ...occurrence, note: 'two' });
  await it.advance(420_000);
  it.recorder.record({ ...occurrence, note: 'two' });
  await it.advance(3_600_000);
  const told = it.events().map(({ note, series }) => [note, series?.count ?? 1]);
  assert.deepEqual(told, [
    ['one', 1],
    ['two', 2],
  ]);
  await it.recorder[Symbol.asyncDispose]();
});

test('recording never waits and never throws, also when the server does not answer', async () => {
  const it = setUp({ room: 10, burst: 1_000 });
  it.api.admit = () => new Promise(() => undefined);
  for (let i = 0; i < 100; i++) it.recorder.record({ ...occurrence, reason: `R${i}` });
  assert.equal(it.dropped.filter((why) => why === 'full').length, 90);
});

test('whoever has told how a cluster was made still tells of eight tasks at once, each with three events', async () => {
  const it = setUp();
  for (let i = 0; i < 40; i++) it.recorder.record({ ...occurrence, reason: `Made${i % 10}`, note: `pod c-${i}` });
  for (let i = 0; i < 8; i++) {
    const related = { kind: 'RedisTask', namespace: 'ns', name: `task-${i}` };
    it.recorder.record({ ...occurrence, reason: 'OperationBegun', action: 'check', note: `check: task-${i}` });
    it.recorder.record({ ...occurrence, reason: 'OperationFailed', action: 'check', note: `check: ${i} keys` });
    it.recorder.record({ ...occurrence, reason: 'TaskFailed', action: 'Task', note: `task task-${i}: no`, related });
  }
  for (let i = 0; i < 5; i++) await it.advance(0);
  assert.deepEqual(it.dropped, []);
  assert.equal(it.events().length, 40 + 24);
  await it.recorder[Symbol.asyncDispose]();
});

test('an object that has too much to say is cut short, others are not', async () => {
  const it = setUp();
  for (let i = 0; i < 200; i++) it.recorder.record({ ...occurrence, reason: `R${i}` });
  it.recorder.record({ ...occurrence, regarding: { ...regarding, name: 'b', uid: 'u2' } });
  for (let i = 0; i < 5; i++) await it.advance(0);
  assert.equal(it.events().length, 101);
  assert.equal(it.dropped.length, 100);
  await it.recorder[Symbol.asyncDispose]();
});

test('who has said too much of one thing is still heard of another, once', async () => {
  const it = setUp();
  const about = (reason: string, node: number) =>
    it.recorder.record({ ...occurrence, reason, related: { kind: 'Pod', namespace: 'ns', name: `p${node}` } });
  for (let node = 0; node < 200; node++) about('NodeFailed', node);
  for (let node = 0; node < 200; node++) about('SlotsUncovered', node);
  for (let i = 0; i < 5; i++) await it.advance(0);
  const told = it.events().map(({ reason, related }) => `${reason} ${related?.name}`);
  assert.equal(told.filter((one) => one.startsWith('NodeFailed')).length, 100);
  assert.deepEqual(
    told.filter((one) => one.startsWith('SlotsUncovered')),
    ['SlotsUncovered p0'],
  );
  assert.equal(it.dropped.length, 100 + 199);
  await it.recorder[Symbol.asyncDispose]();
});

test('objects that are long quiet are forgotten, also while others have something to say all the time', async () => {
  const it = setUp();
  for (let minute = 0; minute < 60; minute++) {
    it.recorder.record(occurrence); // this series never ends
    it.recorder.record({ ...occurrence, regarding: { ...regarding, name: `t${minute}`, uid: `uid-${minute}` } });
    await it.advance(60_000);
  }
  assert.ok(it.recorder.remembered < 15, `${it.recorder.remembered} of 61`);
  await it.recorder[Symbol.asyncDispose]();
});

test('a server in trouble is asked again, one that refuses is not; what the end can still write is written', async () => {
  const it = setUp();
  let refusals = 2;
  it.api.admit = () => {
    if (refusals-- > 0) throw new Refusal(500, 'InternalError');
  };
  it.recorder.record(occurrence);
  await it.advance(20_000);
  assert.equal(it.events().length, 1);
  it.api.admit = () => {
    throw new Refusal(403, 'Forbidden');
  };
  it.recorder.record({ ...occurrence, reason: 'Other' });
  await it.advance(60_000);
  assert.deepEqual(it.dropped, ['failed']);
  it.api.admit = undefined;
  for (let i = 0; i < 3; i++) it.recorder.record(occurrence);
  await it.recorder[Symbol.asyncDispose]();
  assert.equal(it.events()[0]?.series?.count, 4);
});

test('an event that the server has forgotten begins anew', async () => {
  const it = setUp();
  it.recorder.record(occurrence);
  await it.advance(0);
  const { name } = it.events()[0]?.metadata ?? {};
  it.api.kind('events', 'events.k8s.io').drop(`ns/${name}`);
  it.recorder.record(occurrence);
  await it.advance(70_000);
  assert.equal(it.events()[0]?.series?.count, 2);
  await it.recorder[Symbol.asyncDispose]();
});

test('notes and names fit', () => {
  assert.equal(clippedNote('short'), 'short');
  assert.ok(Buffer.byteLength(clippedNote('ü'.repeat(2_000))) <= 1_024);
  const name = eventName({ name: 'x'.repeat(253) }, 'e-1');
  assert.ok(name.length <= 253 && name.endsWith('x.e-1'), name);
});
