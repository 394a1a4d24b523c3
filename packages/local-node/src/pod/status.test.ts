import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec, PodStatus } from '../kinds/pod.ts';
import { ended, podOf, running, SECOND, T0, viewWith } from './pod-testing.ts';
import { statusOf } from './status.ts';
import type { PodView, StoredPod } from './view.ts';

const now = T0 + 2 * SECOND;

function conditions({ conditions: all = [] }: PodStatus): Readonly<Record<string, string>> {
  return Object.fromEntries(
    all.map(({ type, status, reason }) => [type, reason === undefined ? status : `${status} ${reason}`]),
  );
}

function stateOf(status: PodStatus, index = 0): string {
  const { waiting, running: runs, terminated } = status.containerStatuses?.[index]?.state ?? {};
  if (waiting) return `waiting ${waiting.reason}`;
  if (terminated) return `terminated ${terminated.reason} ${terminated.exitCode}`;
  return runs ? 'running' : 'none';
}

test('phases', () => {
  const init: Partial<PodSpec> = { initContainers: [{ name: 'i' }] };
  const never: Partial<PodSpec> = { restartPolicy: 'Never' };
  const stop = { at: T0, why: 'deleted', graceMs: SECOND } as const;
  const rows: readonly (readonly [string, Partial<PodSpec>, PodView, string, string])[] = [
    ['new', {}, viewWith({}, { isPrepared: false }), 'Pending', 'waiting ContainerCreating'],
    [
      'starting',
      {},
      viewWith({ main: { latest: running({ state: 'starting' }) } }),
      'Pending',
      'waiting ContainerCreating',
    ],
    ['running', {}, viewWith({ main: { latest: running() } }), 'Running', 'running'],
    ['initializing', init, viewWith({ i: { latest: running() } }), 'Pending', 'waiting PodInitializing'],
    [
      'initializing anew, on another machine',
      init,
      viewWith({ i: { latest: running({ attempt: 1 }) }, main: { latest: ended(137, { isPast: true }) } }),
      'Pending',
      'waiting PodInitializing',
    ],
    [
      'done before, while others begin anew',
      { ...init, restartPolicy: 'OnFailure', containers: [{ name: 'main' }, { name: 'other' }] },
      viewWith({ main: { latest: ended(0, { isPast: true }) }, other: { latest: ended(1, { isPast: true }) } }),
      'Pending',
      'terminated Completed 0',
    ],
    ['init failed', { ...init, ...never }, viewWith({ i: { latest: ended(1) } }), 'Failed', 'waiting PodInitializing'],
    [
      'init fails again and again',
      init,
      viewWith({ i: { latest: ended(1, { attempt: 1 }) } }),
      'Pending',
      'waiting PodInitializing',
    ],
    ['crashing', {}, viewWith({ main: { latest: ended(1, { attempt: 2 }) } }), 'Running', 'waiting CrashLoopBackOff'],
    ['succeeded', never, viewWith({ main: { latest: ended(0) } }), 'Succeeded', 'terminated Completed 0'],
    ['failed', never, viewWith({ main: { latest: ended(3) } }), 'Failed', 'terminated Error 3'],
    [
      'restarts on failure',
      { restartPolicy: 'OnFailure' },
      viewWith({ main: { latest: ended(3, { attempt: 2 }) } }),
      'Running',
      'waiting CrashLoopBackOff',
    ],
    ['ended by deletion', {}, viewWith({ main: { latest: ended(143) } }, { stop }), 'Failed', 'terminated Error 143'],
    [
      'ended well by deletion',
      {},
      viewWith({ main: { latest: ended(0) } }, { stop }),
      'Succeeded',
      'terminated Completed 0',
    ],
    ['still ending', {}, viewWith({ main: { latest: running() } }, { stop }), 'Running', 'running'],
    [
      'no image',
      {},
      viewWith({ main: { obstacle: { reason: 'ErrImagePull', message: 'what?', retryAt: 0 } } }),
      'Pending',
      'waiting ErrImagePull',
    ],
  ];
  for (const [what, spec, view, phase, state] of rows) {
    const status = statusOf(podOf(spec), view, now);
    assert.deepEqual([status.phase, stateOf(status)], [phase, state], what);
  }
});

test('a phase that is over stays, with its reason', () => {
  const pod = podOf({}, { status: { phase: 'Failed', reason: 'DeadlineExceeded', message: 'm' } });
  const status = statusOf(pod, viewWith({ main: { latest: running() } }), now);
  assert.deepEqual([status.phase, status.reason, status.message], ['Failed', 'DeadlineExceeded', 'm']);
});

test('while sidecars run, a pod that is done is not over', () => {
  const spec: Partial<PodSpec> = { restartPolicy: 'Never', initContainers: [{ name: 's', restartPolicy: 'Always' }] };
  const view = (s: ReturnType<typeof running>) => viewWith({ s: { latest: s }, main: { latest: ended(0) } });
  assert.equal(statusOf(podOf(spec), view(running()), now).phase, 'Running');
  assert.equal(statusOf(podOf(spec), view(ended(143)), now).phase, 'Succeeded');
});

test('the deadline is the reason of the failure', () => {
  const stop = { at: T0, why: 'deadline', graceMs: SECOND } as const;
  const status = statusOf(
    podOf({ activeDeadlineSeconds: 1 }),
    viewWith({ main: { latest: ended(143) } }, { stop }),
    now,
  );
  assert.deepEqual([status.phase, status.reason], ['Failed', 'DeadlineExceeded']);
});

test('conditions say what is not there yet, and when that changed', () => {
  const none = statusOf(podOf(), viewWith({}, { isPrepared: false }), now);
  assert.deepEqual(conditions(none), {
    PodReadyToStartContainers: 'False',
    Initialized: 'True',
    Ready: 'False ContainersNotReady',
    ContainersReady: 'False ContainersNotReady',
    PodScheduled: 'True',
  });
  const up = statusOf(podOf({}, { status: none }), viewWith({ main: { latest: running() } }), now + 5 * SECOND);
  assert.equal(conditions(up).Ready, 'True');
  const times = Object.fromEntries(
    (up.conditions ?? []).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
  );
  assert.equal(times.Ready, '2026-01-01T00:00:07Z');
  assert.equal(times.Initialized, '2026-01-01T00:00:02Z');
  const open = statusOf(podOf({ initContainers: [{ name: 'i' }] }), viewWith(), now);
  const initialized = open.conditions?.find(({ type }) => type === 'Initialized');
  assert.equal(initialized?.message, 'containers with incomplete status: [i]');
  const done = statusOf(podOf({ restartPolicy: 'Never' }), viewWith({ main: { latest: ended(0) } }), now);
  assert.equal(conditions(done).Ready, 'False PodCompleted');
});

test('readiness is asked of probes, and of conditions that others write', () => {
  const view = (readiness: 'success' | 'failure' | 'unsettled') => viewWith({ main: { latest: running(), readiness } });
  assert.equal(conditions(statusOf(podOf(), view('unsettled'), now)).Ready, 'False ContainersNotReady');
  assert.equal(conditions(statusOf(podOf(), view('failure'), now)).Ready, 'False ContainersNotReady');
  assert.equal(conditions(statusOf(podOf(), view('success'), now)).Ready, 'True');
  const gated = { readinessGates: [{ conditionType: 'x.dev/member' }] };
  assert.equal(conditions(statusOf(podOf(gated), view('success'), now)).Ready, 'False ReadinessGatesNotReady');
  const open: StoredPod = podOf(gated, { status: { conditions: [{ type: 'x.dev/member', status: 'True' }] } });
  assert.equal(conditions(statusOf(open, view('success'), now)).Ready, 'True');
});

test('how a run ended is the last state of the next one', () => {
  const restarted = viewWith({ main: { latest: running({ attempt: 1 }), previous: ended(7) } });
  const [status] = statusOf(podOf(), restarted, now).containerStatuses ?? [];
  assert.equal(status?.restartCount, 1);
  assert.equal(status?.lastState?.terminated?.exitCode, 7);
  assert.equal(status?.containerID, 'reeve://u/main/1');
  assert.equal(status?.lastState?.terminated?.containerID, 'reeve://u/main/0');
  const waiting = viewWith({ main: { latest: ended(9, { attempt: 1 }), previous: ended(7) } });
  const [crashed] = statusOf(podOf(), waiting, now).containerStatuses ?? [];
  assert.equal(crashed?.lastState?.terminated?.exitCode, 9);
  assert.match(
    crashed?.state?.waiting?.message ?? '',
    /^back-off 10s restarting failed container=main pod=p_default\(u\)$/,
  );
});
