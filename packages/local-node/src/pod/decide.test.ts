import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '../kinds/pod.ts';
import { decide } from './decide.ts';
import { ended, podOf, running, SECOND, T0, viewWith } from './pod-testing.ts';
import type { PodDecision, PodView, StoredPod } from './view.ts';

/** `start a#1`, `stop a`, `kill a`, …: enough to tell decisions apart. */
function told({ actions }: PodDecision): readonly string[] {
  return actions.map((action) => {
    if (action.type === 'start') return `start ${action.container}#${action.attempt}`;
    if (action.type === 'stop') return `stop ${action.container} ${action.graceMs / SECOND}s`;
    if (action.type === 'kill') return `kill ${action.container}`;
    if (action.type === 'record-stop') return `record ${action.stop.why} ${action.stop.graceMs / SECOND}s`;
    return action.type;
  });
}

const main: Container = { name: 'main' };
const init = (name: string): Container => ({ name });
const sidecar = (name: string): Container => ({ name, restartPolicy: 'Always' });
const deleted = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
const at = (seconds: number) => T0 + seconds * SECOND;

interface Row {
  readonly what: string;
  readonly pod: StoredPod;
  readonly view: PodView;
  readonly now?: number;
  readonly isGone?: boolean;
  readonly awaySince?: number;
  readonly does: readonly string[];
  readonly wakeAt?: number;
}

function check(rows: readonly Row[]): void {
  for (const { what, pod, view, now = at(2), isGone = false, awaySince, does, wakeAt } of rows) {
    const decision = decide(pod, view, now, { isGone, ...(awaySince !== undefined && { awaySince }) });
    assert.deepEqual(told(decision), does, what);
    if (wakeAt !== undefined) assert.equal(decision.wakeAt, wakeAt, what);
  }
}

test('a pod is prepared first, and its containers start together', () => {
  const two: Partial<PodSpec> = { containers: [{ name: 'a' }, { name: 'b' }] };
  const obstacle = { reason: 'ContainerCreating', message: 'no', retryAt: at(9) };
  check([
    { what: 'new', pod: podOf(two), view: viewWith({}, { isPrepared: false }), does: ['prepare'] },
    {
      what: 'cannot yet',
      pod: podOf(two),
      view: viewWith({}, { isPrepared: false, obstacle }),
      does: [],
      wakeAt: at(9),
    },
    {
      what: 'again',
      pod: podOf(two),
      view: viewWith({}, { isPrepared: false, obstacle }),
      now: at(9),
      does: ['prepare'],
    },
    { what: 'prepared', pod: podOf(two), view: viewWith(), does: ['start a#0', 'start b#0'] },
    {
      what: 'one runs',
      pod: podOf(two),
      view: viewWith({ a: { latest: running() } }),
      does: ['start b#0'],
    },
    {
      what: 'one has no image',
      pod: podOf(two),
      view: viewWith({ a: { obstacle: { reason: 'ErrImagePull', message: 'no', retryAt: at(5) } } }),
      does: ['start b#0'],
      wakeAt: at(5),
    },
  ]);
});

test('init containers run one after the other, each to its end', () => {
  const spec = { initContainers: [init('i'), init('j')], containers: [main] };
  check([
    { what: 'first', pod: podOf(spec), view: viewWith(), does: ['start i#0'] },
    { what: 'runs', pod: podOf(spec), view: viewWith({ i: { latest: running() } }), does: [] },
    { what: 'second', pod: podOf(spec), view: viewWith({ i: { latest: ended(0) } }), does: ['start j#0'] },
    {
      what: 'both done',
      pod: podOf(spec),
      view: viewWith({ i: { latest: ended(0) }, j: { latest: ended(0) } }),
      does: ['start main#0'],
    },
    { what: 'failed: again', pod: podOf(spec), view: viewWith({ i: { latest: ended(1) } }), does: ['start i#1'] },
    {
      what: 'failed, never again',
      pod: podOf({ ...spec, restartPolicy: 'Never' }),
      view: viewWith({ i: { latest: ended(1) } }),
      does: [],
    },
    {
      what: 'not again because a main container ended',
      pod: podOf(spec),
      view: viewWith({ i: { latest: ended(0) }, j: { latest: ended(0) }, main: { latest: ended(1) } }),
      does: ['start main#1'],
    },
  ]);
});

test('a pod whose folder or machine is another one is initialized again, and its containers run by their policy', () => {
  const spec = { initContainers: [sidecar('s'), init('i'), init('j')], containers: [main] };
  const past = (code: number, more: object = {}) => ({ latest: ended(code, { isPast: true, ...more }) });
  const all = { s: past(137), i: past(0), j: past(0), main: past(137) };
  const up = { latest: running({ attempt: 1 }) };
  const done = { latest: ended(0, { attempt: 1 }) };
  check([
    { what: 'the first', pod: podOf(spec), view: viewWith(all), does: ['start s#1'] },
    { what: 'what makes the pod', pod: podOf(spec), view: viewWith({ ...all, s: up }), does: ['start i#1'] },
    { what: 'the next', pod: podOf(spec), view: viewWith({ ...all, s: up, i: done }), does: ['start j#1'] },
    {
      what: 'then its own',
      pod: podOf(spec),
      view: viewWith({ ...all, s: up, i: done, j: done }),
      does: ['start main#1'],
    },
    {
      what: 'at once, however often: it had not failed',
      pod: podOf(spec),
      view: viewWith({ ...all, s: up, i: past(0, { attempt: 4 }) }),
      does: ['start i#5'],
    },
    {
      what: 'its own runs: not again',
      pod: podOf(spec),
      view: viewWith({ ...all, s: up, main: up }),
      does: [],
    },
    {
      what: 'what ran once does not run twice',
      pod: podOf({ ...spec, restartPolicy: 'Never' }),
      view: viewWith(all),
      does: [],
    },
    {
      what: 'what was to run once and never did',
      pod: podOf({ ...spec, restartPolicy: 'Never' }),
      view: viewWith({ s: up, i: past(0), j: past(0) }),
      does: ['start i#1'],
    },
    {
      what: 'init failed, never again',
      pod: podOf({ initContainers: [init('i')], containers: [main], restartPolicy: 'Never' }),
      view: viewWith({ i: past(137) }),
      does: [],
    },
  ]);
});

test('a sidecar is started before what comes after it, and runs again whatever the policy says', () => {
  const spec: Partial<PodSpec> = {
    restartPolicy: 'Never',
    initContainers: [sidecar('s'), init('i')],
    containers: [main],
  };
  const up = { latest: running() };
  check([
    { what: 'first', pod: podOf(spec), view: viewWith(), does: ['start s#0'] },
    { what: 'up', pod: podOf(spec), view: viewWith({ s: up }), does: ['start i#0'] },
    {
      what: 'up, startup probe open',
      pod: podOf(spec),
      view: viewWith({ s: { ...up, startup: 'unsettled' } }),
      does: [],
    },
    { what: 'hook open', pod: podOf(spec), view: viewWith({ s: { ...up, postStart: 'running' } }), does: [] },
    {
      what: 'ended during init',
      pod: podOf(spec),
      view: viewWith({ s: { latest: ended(0) }, i: up }),
      does: ['start s#1'],
    },
    {
      what: 'ended beside the main container',
      pod: podOf(spec),
      view: viewWith({ s: { latest: ended(0) }, i: { latest: ended(0) }, main: up }),
      does: ['start s#1'],
    },
    {
      what: 'all that matters is done',
      pod: podOf(spec),
      view: viewWith({ s: up, i: { latest: ended(0) }, main: { latest: ended(0) } }),
      does: ['stop s 30s'],
    },
    {
      what: 'it does not end',
      pod: podOf(spec),
      view: viewWith({
        s: { latest: running({ stop: { at: T0, graceMs: 30 * SECOND, why: 'completed' } }) },
        i: { latest: ended(0) },
        main: { latest: ended(0) },
      }),
      now: at(30),
      does: ['kill s'],
    },
  ]);
});

test('what ended runs again by the policy, after a time that doubles', () => {
  const once = (attempt: number, delayMs: number) => ({ main: { latest: ended(1, { attempt, delayMs }) } });
  const pod = podOf();
  check([
    { what: 'at once the first time', pod, view: viewWith(once(0, 0)), does: ['start main#1'] },
    { what: 'then after 10 s', pod, view: viewWith(once(1, 0)), now: at(10), does: [], wakeAt: at(11) },
    { what: 'then', pod, view: viewWith(once(1, 0)), now: at(11), does: ['start main#2'] },
    { what: 'then after 20 s', pod, view: viewWith(once(2, 10 * SECOND)), does: [], wakeAt: at(21) },
    { what: 'at most 5 min', pod, view: viewWith(once(9, 300 * SECOND)), does: [], wakeAt: at(301) },
    {
      what: 'a long run makes good',
      pod,
      view: viewWith({ main: { latest: ended(1, { attempt: 9, delayMs: 300 * SECOND }, 601 * SECOND) } }),
      now: at(602),
      does: ['start main#10'],
    },
    {
      what: 'at once after its node was put away',
      pod,
      view: viewWith({
        main: { latest: ended(137, { attempt: 4, stop: { at: T0, graceMs: 0, why: 'put-away' } }) },
      }),
      does: ['start main#5'],
    },
    { what: 'also after success', pod, view: viewWith({ main: { latest: ended(0) } }), does: ['start main#1'] },
    {
      what: 'OnFailure: not after success',
      pod: podOf({ restartPolicy: 'OnFailure' }),
      view: viewWith({ main: { latest: ended(0) } }),
      does: [],
    },
    {
      what: 'OnFailure: after failure',
      pod: podOf({ restartPolicy: 'OnFailure' }),
      view: viewWith({ main: { latest: ended(3) } }),
      does: ['start main#1'],
    },
    {
      what: 'Never',
      pod: podOf({ restartPolicy: 'Never' }),
      view: viewWith({ main: { latest: ended(3) } }),
      does: [],
    },
    {
      what: 'a pod that is over according to the server starts nothing',
      pod: podOf({}, { status: { phase: 'Failed' } }),
      view: viewWith(),
      does: [],
    },
  ]);
});

test('a container that is not well is asked to end, and killed after its time', () => {
  const pod = podOf({ terminationGracePeriodSeconds: 7 });
  const asked = running({ stop: { at: at(1), graceMs: 7 * SECOND, why: 'probe' } });
  check([
    {
      what: 'liveness',
      pod,
      view: viewWith({ main: { latest: running(), liveness: 'failure' } }),
      does: ['stop main 7s'],
    },
    {
      what: 'startup',
      pod,
      view: viewWith({ main: { latest: running(), startup: 'failure' } }),
      does: ['stop main 7s'],
    },
    { what: 'hook', pod, view: viewWith({ main: { latest: running(), postStart: 'failed' } }), does: ['stop main 7s'] },
    {
      what: 'offence',
      pod,
      view: viewWith({ main: { latest: running(), offence: { reason: 'WildcardListener', message: '' } } }),
      does: ['stop main 7s'],
    },
    {
      what: 'not ready is no reason',
      pod,
      view: viewWith({ main: { latest: running(), readiness: 'failure' } }),
      does: [],
    },
    {
      what: 'the probe’s own time',
      pod: podOf({ containers: [{ ...main, livenessProbe: { terminationGracePeriodSeconds: 2 } }] }),
      view: viewWith({ main: { latest: running(), liveness: 'failure' } }),
      does: ['stop main 2s'],
    },
    {
      what: 'another image',
      pod: podOf({ containers: [{ ...main, image: 'host:2' }], terminationGracePeriodSeconds: 7 }),
      view: viewWith({ main: { latest: running() } }),
      does: ['stop main 7s'],
    },
    {
      what: 'and again at once, whatever the policy says',
      pod: podOf({ containers: [{ ...main, image: 'host:2' }], restartPolicy: 'Never' }),
      view: viewWith({
        main: {
          latest: ended(143, { attempt: 4, delayMs: SECOND, stop: { at: T0, graceMs: SECOND, why: 'changed' } }),
        },
      }),
      does: ['start main#5'],
    },
    {
      what: 'asked by whoever was here before',
      pod,
      view: viewWith({ main: { latest: asked } }),
      does: ['stop main 6s'],
      wakeAt: at(8),
    },
    { what: 'time is up', pod, view: viewWith({ main: { latest: asked } }), now: at(8), does: ['kill main'] },
  ]);
});

test('a deleted pod ends: its own containers first, then sidecars in reverse, each within the time it has', () => {
  const spec = { initContainers: [sidecar('s'), sidecar('t')], containers: [{ name: 'a' }, { name: 'b' }] };
  const pod = podOf(spec, { metadata: deleted });
  const stop = { at: T0, why: 'deleted', graceMs: 30 * SECOND } as const;
  const up = { latest: running() };
  const down = { latest: ended(143) };
  check([
    {
      what: 'first seen',
      pod,
      view: viewWith({ s: up, t: up, a: up, b: up }),
      now: T0,
      does: ['record deleted 30s', 'stop a 30s', 'stop b 30s'],
      wakeAt: at(30),
    },
    { what: 'one left', pod, view: viewWith({ s: up, t: up, a: down, b: up }, { stop }), does: ['stop b 28s'] },
    { what: 'sidecars', pod, view: viewWith({ s: up, t: up, a: down, b: down }, { stop }), does: ['stop t 28s'] },
    { what: 'the last', pod, view: viewWith({ s: up, t: down, a: down, b: down }, { stop }), does: ['stop s 28s'] },
    {
      what: 'time is up for all',
      pod,
      view: viewWith({ s: up, t: up, a: up, b: down }, { stop }),
      now: at(30),
      does: ['kill s', 'kill t', 'kill a'],
    },
    { what: 'nothing runs', pod, view: viewWith({ s: down, t: down, a: down, b: down }, { stop }), does: ['finish'] },
    {
      what: 'deleted again with less time',
      pod: podOf(spec, { metadata: { ...deleted, deletionGracePeriodSeconds: 1 } }),
      view: viewWith({ a: up }, { stop }),
      does: ['record deleted 1s', 'kill a'],
    },
    { what: 'never began', pod, view: viewWith({}, { isPrepared: false }), does: ['record deleted 30s', 'finish'] },
    {
      what: 'its object is gone',
      pod: podOf({ ...spec, terminationGracePeriodSeconds: 5 }),
      view: viewWith({ a: up }),
      isGone: true,
      does: ['record vanished 5s', 'stop a 5s'],
    },
    {
      what: 'its machine is put away: that is no stop of the pod',
      pod: podOf({ ...spec, terminationGracePeriodSeconds: 5 }),
      view: viewWith({ s: up, a: up }),
      awaySince: at(1),
      does: ['stop a 4s'],
      wakeAt: at(6),
    },
    {
      what: 'deleted before: it has no more time than it had',
      pod,
      view: viewWith({ a: up }, { stop }),
      awaySince: at(2),
      does: ['stop a 28s'],
    },
    { what: 'nothing runs, put away', pod, view: viewWith({ a: down, b: down }), awaySince: at(1), does: ['finish'] },
    {
      what: 'over, then deleted',
      pod: podOf(spec, { metadata: deleted, status: { phase: 'Succeeded' } }),
      view: viewWith({ a: { latest: ended(0) }, b: { latest: ended(0) } }),
      does: ['record deleted 30s', 'finish'],
    },
  ]);
});

test('a pod has the time that its deadline gives it', () => {
  const pod = podOf({ activeDeadlineSeconds: 60, terminationGracePeriodSeconds: 10 });
  const stop = { at: at(60), why: 'deadline', graceMs: 10 * SECOND } as const;
  const up = { main: { latest: running() } };
  check([
    { what: 'before', pod, view: viewWith(up), does: [], wakeAt: at(60) },
    { what: 'then', pod, view: viewWith(up), now: at(60), does: ['record deadline 10s', 'stop main 10s'] },
    {
      what: 'no restart after it',
      pod,
      view: viewWith({ main: { latest: ended(143) } }, { stop }),
      now: at(61),
      does: [],
    },
    {
      what: 'and when it is deleted then',
      pod: { ...pod, metadata: { ...pod.metadata, ...deleted } },
      view: viewWith({ main: { latest: ended(143) } }, { stop }),
      now: at(62),
      does: ['finish'],
    },
    {
      what: 'not when it was done before',
      pod: { ...pod, spec: { ...pod.spec, containers: [main], restartPolicy: 'Never' } } as StoredPod,
      view: viewWith({ main: { latest: ended(0) } }),
      now: at(90),
      does: [],
    },
  ]);
});

test('a policy of a container’s own counts in place of the pod’s, and makes no sidecar of it', () => {
  const own = (restartPolicy: NonNullable<Container['restartPolicy']>): Partial<PodSpec> => ({
    restartPolicy: restartPolicy === 'Always' ? 'Never' : 'Always',
    containers: [
      { name: 'main', restartPolicy },
      { name: 'other', restartPolicy: 'Always' },
    ],
  });
  const over = (code: number) => viewWith({ main: { latest: ended(code) }, other: { latest: running() } });
  const both = viewWith({ main: { latest: running() }, other: { latest: running() } });
  check([
    { what: 'never', pod: podOf(own('Never')), view: over(1), does: [] },
    { what: 'on failure, and it failed', pod: podOf(own('OnFailure')), view: over(1), does: ['start main#1'] },
    { what: 'on failure, and it did not', pod: podOf(own('OnFailure')), view: over(0), does: [] },
    { what: 'always', pod: podOf(own('Always')), view: over(0), does: ['start main#1'] },
    {
      what: 'all end together',
      pod: podOf(own('Always'), { metadata: deleted }),
      view: both,
      does: ['record deleted 30s', 'stop main 30s', 'stop other 30s'],
    },
  ]);
});
