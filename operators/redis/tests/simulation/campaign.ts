/**
 * The long campaign, behind `npm run bench -- simulation`: seeds, a death of the tool or of a server at every effect,
 * every accident at every kind of effect, and the planted bugs. Prints tables and one JSON line last.
 */
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Cell, Coverage, parseRecipe, type Recipe } from '@reeve/simulation';
import type { Flavour } from '@reeve/simulation/redis';
import {
  crashKinds,
  type CrewResult,
  type Finding,
  type Piece,
  type PieceResult,
  runCrew,
  seedPieces,
} from './crew.ts';
import type { Engine } from '../../src/api/commands.ts';
import { allKinds, type Kind } from './kinds.ts';
import { plantedBugs } from './planted.ts';
import { requiredLabels } from './required.ts';
import { redisScenario } from './scenarios.ts';

/** The operations whose every effect gets a death before it: both engines, both products. Creating is the same on both. */
const ENUMERATED: readonly { readonly kind: Kind; readonly flavour: Flavour; readonly engine: Engine }[] = [
  { kind: 'create', flavour: 'redis7', engine: 'auto' },
  { kind: 'reshard', flavour: 'redis7', engine: 'auto' },
  { kind: 'reshard', flavour: 'valkey9', engine: 'auto' },
  { kind: 'delete', flavour: 'redis7', engine: 'auto' },
  { kind: 'delete', flavour: 'valkey9', engine: 'auto' },
];
const ENUMERATION_SHARES = 4;
/** A server that is killed comes back at once at every effect, and after its failover at each of so many. */
const LOSS_EVERY = 4;
const PIECE = 50;
const CELL_ROUNDS = 3;

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly bar: number;
  readonly better: 'higher' | 'lower';
  readonly met: boolean;
}

type Say = (text: string) => void;

export async function campaign(argv: readonly string[], say: Say): Promise<readonly Bar[]> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seeds: { type: 'string', default: '10000' },
      'bug-seeds': { type: 'string', default: '300' },
      failures: { type: 'string', default: 'simulation-failures' },
      /** Of the effects that get a death, only each n-th: for a look that is not the whole. */
      every: { type: 'string', default: '1' },
      only: { type: 'string', default: 'seeds,crashes,cells,bugs' },
    },
  });
  const wanted = new Set(values.only.split(','));
  const bars: Bar[] = [];
  const findings: Finding[] = [];
  const coverage = new Coverage();
  let seedsPerSecond = 0;

  if (wanted.has('seeds')) {
    const started = performance.now();
    const result = await phase(say, 'seeds', seedPieces(Number(values.seeds), PIECE, values.failures));
    seedsPerSecond = Math.round(result.runs / ((performance.now() - started) / 10_000)) / 10;
    say(`${result.runs} seeds, ${seedsPerSecond} a second, ${result.steps} steps, ${result.accidents} accidents`);
    findings.push(...result.findings);
    coverage.add(result.coverage);
    bars.push(bar('seeds', result.runs, Number(values.seeds), 'higher'));
  }
  if (wanted.has('crashes')) {
    findings.push(...(await crashes(say, values.failures, Number(values.every))));
  }
  if (wanted.has('cells')) {
    findings.push(...(await fillCells(say, coverage, values.failures)));
    say(`\n${coverage.table()}\n`);
    const empty = coverage.emptyCells(requiredLabels);
    for (const cell of empty) say(`not reached: ${nameOf(cell)}`);
    for (const label of coverage.alwaysSpared()) say(`came only when the accidents of a run were over: ${label}`);
    bars.push(bar('empty cells of accident × effect', empty.length, 0, 'lower'));
  }
  for (const finding of findings) say(`FAILED ${describe(finding)}`);
  bars.push(bar('failing runs', findings.length, 0, 'lower'));
  if (wanted.has('bugs')) {
    const found = await huntBugs(say, Number(values['bug-seeds']));
    bars.push(bar('planted bugs found', found, plantedBugs.length, 'higher'));
  }
  say(JSON.stringify({ bench: 'simulation', seedsPerSecond, bars }));
  return bars;
}

function bar(name: string, value: number, limit: number, better: 'higher' | 'lower'): Bar {
  return { name, value, bar: limit, better, met: better === 'higher' ? value >= limit : value <= limit };
}

async function phase(
  say: Say,
  name: string,
  pieces: readonly Piece[],
  onPiece: (piece: Piece, result: PieceResult) => void = () => undefined,
): Promise<CrewResult> {
  let done = 0;
  return runCrew(pieces, (piece, result) => {
    done++;
    onPiece(piece, result);
    for (const finding of result.findings) say(`FAILED ${describe(finding)}`);
    if (done % 10 === 0 || done === pieces.length) say(`${name}: ${done} of ${pieces.length} pieces`);
  });
}

/** At every effect in turn a death, of the tool or of a server, and how many there were of each. */
async function crashes(say: Say, folder: string, every: number): Promise<readonly Finding[]> {
  const pieces = ENUMERATED.flatMap(({ kind, flavour, engine }) =>
    crashKinds.flatMap((accident) => {
      const step = accident.startsWith('lose-') ? LOSS_EVERY * every : every;
      return Array.from({ length: ENUMERATION_SHARES }, (_, share): Piece => {
        const which = { index: share * step, of: ENUMERATION_SHARES * step };
        return { work: 'crashes', kind, flavour, engine, accident, ...which, folder };
      });
    }),
  );
  const counts = new Map<string, number>();
  const { findings } = await phase(say, 'crashes', pieces, (piece, { accidents }) => {
    if (piece.work !== 'crashes') return;
    const name = `${piece.accident} ${piece.kind} ${piece.flavour} ${piece.engine}`;
    counts.set(name, (counts.get(name) ?? 0) + accidents);
  });
  for (const accident of crashKinds) {
    const each = ENUMERATED.map(
      ({ kind, flavour, engine }) =>
        `${kind} on ${flavour} (${engine}) ${counts.get(`${accident} ${kind} ${flavour} ${engine}`) ?? 0}`,
    );
    say(`${accident}, in each run at another effect: ${each.join(', ')}`);
  }
  return findings;
}

function nameOf({ label, accident }: Cell): string {
  return accident === undefined ? label : `${accident} at ${label}`;
}

function describe({ origin, code, message, file }: Finding): string {
  const [first = ''] = message.split('\n');
  return `${origin}: ${code} ${first}${file === undefined ? '' : ` (${file})`}`;
}

/**
 * What the seeds left out is brought about on purpose: in runs that come to such an effect, then in quiet runs of each
 * kind. Such a run may itself come to an effect for the first time: hence several rounds.
 */
async function fillCells(say: Say, known: Coverage, folder: string): Promise<readonly Finding[]> {
  const failed: Finding[] = [];
  for (let round = 1; round <= CELL_ROUNDS && known.emptyCells(requiredLabels).length > 0; round++) {
    for (const kind of allKinds) {
      const missing = known
        .emptyCells(requiredLabels)
        .map((cell): Piece => ({ work: 'cell', kind, folder, recipes: recipesOf(known, kind, cell), ...cell }));
      if (missing.length > 0) say(`${missing.length} empty cells, tried on purpose in ${kind} (round ${round})`);
      const result = await runCrew(missing);
      failed.push(...result.findings);
      known.add(result.coverage);
    }
  }
  return failed;
}

/** Runs of this kind in which the accident could have come at an effect of this label. */
function recipesOf(known: Coverage, kind: Kind, { label, accident }: Cell): readonly Recipe[] {
  if (accident === undefined) return [];
  const name = `${redisScenario(kind).name} `;
  return known
    .origins(label, accident)
    .filter((origin) => origin.startsWith(name))
    .flatMap((origin) => parseRecipe(origin.slice(name.length)) ?? []);
}

async function huntBugs(say: Say, seeds: number): Promise<number> {
  let count = 0;
  const pieces = plantedBugs.map((_bug, number): Piece => ({ work: 'bug', number, seeds }));
  await runCrew(pieces, (piece, { findings: [finding], runs }) => {
    if (finding) count++;
    const name = piece.work === 'bug' ? plantedBugs[piece.number]?.name : '';
    say(`planted: ${name}: ${finding ? `found in run ${runs}, ${describe(finding)}` : 'NOT FOUND'}`);
  });
  return count;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bars = await campaign(process.argv.slice(2), (text) => process.stdout.write(`${text}\n`));
  if (bars.some(({ met }) => !met)) process.exitCode = 1;
}
