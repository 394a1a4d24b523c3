/** Many runs of one scenario: by seeds, or with a crash at every single effect. */
import type { Files } from '@reeve/runtime';
import { fromSparse, oneAccident, toSparse } from './choices.ts';
import { Coverage } from './coverage.ts';
import { type Failure, type RunOptions, type RunResult, simulate } from './run.ts';
import { type ShrinkOptions, shrink } from './shrink.ts';
import type { Scenario } from './world.ts';

export interface CampaignOptions extends ShrinkOptions {
  /** Ends early after this many failing runs. Default 10. */
  readonly stopAfter?: number;
  /** Where failing runs are written, as `SCENARIO-SEED.json`; without it they are not. */
  readonly record?: { readonly files: Files; readonly folder: string };
  /** Called after each run. */
  onRun?(result: RunResult, index: number): void;
}

export interface SeedsOptions extends CampaignOptions {
  readonly from?: number;
  readonly count: number;
  /** Every n-th seed runs twice and must give the same trace. Default 50. */
  readonly twiceEvery?: number;
}

export interface CampaignFailure {
  /** `seed 17` or `crash-after 3`. */
  readonly origin: string;
  readonly failure: Failure;
  /** The shrunk run, whose choices replay the failure. */
  readonly smallest: RunResult;
  /** The file it was written to. */
  readonly file?: string;
}

export interface CampaignResult {
  readonly runs: number;
  readonly steps: number;
  readonly accidents: number;
  readonly failures: readonly CampaignFailure[];
  readonly coverage: Coverage;
}

/** A failing run as it is kept: a regression test. */
export interface RecordedFailure {
  readonly scenario: string;
  readonly origin: string;
  readonly code: string;
  readonly message: string;
  readonly choices: readonly (readonly [place: number, answer: number])[];
}

export async function runSeeds(scenario: Scenario, options: SeedsOptions): Promise<CampaignResult> {
  const campaign = new Campaign(scenario, options);
  const from = options.from ?? 0;
  for (let index = 0; index < options.count && !campaign.isFull; index++) {
    const seed = from + index;
    if (index % (options.twiceEvery ?? 50) === 0) await campaign.twice(`seed ${seed}`, { seed });
    else await campaign.add(`seed ${seed}`, await simulate(scenario, { seed }));
  }
  return campaign.result();
}

export interface EnumerateOptions extends CampaignOptions {
  /** Which faults, or kinds of world events, to bring at every effect. Default: crash-before and crash-after. */
  readonly accidents?: readonly string[];
  /** Orders the effects; without it always the oldest first. */
  readonly seed?: number;
  /** Only every `of`-th accident, from the `index`-th: several processes share the work. */
  readonly share?: { readonly index: number; readonly of: number };
}

/** Counts in a quiet run how often an accident could happen, then lets it happen at the first, the second, … */
export async function enumerateCrashes(scenario: Scenario, options: EnumerateOptions = {}): Promise<CampaignResult> {
  const campaign = new Campaign(scenario, options);
  const order = options.seed === undefined ? {} : { seed: options.seed };
  const { index, of } = options.share ?? { index: 0, of: 1 };
  for (const accident of options.accidents ?? (['crash-before', 'crash-after'] as const)) {
    const quiet = oneAccident(accident, 0, order);
    await campaign.add(`no ${accident}`, await simulate(scenario, { source: quiet }));
    for (let nth = 1 + index; nth <= quiet.chances && !campaign.isFull; nth += of) {
      const source = oneAccident(accident, nth, order);
      await campaign.add(`${accident} ${nth}`, await simulate(scenario, { source }));
    }
  }
  return campaign.result();
}

export interface EachOptions extends CampaignOptions {
  /** Ends early when what was looked for has been seen. */
  enough?(coverage: Coverage): boolean;
}

/** Runs that were chosen one by one. `origin` names each in the report. */
export async function runEach(
  scenario: Scenario,
  runs: Iterable<{ readonly origin: string; readonly options: RunOptions }>,
  options: EachOptions = {},
): Promise<CampaignResult> {
  const campaign = new Campaign(scenario, options);
  for (const { origin, options: how } of runs) {
    if (campaign.isFull || options.enough?.(campaign.coverage)) break;
    await campaign.add(origin, await simulate(scenario, how));
  }
  return campaign.result();
}

/** Runs a recorded failure again. */
export function replay(scenario: Scenario, recorded: RecordedFailure): Promise<RunResult> {
  return simulate(scenario, { choices: fromSparse(recorded.choices) });
}

class Campaign {
  readonly #scenario: Scenario;
  readonly #options: CampaignOptions;
  readonly coverage = new Coverage();
  readonly #failures: CampaignFailure[] = [];
  #runs = 0;
  #steps = 0;
  #accidents = 0;

  constructor(scenario: Scenario, options: CampaignOptions) {
    this.#scenario = scenario;
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#failures.length >= (this.#options.stopAfter ?? 10);
  }

  async add(origin: string, result: RunResult): Promise<void> {
    this.coverage.add(result.coverage, `${this.#scenario.name} ${origin}`);
    this.#steps += result.steps;
    this.#accidents += result.accidents;
    this.#options.onRun?.(result, this.#runs);
    this.#runs++;
    if (!result.failure) return;
    // A list that does not replay is no regression test: the program must have another source of decisions.
    const again = await simulate(this.#scenario, { choices: result.choices });
    if (again.failure?.code !== result.failure.code || again.hash !== result.hash) {
      const message = `${result.failure.code} did not come again with the same choices; ${result.failure.message}`;
      return this.#fail(origin, { ...result.failure, code: 'NONDETERMINISM', message }, result);
    }
    const smallest = await shrink(this.#scenario, result, this.#options);
    await this.#fail(origin, smallest.failure ?? result.failure, smallest);
  }

  /** Runs it twice, with whole traces, so that the first difference can be named. */
  async twice(origin: string, options: { readonly seed: number }): Promise<void> {
    const whole = { ...options, traceLines: Number.MAX_SAFE_INTEGER };
    const first = await simulate(this.#scenario, whole);
    const second = await simulate(this.#scenario, whole);
    if (first.hash === second.hash) return this.add(origin, first);
    const place = first.trace.findIndex((line, index) => line !== second.trace[index]);
    const message = `two runs of ${origin} differ, first at step ${place + 1}: ${first.trace[place] ?? 'the end'} | ${second.trace[place] ?? 'the end'}`;
    this.#runs++;
    await this.#fail(origin, { code: 'NONDETERMINISM', message, atStep: place + 1, atMs: 0 }, first);
  }

  result(): CampaignResult {
    return {
      runs: this.#runs,
      steps: this.#steps,
      accidents: this.#accidents,
      failures: this.#failures,
      coverage: this.coverage,
    };
  }

  async #fail(origin: string, failure: Failure, smallest: RunResult): Promise<void> {
    const { record } = this.#options;
    if (!record) {
      this.#failures.push({ origin, failure, smallest });
      return;
    }
    const scenario = this.#scenario.name;
    const file = `${record.folder}/${`${scenario}-${origin}`.replaceAll(/[^\w.-]+/g, '-')}.json`;
    const content: RecordedFailure = {
      scenario,
      origin,
      code: failure.code,
      message: failure.message,
      choices: toSparse(smallest.choices),
    };
    await record.files.write(file, `${JSON.stringify(content, undefined, 2)}\n`);
    this.#failures.push({ origin, failure, smallest, file });
  }
}
