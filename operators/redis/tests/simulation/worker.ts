/** Does one piece of work of a campaign and prints the result as JSON: `node worker.ts '{"work": …}'`. */
import { systemFiles } from '@reeve/runtime';
import {
  type CampaignResult,
  Coverage,
  enumerateCrashes,
  type Recipe,
  recipeChoices,
  recipeName,
  runEach,
  runSeeds,
  simulate,
} from '@reeve/simulation';
import type { Piece, PieceResult } from './crew.ts';
import { isEventKind } from './events.ts';
import { plantedBugs } from './planted.ts';
import { redisScenario } from './scenarios.ts';

/** Runs spent on making a failing list shorter. */
const SHRINK_RUNS = 40;
const STOP_AFTER = 3;
/** Seeds and places tried to bring one accident to one label. */
const CELL_SEEDS = 12;

// Refusals are answers here, thousands in a run: where they were made is told by the replay of a failure.
Error.stackTraceLimit = 0;

process.stdout.write(JSON.stringify(await resultOf(JSON.parse(process.argv[2] ?? '') as Piece)));

async function resultOf(piece: Piece): Promise<PieceResult> {
  switch (piece.work) {
    case 'seeds': {
      const { kind, from, count } = piece;
      return summary(await runSeeds(redisScenario(kind), { from, count, ...optionsOf(piece.folder) }), kind);
    }
    case 'crashes': {
      const { kind, flavour, engine, accident, index, of } = piece;
      // No other accident comes: what is enumerated is one death in a world that is well.
      const events = isEventKind(accident) ? [accident] : [];
      const scenario = redisScenario(kind, { flavour, engine, events });
      const how = { accidents: [accident], share: { index, of }, ...optionsOf(piece.folder) };
      return summary(await enumerateCrashes(scenario, how), `${kind} on ${flavour} (${engine})`);
    }
    case 'cell':
      return fillCell(piece);
    case 'bug':
      return huntBug(piece.number, piece.seeds);
  }
}

function optionsOf(folder: string | undefined) {
  const limits = { maxRuns: SHRINK_RUNS, stopAfter: STOP_AFTER };
  return folder === undefined ? limits : { ...limits, record: { files: systemFiles, folder } };
}

function summary(result: CampaignResult, name: string): PieceResult {
  return {
    runs: result.runs,
    steps: result.steps,
    accidents: result.accidents,
    findings: result.failures.map(({ origin, failure, file }) => ({
      origin: `${name}, ${origin}`,
      code: failure.code,
      message: failure.message,
      ...(file === undefined ? {} : { file }),
    })),
    coverage: result.coverage.toJSON(),
  };
}

async function fillCell({
  kind,
  label,
  accident,
  recipes,
  folder,
}: Extract<Piece, { work: 'cell' }>): Promise<PieceResult> {
  const scenario = redisScenario(kind);
  const own = accident === undefined ? [] : [{ accident, label }];
  // What comes only after other accidents comes in no quiet run: the runs that are known to come there are first.
  const varied = recipes.map((recipe): Recipe => ({ ...recipe, additions: [...(recipe.additions ?? []), ...own] }));
  const quiet = Array.from({ length: CELL_SEEDS }, (_, seed): Recipe => ({ seed, calm: true, additions: own }));
  const runs = [...varied, ...quiet].map((recipe) => ({
    origin: recipeName(recipe),
    options: { source: recipeChoices(recipe, scenario) },
  }));
  const enough = (coverage: Coverage) => coverage.count(label, accident) > 0;
  return summary(await runEach(scenario, runs, { enough, ...optionsOf(folder) }), kind);
}

/** A bug counts as found when a seed fails with it and passes without it. */
async function huntBug(number: number, seeds: number): Promise<PieceResult> {
  const bug = plantedBugs[number];
  const coverage = new Coverage();
  let [runs, steps, accidents] = [0, 0, 0];
  for (let seed = 0; bug && seed < seeds; seed++) {
    for (const kind of bug.kinds) {
      const result = await simulate(redisScenario(kind, { parts: bug.parts }), { seed });
      runs++;
      steps += result.steps;
      accidents += result.accidents;
      if (!result.failure || (await simulate(redisScenario(kind), { seed })).failure) continue;
      const { code, message } = result.failure;
      const finding = { origin: `${kind}, seed ${seed}`, code, message };
      return { runs, steps, accidents, findings: [finding], coverage: coverage.toJSON() };
    }
  }
  return { runs, steps, accidents, findings: [], coverage: coverage.toJSON() };
}
