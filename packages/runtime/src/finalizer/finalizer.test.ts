import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../conditions/conditions.ts';
import { controller } from '../controller/controller.ts';
import { Refusal } from '../manager/api-testing.ts';
import { parts, rest, start, type Thing, things } from '../manager/manager-testing.ts';
import { requeueAfter, type Verdict } from '../queue/verdict.ts';
import { addPatch, blockedCondition, removePatch, roughAge } from './finalizer.ts';

const name = 'test.dev/data';

function setUp(finalize: () => Promise<Verdict | undefined | void>, reconcile: () => void = () => undefined) {
  const runs: string[] = [];
  const it = start([
    controller<Thing>({
      name: 'things',
      kind: things,
      finalizer: {
        name,
        finalize: ({ key }) => {
          runs.push(`finalize ${key}`);
          return finalize();
        },
      },
      reconcile: async ({ key, object }) => {
        assert.ok(object.metadata.finalizers?.includes(name), 'never without it');
        assert.ok(it.api.object('things', key)?.metadata.finalizers?.includes(name), 'nor before the server has it');
        runs.push(`reconcile ${key}`);
        reconcile();
      },
    }),
  ]);
  const thing = () => it.api.object('things', 'ns/a') as Thing | undefined;
  const blocked = () => thing()?.status?.conditions?.find((one: Condition) => one.type === 'FinalizerBlocked');
  return { ...it, runs, thing, blocked };
}

test('finalizer leak: it is on the object before the first work, and off only after the clean-up succeeded', async () => {
  let isBroken = true;
  const it = setUp(async () => {
    if (isBroken) throw new Error('the database does not answer');
  });
  it.api.put('things', 'a', {});
  await it.advance(1_000);
  assert.deepEqual(it.runs, ['reconcile ns/a']);
  it.api.delete('things', 'a');
  await it.advance(5_000);
  assert.ok(it.thing(), 'still there');
  assert.equal(it.blocked()?.status, 'True');
  assert.match(it.blocked()?.message ?? '', /less than a minute: the database does not answer/);
  await it.advance(400_000);
  assert.match(it.blocked()?.message ?? '', /more than 5 minutes/);
  const statuses = it.api.writes.filter((write) => write.endsWith('/status')).length;
  assert.ok(statuses <= 4, `${statuses} status writes: the age is coarse`);
  isBroken = false;
  await it.advance(1_000_000);
  assert.equal(it.thing(), undefined);
  assert.ok(it.runs.filter((run) => run.startsWith('finalize')).length >= 3);
  await it.end(/the database does not answer/);
});

test('finalizer leak: a clean-up that is not finished, or that was cancelled, does not take it off', async () => {
  let rounds = 0;
  const it = setUp(async () => (++rounds < 3 ? requeueAfter(1_000) : undefined));
  it.api.put('things', 'a', {});
  await it.advance(100);
  it.api.delete('things', 'a');
  await it.advance(1_500);
  assert.equal(rounds, 2);
  assert.ok(it.thing());
  await it.advance(1_500);
  assert.equal(it.thing(), undefined);
  await it.end();
});

test('finalizer leak: a clean-up that returns after it was cancelled does not count', async () => {
  let let_go: () => void = () => undefined;
  const it = setUp(() => new Promise<void>((resolve) => (let_go = resolve)));
  it.api.put('things', 'a', {});
  await it.advance(100);
  it.api.delete('things', 'a');
  await it.advance(100);
  it.stop.abort();
  await it.advance(100);
  let_go();
  await it.advance(40_000);
  await it.running;
  assert.ok(it.thing()?.metadata.finalizers?.includes(name), 'the next manager cleans up');
});

test('finalizer leak: finalizers of others are neither lost nor awaited, also when they come at the same moment', async () => {
  const it = setUp(async () => undefined);
  let isFirst = true;
  it.api.admit = (request, what) => {
    if (request.method !== 'PATCH' || what.endsWith('/status') || !isFirst) return;
    isFirst = false;
    const now = it.thing() as Thing;
    it.api.kind('things').keep({ ...now, metadata: { ...now.metadata, finalizers: ['other.dev/x'] } } as never);
  };
  it.api.put('things', 'a', {});
  await it.advance(3_000);
  assert.deepEqual(it.thing()?.metadata.finalizers, ['other.dev/x', name]);
  isFirst = true;
  it.api.admit = (request) => {
    if (request.method !== 'PATCH' || !isFirst) return;
    isFirst = false;
    const now = it.thing() as Thing;
    it.api
      .kind('things')
      .keep({ ...now, metadata: { ...now.metadata, finalizers: ['new.dev/y', 'other.dev/x', name] } } as never);
  };
  it.api.delete('things', 'a');
  await it.advance(3_000);
  assert.deepEqual(it.thing()?.metadata.finalizers, ['new.dev/y', 'other.dev/x']);
  await it.end();
});

test('finalizer leak: an object whose deletion was asked for while nobody ran is cleaned up, one without ours is left alone', async () => {
  const it = setUp(async () => undefined);
  it.api.admit = () => undefined;
  const kind = it.api.kind('things');
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', namespace: 'ns', generation: 1 };
  kind.keep({ metadata: { ...deleted, name: 'a', uid: 'u-a', finalizers: [name] } } as never);
  kind.keep({ metadata: { ...deleted, name: 'b', uid: 'u-b', finalizers: ['other.dev/x'] } } as never);
  await it.advance(3_000);
  assert.deepEqual(it.runs, ['finalize ns/a']);
  assert.equal(it.thing(), undefined);
  assert.ok(it.api.object('things', 'ns/b'));
  await it.end();
});

test('finalizer leak: when it cannot be put on, nothing is done for the object', async () => {
  const it = setUp(async () => undefined);
  it.api.admit = (request) => {
    if (request.method === 'PATCH') throw new Refusal(403, 'Forbidden');
  };
  it.api.put('things', 'a', {});
  await it.advance(10_000);
  assert.deepEqual(it.runs, []);
  await it.end();
});

test('the clean-up runs once, whether the watch tells the end of the object before the answer or long after', async () => {
  for (const isWatchFast of [true, false]) {
    let cleanUps = 0;
    const it = start([
      controller<Thing>({
        name: 'things',
        kind: things,
        owns: [parts],
        finalizer: {
          name,
          finalize: async ({ children, remove }) => {
            cleanUps++;
            it.api.kind('things').isHalfOpen = !isWatchFast;
            // The end of the child wakes its owner, which is still there as far as the watch tells.
            for (const child of children(parts)) await remove(parts, child);
          },
        },
        reconcile: async ({ apply }) => void (await apply(parts, { metadata: { name: 'p' }, spec: {} })),
      }),
    ]);
    it.api.put('things', 'a', {});
    await it.advance(500);
    if (isWatchFast) it.api.answering = () => rest();
    it.api.delete('things', 'a');
    await it.advance(500);
    await it.advance(2_000);
    assert.equal(it.api.object('things', 'ns/a'), undefined);
    assert.equal(cleanUps, 1, `the watch is ${isWatchFast ? 'fast' : 'slow'}`);
    const cancels = it.lines.filter((line) => line.includes('cancelled'));
    assert.deepEqual(cancels, [], 'the end of the object is no reason to cancel what ends it');
    await it.end();
  }
});

test('patches test what they rest on and never replace the list', () => {
  const metadata = { name: 'a', uid: 'u', resourceVersion: '7' };
  const others = ['x', 'y'];
  assert.equal(addPatch({ metadata: { ...metadata, finalizers: [name] } }, name), undefined);
  assert.deepEqual(
    addPatch({ metadata }, name)?.map(({ op, path }) => `${op} ${path}`),
    ['test /metadata/uid', 'test /metadata/resourceVersion', 'add /metadata/finalizers'],
  );
  assert.deepEqual(
    addPatch({ metadata: { ...metadata, finalizers: others } }, name)?.map(({ op, path }) => `${op} ${path}`),
    ['test /metadata/uid', 'test /metadata/finalizers/0', 'add /metadata/finalizers/-'],
  );
  assert.deepEqual(
    removePatch({ metadata: { ...metadata, finalizers: [...others, name] } }, name)?.map(
      ({ op, path }) => `${op} ${path}`,
    ),
    ['test /metadata/uid', 'test /metadata/finalizers/2', 'remove /metadata/finalizers/2'],
  );
});

test('the age of a blocked deletion is told coarsely, and counts from when it began', () => {
  assert.equal(roughAge(0), 'less than a minute');
  assert.equal(roughAge(3_600_000 * 7), 'more than 6 hours');
  const error = Object.assign(new Error('no'), { code: 'NO' });
  const before = { ...blockedCondition([], { finalizer: name, error }, 0), lastTransitionTime: '1970-01-01T00:00:00Z' };
  const now = blockedCondition([before], { finalizer: name, error }, 16 * 60_000);
  assert.equal(now.message, `${name} has blocked the deletion for more than 15 minutes: no (NO)`);
});
