import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '@reeve/runtime/testing';
import type { Container, Probe } from '../kinds/pod.ts';
import { RunProbes } from './run-probes.ts';
import { probed, type ProbeState, timesOf, unprobed } from './state.ts';

test('so many results in a row settle a probe', () => {
  const times = timesOf({ successThreshold: 2, failureThreshold: 3 });
  const after = (results: string) => {
    let state: ProbeState = unprobed;
    for (const one of results) state = probed(state, one === '+', times);
    return state.verdict;
  };
  const rows = [
    ['', 'unsettled'],
    ['+', 'unsettled'],
    ['++', 'success'],
    ['+-+', 'unsettled'],
    ['--', 'unsettled'],
    ['---', 'failure'],
    ['++--', 'success'],
    ['++---', 'failure'],
    ['---+', 'failure'],
    ['---++', 'success'],
  ] as const;
  for (const [results, verdict] of rows) assert.equal(after(results), verdict, results);
});

/** Probes by command; what they answer is in `answers`. */
function probes(
  container: Omit<Container, 'name'>,
  answers: Record<string, boolean>,
  known = { isStarted: false, isReady: false },
) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const unhealthy: string[] = [];
  let changes = 0;
  const run = new RunProbes({
    clock,
    container: { name: 'main', ...container },
    startedAt: clock.now(),
    known,
    target: {
      address: '127.1.0.1',
      ports: [],
      async exec([kind = '']) {
        asked.push(kind);
        return { code: answers[kind] ? 0 : 1, stdout: '', stderr: 'no' };
      },
    },
    changed: () => changes++,
    unhealthy: (kind) => unhealthy.push(kind),
  });
  return { clock, run, asked, unhealthy, changes: () => changes };
}

const by = (kind: string, more: Probe = {}): Probe => ({ exec: { command: [kind] }, periodSeconds: 1, ...more });

test('readiness and liveness are asked after the startup probe has succeeded', async () => {
  const answers = { startup: false, readiness: true, liveness: true };
  const container = {
    startupProbe: by('startup', { failureThreshold: 9 }),
    readinessProbe: by('readiness'),
    livenessProbe: by('liveness'),
  };
  const { clock, run, asked } = probes(container, answers);
  await clock.advance(2_500);
  assert.deepEqual([...new Set(asked)], ['startup']);
  assert.deepEqual(run.verdicts, { startup: 'unsettled', readiness: 'unsettled', liveness: 'unsettled' });
  answers.startup = true;
  await clock.advance(1_000);
  await clock.advance(1);
  assert.deepEqual(run.verdicts, { startup: 'success', readiness: 'success', liveness: 'success' });
  const before = asked.filter((kind) => kind === 'startup').length;
  await clock.advance(3_000);
  assert.equal(asked.filter((kind) => kind === 'startup').length, before, 'it has said all it can say');
  run.close();
  await run.ended();
});

test('each verdict is told once, each no is told', async () => {
  const answers = { readiness: true };
  const { clock, run, unhealthy, changes } = probes(
    { readinessProbe: by('readiness', { failureThreshold: 2 }) },
    answers,
  );
  await clock.advance(2_500);
  assert.equal(changes(), 1);
  answers.readiness = false;
  await clock.advance(1_000);
  assert.deepEqual([run.verdicts.readiness, unhealthy.length], ['success', 1]);
  await clock.advance(1_000);
  assert.deepEqual([run.verdicts.readiness, unhealthy.length, changes()], ['failure', 2, 2]);
  run.close();
  await run.ended();
});

test('who has just begun is asked again soon, and only what is due counts against it', async () => {
  const answers = { readiness: false, startup: false };
  const soon = probes({ readinessProbe: by('readiness', { periodSeconds: 10 }) }, answers);
  await soon.clock.advance(300);
  answers.readiness = true;
  await soon.clock.advance(1_000);
  assert.equal(soon.run.verdicts.readiness, 'success', 'long before the next question is due');
  assert.equal(soon.unhealthy.length, 1);
  soon.run.close();
  await soon.run.ended();
  const starting = probes({ startupProbe: by('startup', { periodSeconds: 10, failureThreshold: 2 }) }, answers);
  await starting.clock.advance(9_900);
  assert.equal(starting.run.verdicts.startup, 'unsettled', 'it has the time that it was given');
  assert.ok(starting.asked.length > 3);
  await starting.clock.advance(200);
  assert.equal(starting.run.verdicts.startup, 'failure');
  starting.run.close();
  await starting.run.ended();
});

test('the first question waits for its delay, and a run taken over is what it was', async () => {
  const delayed = probes({ readinessProbe: by('readiness', { initialDelaySeconds: 5 }) }, { readiness: true });
  await delayed.clock.advance(4_900);
  assert.deepEqual(delayed.asked, []);
  await delayed.clock.advance(200);
  assert.deepEqual(delayed.asked, ['readiness']);
  delayed.run.close();
  await delayed.run.ended();
  const adopted = probes({ readinessProbe: by('readiness') }, { readiness: false }, { isStarted: true, isReady: true });
  assert.equal(adopted.run.verdicts.readiness, 'success');
  adopted.run.close();
  await adopted.run.ended();
});
