import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepFreeze } from '../cache/cache-testing.ts';
import { Refusal } from '../manager/api-testing.ts';
import { metricOf, type Part, parts, start, type Thing, things } from '../manager/manager-testing.ts';
import { settled } from '../ports/virtual-clock-testing.ts';
import { requeueAfter } from '../queue/verdict.ts';
import type { Cancelled } from '../worker/cancelled.ts';
import type { Reconcile } from './context.ts';
import { controller, type ControllerDescription } from './controller.ts';
import { TerminalError } from './terminal.ts';

function thingController(description: Partial<ControllerDescription<Thing>>) {
  return controller<Thing>({ name: 'things', kind: things, ...description });
}

/** Ends when it is cancelled, by throwing the reason. */
function untilCancelled(signal: AbortSignal): Promise<undefined> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

test('by description: a change is reconciled, children are applied with their owner, and a change of theirs wakes it', async () => {
  const sizes: (number | undefined)[] = [];
  const it = start([
    thingController({
      owns: [parts],
      reconcile: async ({ object, apply, children }) => {
        sizes.push(object.spec?.size);
        await apply(parts, {
          metadata: { name: `${object.metadata.name}-1` },
          spec: { number: object.spec?.size ?? 0 },
        });
        assert.equal(children(parts).length, 1, 'what was just applied is there');
      },
    }),
  ]);
  it.api.put('things', 'a', { size: 1 });
  await it.advance(1_000);
  const part = it.api.object('parts', 'ns/a-1');
  const { kind, name, controller: controls } = part?.metadata.ownerReferences?.[0] ?? {};
  assert.deepEqual([kind, name, controls], ['Thing', 'a', true]);
  assert.deepEqual((part as Part).spec, { number: 1 });
  assert.equal(sizes.length, 1, 'what it wrote itself does not wake it');
  it.api.put('parts', 'a-1', { number: 99 });
  await it.advance(1_000);
  assert.deepEqual((it.api.object('parts', 'ns/a-1') as Part).spec, { number: 1 }, 'put right');
  it.api.delete('parts', 'a-1');
  await it.advance(1_000);
  assert.ok(it.api.object('parts', 'ns/a-1'), 'and there again');
  await it.end();
  assert.equal(it.clock.sleeping, 0);
});

test('stale read after own write: what was written is read back before the watch tells it, deletes too', async () => {
  const seen: string[] = [];
  let it: ReturnType<typeof start> | undefined = undefined;
  it = start([
    thingController({
      owns: [parts],
      reconcile: async ({ apply, children, remove, read }) => {
        if (seen.length > 0) return;
        const kind = it?.api.kind('parts');
        if (kind) kind.isHalfOpen = true; // the watch tells nothing any more
        const made = await apply(parts, { metadata: { name: 'p' }, spec: { number: 1 } });
        seen.push(`${children(parts).length} ${read(parts, 'ns/p')?.spec?.number}`);
        await apply(parts, { metadata: { name: 'p' }, spec: { number: 2 } });
        seen.push(`${read(parts, 'ns/p')?.spec?.number}`);
        await remove(parts, made);
        seen.push(`${children(parts).length} ${read(parts, 'ns/p') === undefined}`);
      },
    }),
  ]);
  it.api.put('things', 'a', {});
  await it.advance(1_000);
  assert.deepEqual(seen, ['1 1', '2', '0 true']);
  await it.end();
});

test('expectations: a key does not run again before the caches of its children have seen its writes, but not never', async () => {
  const runs: number[] = [];
  const it = start([
    thingController({
      owns: [parts],
      reconcile: async ({ apply, now }) => {
        runs.push(now() - 1_000_000);
        it.api.kind('parts').isHalfOpen = true;
        await apply(parts, { metadata: { name: `p${runs.length}` }, spec: {} });
      },
    }),
  ]);
  await settled();
  it.api.put('things', 'a', { size: 1 });
  await settled();
  it.api.put('things', 'a', { size: 2 });
  await it.advance(5_000);
  assert.deepEqual(runs, [0], 'held back');
  assert.ok(metricOf(it.manager, 'reeve_gate_waits_total') > 10);
  it.api.kind('parts').isHalfOpen = false;
  it.api.kind('parts').bookmark();
  await it.advance(200);
  assert.equal(runs.length, 2, 'the watch caught up');
  it.api.put('things', 'a', { size: 3 });
  await it.advance(9_900);
  assert.equal(runs.length, 2, 'held back again');
  await it.advance(300);
  assert.equal(runs.length, 3, 'a watch that never tells does not stop work for ever');
  await it.end();
});

test('an apply of what was applied already, and was not changed since, is not sent', async () => {
  let size = 1;
  const it = start([
    thingController({
      owns: [parts],
      reconcile: async ({ apply }) => {
        await apply(parts, { metadata: { name: 'p' }, spec: { number: size } });
        return requeueAfter(1_000);
      },
    }),
  ]);
  it.api.put('things', 'a', {});
  await it.advance(5_500);
  assert.equal(it.api.writes.length, 1);
  size = 2;
  await it.advance(2_000);
  assert.equal(it.api.writes.length, 2);
  await it.end();
});

test('status loops: a status that says nothing new is not written, and an own status write does not retrigger', async () => {
  let runs = 0;
  const it = start([
    thingController({
      reconcile: async ({ object, status }) => {
        runs++;
        await status({ size: object.spec?.size ?? 0 });
      },
    }),
  ]);
  // The watch is faster than the answer, as it often is: the event of the write is there before its version is known.
  it.api.answering = () => settled();
  it.api.put('things', 'a', { size: 1 });
  await it.advance(5_000);
  assert.equal(runs, 1);
  assert.deepEqual(it.api.writes, ['PATCH test.dev/things/a/status']);
  assert.equal(metricOf(it.manager, 'reeve_own_status_events_total'), 1);
  it.api.answering = undefined;
  it.api.put('things', 'a', { size: 2 });
  await it.advance(5_000);
  assert.equal(runs, 2);
  assert.equal(it.api.writes.length, 2);
  // Somebody touches the object without changing anything that the status says.
  it.api.kind('things').keep(it.api.object('things', 'ns/a') as never);
  await it.advance(5_000);
  assert.equal(runs, 3, 'a change of others is not taken for ours');
  assert.equal(it.api.writes.length, 2);
  assert.equal(metricOf(it.manager, 'reeve_status_writes_skipped_total'), 1);
  await it.end();
});

test('status loops: a new process finds the status right and writes nothing; what others own in it stays', async () => {
  const reconcile = async ({ status }: Reconcile<Thing>) => {
    await status({ size: 1 });
    return requeueAfter(1_000);
  };
  const first = start([thingController({ reconcile })]);
  first.api.put('things', 'a', {});
  await first.advance(1_500);
  await first.end();
  const { api } = first;
  assert.equal(api.writes.length, 1);
  const second = start([thingController({ reconcile })], {}, { api });
  await second.advance(3_500);
  assert.equal(api.writes.length, 1);
  // Another manager owns a part of the status: ours is in it already, which is known after one write.
  api.kind('things').keep({ ...api.object('things', 'ns/a'), status: { size: 1, theirs: true } } as never);
  api.admit = (request) => {
    if (request.method === 'PATCH') throw new Refusal(500, 'InternalError');
  };
  await second.advance(1_500);
  assert.ok(api.writes.length > 1, 'what we wrote before, and no longer say, must be taken away once');
  await second.end();
});

test('status loops: a change of others between two own status writes is not swallowed', async () => {
  const sizes: (number | undefined)[] = [];
  const it = start([
    thingController({
      cancelOn: false,
      reconcile: async ({ object, status }) => {
        sizes.push(object.spec?.size);
        await status({ size: object.spec?.size ?? 0 });
      },
    }),
  ]);
  it.api.answering = async () => {
    if (sizes.length === 1) it.api.put('things', 'a', { size: 2 });
    await settled();
  };
  it.api.put('things', 'a', { size: 1 });
  await it.advance(2_000);
  assert.deepEqual(sizes, [1, 2]);
  assert.deepEqual((it.api.object('things', 'ns/a') as Thing).status, { size: 2 });
  await it.end();
});

test('a status write that meets a newer version of the same object reads it and tries again', async () => {
  let isFirst = true;
  const it = start([
    thingController({ cancelOn: false, reconcile: async ({ status }) => void (await status({ size: 1 })) }),
  ]);
  it.api.admit = (request, what) => {
    if (!isFirst || request.method !== 'PATCH' || !what.endsWith('/status')) return;
    isFirst = false;
    it.api.kind('things').keep(it.api.object('things', 'ns/a') as never); // somebody is faster
  };
  it.api.put('things', 'a', {});
  await it.advance(100);
  assert.deepEqual((it.api.object('things', 'ns/a') as Thing).status, { size: 1 });
  assert.equal(it.api.writes.length, 2);
  assert.ok(!it.lines.some((line) => line.includes('failed')), 'which is nothing to complain about');
  await it.end();
});

test('uid reuse by name: the status of a predecessor does not land on its successor', async () => {
  const told: string[] = [];
  const it = start([
    thingController({
      cancelOn: false,
      reconcile: async ({ object, status }) => {
        if (told.length === 0) {
          it.api.delete('things', 'a');
          it.api.put('things', 'a', { size: 2 });
        }
        told.push(object.metadata.uid);
        await status({ size: object.spec?.size ?? 0 });
      },
    }),
  ]);
  it.api.put('things', 'a', { size: 1 });
  await it.advance(3_000);
  assert.deepEqual((it.api.object('things', 'ns/a') as Thing).status, { size: 2 });
  assert.deepEqual([...new Set(told)], ['uid-1', 'uid-2']);
  assert.ok(it.lines.some((line) => line.includes('OBJECT_REPLACED')));
  await it.end();
});

test('hot loop: a key that runs too often without a change of its spec is told, but not every time', async () => {
  const hotLoop = { againMs: 5_000 };
  const it = start([thingController({ hotLoop, reconcile: async () => requeueAfter(20) })]);
  it.api.put('things', 'a', {});
  await it.advance(4_000);
  const alarms = () => it.lines.filter((line) => line.startsWith('hot loop')).length;
  assert.equal(alarms(), 1);
  await it.advance(3_000);
  assert.equal(alarms(), 2);
  assert.equal(metricOf(it.manager, 'reeve_hot_loops_total'), 2);
  await it.end();
});

test('hot loop: many changes of the spec are not one', async () => {
  const it = start([thingController({ reconcile: async () => undefined })]);
  for (let i = 0; i < 50; i++) {
    it.api.put('things', 'a', { size: i });
    await it.advance(20);
  }
  assert.ok(metricOf(it.manager, 'controller_runtime_reconcile_total') > 20);
  assert.ok(!it.lines.some((line) => line.startsWith('hot loop')));
  await it.end();
});

test('cancellation: a new spec supersedes, a deletion cancels, a status change does neither; the key always runs again', async () => {
  const runs: string[] = [];
  const it = start([
    thingController({
      reconcile: async ({ object, signal }) => {
        runs.push(`${object.spec?.size}`);
        if ((object.spec?.size ?? 0) >= 3) return;
        await untilCancelled(signal).catch((why: Cancelled) => runs.push(why.reason));
      },
    }),
  ]);
  it.api.put('things', 'a', { size: 1 });
  await it.advance(100);
  it.api.kind('things').keep({ ...it.api.object('things', 'ns/a'), status: { size: 7 } } as never);
  await it.advance(100);
  assert.deepEqual(runs, ['1']);
  it.api.put('things', 'a', { size: 2 });
  await it.advance(100);
  assert.deepEqual(runs, ['1', 'superseded', '2']);
  it.api.put('things', 'a', { size: 3 });
  await it.advance(100);
  assert.deepEqual(runs, ['1', 'superseded', '2', 'superseded', '3']);
  it.api.put('things', 'b', { size: 1 });
  await it.advance(100);
  it.api.delete('things', 'b');
  await it.advance(2_000);
  assert.deepEqual(runs.slice(5), ['1', 'deleted']);
  assert.equal(metricOf(it.manager, 'reeve_reconcile_cancels_total{controller="things",reason="superseded"}'), 2);
  await it.end();
});

test('throwing means backoff; a terminal error waits for a change; bugs and timeouts are counted', async () => {
  const runs: string[] = [];
  const it = start([
    thingController({
      timeoutMs: 3_000,
      concurrency: 3,
      reconcile: async ({ key, signal }) => {
        runs.push(key);
        if (key === 'ns/terminal') throw new TerminalError('no such size');
        if (key === 'ns/bug') throw new TypeError('undefined is not a function');
        if (key === 'ns/slow') await untilCancelled(signal);
      },
    }),
  ]);
  for (const name of ['terminal', 'bug', 'slow']) it.api.put('things', name, {});
  await it.advance(5_000);
  const count = (key: string) => runs.filter((run) => run === key).length;
  assert.equal(count('ns/terminal'), 1);
  assert.ok(count('ns/bug') >= 4 && count('ns/bug') < 15, `${count('ns/bug')}`);
  it.api.put('things', 'terminal', { size: 2 });
  await it.advance(5_000);
  assert.equal(count('ns/terminal'), 2);
  const { manager } = it;
  assert.equal(metricOf(manager, 'controller_runtime_terminal_reconcile_errors_total'), 2);
  assert.ok(metricOf(manager, 'controller_runtime_reconcile_panics_total') >= 4);
  assert.ok(metricOf(manager, 'controller_runtime_reconcile_timeouts_total') >= 1);
  await it.end(/undefined is not a function/);
});

test('mutating cached objects: nothing in the runtime changes what the cache handed out', async () => {
  const frozen: unknown[] = [];
  const it = start([
    thingController({
      finalizer: { name: 'test.dev/f', finalize: async ({ object }) => void frozen.push(deepFreeze(object)) },
      owns: [parts],
      reconcile: async ({ object, apply, status, events }) => {
        frozen.push(deepFreeze(object));
        frozen.push(deepFreeze(await apply(parts, { metadata: { name: 'p' }, spec: { number: 1 } })));
        await status({ size: 1 });
        events.normal('Done', 'all is well');
        // The type forbids it, so it takes force.
        const forced = object.metadata as unknown as { labels: object };
        assert.throws(() => (forced.labels = {}), TypeError);
      },
    }),
  ]);
  it.api.put('things', 'a', { size: 1 });
  await it.advance(1_000);
  it.api.put('things', 'a', { size: 2 });
  await it.advance(1_000);
  it.api.delete('things', 'a');
  await it.advance(1_000);
  assert.ok(frozen.length >= 5);
  assert.equal(it.api.object('things', 'ns/a'), undefined);
  assert.ok(!it.lines.some((line) => line.includes('failed')), it.lines.join('\n'));
  await it.end();
});

test('missing CRD at start: children of a kind that is not installed are not taken for absent, and others go on', async () => {
  const runs: string[] = [];
  const it = start([
    thingController({
      owns: [parts],
      reconcile: async ({ children }) => {
        runs.push(`${children(parts).length}`);
      },
    }),
    controller<Part>({ name: 'parts', kind: parts, reconcile: async () => void runs.push('part') }),
  ]);
  it.api.kind('parts').isInstalled = false;
  it.api.put('things', 'a', {});
  await it.advance(30_000);
  assert.deepEqual(runs, []);
  assert.ok(it.lines.some((line) => line.includes('CACHE_NOT_SYNCED')));
  assert.deepEqual(
    it.manager.readyz().map(({ ok, note }) => `${ok} ${note}`),
    ['true leading', 'true 1 objects', 'true the kind is not installed'],
  );
  it.api.kind('parts').isInstalled = true;
  await it.advance(60_000);
  assert.deepEqual(runs, ['0']);
  await it.end();
});

test('label-selector exits: what is no longer watched is not taken for gone: the server is asked', async () => {
  const told: string[] = [];
  const it = start([
    thingController({
      labelSelector: 'app=x',
      reconcile: async () => undefined,
      gone: async ({ key, isGone }) => void told.push(`${key} ${await isGone()}`),
    }),
  ]);
  it.api.put('things', 'left', {});
  it.api.put('things', 'deleted', {});
  await it.advance(100);
  // Deleted as far as the watch tells; the one lives on under other labels.
  const left = it.api.object('things', 'ns/left');
  it.api.admit = (request, what) => {
    if (request.method === 'GET' && what.endsWith('things/left'))
      it.api.kind('things').objects.set('ns/left', left as never);
  };
  it.api.kind('things').drop('ns/left');
  it.api.delete('things', 'deleted');
  await it.advance(100);
  assert.deepEqual(told.sort(), ['ns/deleted true', 'ns/left false']);
  await it.end();
});

test('a route that throws loses no later event, and a refusal of the server is retried', async () => {
  const runs: string[] = [];
  const it = start([
    thingController({
      route: (object) => {
        if (object.metadata.name === 'bad') throw new Error('no way');
        return 'default';
      },
      queues: { default: {} },
      reconcile: async ({ key, status }: Reconcile<Thing>) => {
        runs.push(key);
        await status({ size: 1 });
      },
    }),
  ]);
  it.api.admit = (request) => {
    if (request.method === 'PATCH' && runs.length < 3) throw new Refusal(500, 'InternalError');
  };
  it.api.put('things', 'bad', {});
  it.api.put('things', 'good', {});
  await it.advance(5_000);
  assert.deepEqual(runs, ['ns/good', 'ns/good', 'ns/good']);
  assert.ok(it.lines.some((line) => line.startsWith('an event could not be routed')));
  await it.end();
});
