/** Makes a failing list of choices smaller while it still fails in the same way. */
import { listOf, weightOf } from './choices.ts';
import { type RunResult, simulate } from './run.ts';
import type { Scenario } from './world.ts';

export interface ShrinkOptions {
  /** Runs to spend. Default 400. */
  readonly maxRuns?: number;
}

/**
 * Cuts the end off, turns ever smaller stretches into dull choices (no fault, oldest effect), leaves stretches out,
 * lowers what is left; again until nothing helps. "The same way" = the same failure code.
 */
export async function shrink(scenario: Scenario, failing: RunResult, options: ShrinkOptions = {}): Promise<RunResult> {
  let best = failing;
  let runsLeft = options.maxRuns ?? 400;

  const isSmaller = (list: readonly number[]) => {
    const [weight, bestWeight] = [weightOf(list), weightOf(best.choices)];
    if (weight !== bestWeight) return weight < bestWeight;
    if (list.length !== best.choices.length) return list.length < best.choices.length;
    return sumOf(list) < sumOf(best.choices);
  };
  const attempt = async (candidate: readonly number[]): Promise<boolean> => {
    const list = listOf(candidate);
    if (runsLeft <= 0 || !isSmaller(list)) return false;
    runsLeft--;
    const result = await simulate(scenario, { choices: list });
    if (result.failure?.code !== failing.failure?.code || !isSmaller(result.choices)) return false;
    best = result;
    return true;
  };

  for (;;) {
    const weightBefore = [weightOf(best.choices), best.choices.length, sumOf(best.choices)].join();
    await cutEnd();
    await dullStretches();
    await dropStretches();
    await lower();
    if (runsLeft <= 0 || [weightOf(best.choices), best.choices.length, sumOf(best.choices)].join() === weightBefore) {
      return best;
    }
  }

  async function cutEnd(): Promise<void> {
    for (let cut = best.choices.length; cut >= 1; cut = Math.floor(cut / 2)) {
      while (cut <= best.choices.length && (await attempt(best.choices.slice(0, best.choices.length - cut))));
    }
  }

  async function dullStretches(): Promise<void> {
    const places = () => best.choices.flatMap((choice, place) => (choice === 0 ? [] : [place]));
    for (let size = Math.ceil(places().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      // From the end: what is late is most often only an echo of what went before.
      for (let end = places().length; end > 0; end -= size) {
        const dull = new Set(places().slice(Math.max(0, end - size), end));
        if (dull.size > 0) await attempt(best.choices.map((choice, place) => (dull.has(place) ? 0 : choice)));
      }
    }
  }

  /**
   * Left out, so that what follows moves up: a choice with all dull ones before it (what a crash made the program do
   * twice, it then does once), or a choice with the questions that only it raised (how long a delay is).
   */
  async function dropStretches(): Promise<void> {
    let start = 0;
    for (let place = 0; place < best.choices.length; place++) {
      if (best.choices[place] === 0) continue;
      const cuts = [[start, place + 1 - start] as const, ...[1, 2, 3].map((count) => [place, count] as const)];
      let isCut = false;
      for (const [from, count] of cuts) isCut ||= await attempt(best.choices.toSpliced(from, count));
      if (isCut) place = start - 1;
      else start = place + 1;
    }
  }

  async function lower(): Promise<void> {
    for (let place = 0; place < best.choices.length; place++) {
      const choice = best.choices[place] ?? 0;
      for (const lower of new Set([1, Math.floor(choice / 2), choice - 1])) {
        if (lower > 0 && lower < choice && (await attempt(best.choices.with(place, lower)))) break;
      }
    }
  }
}

function sumOf(list: readonly number[]): number {
  return list.reduce((sum, choice) => sum + choice, 0);
}
