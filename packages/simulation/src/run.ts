/** One run of a scenario: from choices to a verdict. */
import { type Choices, listOf, replayedChoices, seededChoices } from './choices.ts';
import { Coverage } from './coverage.ts';
import { drive } from './drain.ts';
import { Scheduler } from './scheduler.ts';
import { Simulation } from './simulation.ts';
import { Trace } from './trace.ts';
import { allFaults, type Scenario, Violation, type World } from './world.ts';

/** Why a run failed. `code` is the name of the broken rule, or one of STUCK, LIVENESS, STEP_LIMIT, LEAK, PROGRAM, INVARIANT, UNHANDLED, NONDETERMINISM. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly atStep: number;
  readonly atMs: number;
}

export interface RunResult {
  readonly ok: boolean;
  readonly failure?: Failure;
  /** Equal for equal runs. */
  readonly hash: string;
  /** Replays this run. */
  readonly choices: readonly number[];
  readonly steps: number;
  readonly accidents: number;
  readonly virtualMs: number;
  readonly coverage: Coverage;
  /** The last lines of the trace. */
  readonly trace: readonly string[];
}

export interface RunOptions {
  readonly seed?: number;
  /** Replays a list instead of a seed. */
  readonly choices?: readonly number[];
  /** Any other source of choices. */
  readonly source?: Choices;
  /** How many lines of the trace to keep. Default 100. */
  readonly traceLines?: number;
}

/** How many steps between two looks for real handles. */
const LEAK_CHECK_STEPS = 4_096;

export async function simulate(scenario: Scenario, options: RunOptions): Promise<RunResult> {
  const choices =
    options.source ?? (options.choices ? replayedChoices(options.choices) : seededChoices(options.seed ?? 0, scenario));
  const trace = new Trace(options.traceLines ?? 100);
  const coverage = new Coverage();
  let world: World = { processes: [] };
  const scheduler: Scheduler = new Scheduler(choices, trace, coverage, {
    armed: () =>
      scheduler.accidentCount < (world.faults?.most ?? 8) &&
      scheduler.elapsed < (world.faults?.horizonMs ?? 60_000) &&
      simulation.isRunning,
    events: () => world.events?.() ?? [],
  });
  const simulation = new Simulation(scheduler);
  const handlesBefore = openHandles();
  let broken: Violation | undefined;
  let lookedAt = -1;
  let unrest: string | undefined;
  const fail = (rule: string, message: string) => {
    broken ??= new Violation(rule, message);
  };
  const onRejection = (reason: unknown) => fail('UNHANDLED', `a rejection that nobody handled: ${textOf(reason)}`);
  process.on('unhandledRejection', onRejection);
  try {
    world = await scenario.build(simulation);
    for (const started of world.processes) {
      simulation.start(started, started.faults ?? world.faults?.kinds ?? allFaults);
    }
    await drive(() => {
      broken ??= simulation.broken;
      let isGoingOn = broken === undefined;
      if (isGoingOn) {
        judge(() => {
          isGoingOn = !isOver();
          if (isGoingOn) advance();
        }, fail);
      }
      return isGoingOn;
    });
    if (!broken) judge(() => world.atEnd?.(), fail);
    reportLeaks();
  } finally {
    simulation.close();
    process.off('unhandledRejection', onRejection);
  }

  function isOver(): boolean {
    if (simulation.isRunning) return false;
    if (lookedAt !== scheduler.elapsed) {
      lookedAt = scheduler.elapsed;
      unrest = world.unrest?.();
    }
    return unrest === undefined;
  }

  function whatIsLate(): string {
    if (simulation.isRunning) return `${simulation.running.join(', ')} did not end`;
    return `all processes have ended, but: ${unrest}`;
  }

  function advance(): void {
    if (!scheduler.step()) {
      reportLeaks();
      const waiting = scheduler.waiting(simulation.owners);
      fail(
        'STUCK',
        `nothing can happen any more; ${whatIsLate()}; ${waiting.join('; ') || 'nobody waits for an effect'}`,
      );
      return;
    }
    world.always?.();
    if (scheduler.steps >= (world.maxSteps ?? 200_000)) {
      fail('STEP_LIMIT', `no end after ${scheduler.steps} steps`);
    }
    const calmFrom = Math.max(scheduler.lastAccidentAt, world.faults?.horizonMs ?? 60_000);
    if (scheduler.elapsed > calmFrom + (world.convergeMs ?? 600_000)) {
      const waiting = scheduler.waiting(simulation.owners);
      const since = `${scheduler.elapsed - calmFrom} ms after the last accident`;
      fail('LIVENESS', `${since}: ${[whatIsLate(), ...waiting].join('; ')}`);
    }
    if (scheduler.steps % LEAK_CHECK_STEPS === 0) reportLeaks();
  }

  function reportLeaks(): void {
    const opened = openHandles();
    for (const [kind, count] of opened) {
      if (count > (handlesBefore.get(kind) ?? 0)) fail('LEAK', `the program opened a real handle: ${kind}`);
    }
  }

  return {
    ok: broken === undefined,
    ...(broken && {
      failure: { code: broken.rule, message: broken.message, atStep: scheduler.steps, atMs: scheduler.elapsed },
    }),
    hash: trace.hash(),
    choices: listOf(choices.made),
    steps: scheduler.steps,
    accidents: scheduler.accidentCount,
    virtualMs: scheduler.elapsed,
    coverage,
    trace: trace.lines(),
  };
}

function judge(check: () => void, fail: (rule: string, message: string) => void): void {
  try {
    check();
  } catch (error) {
    fail(error instanceof Violation ? error.rule : 'INVARIANT', textOf(error));
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What keeps this process alive, by kind. Immediates are how the scheduler itself runs. */
function openHandles(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== 'Immediate') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
