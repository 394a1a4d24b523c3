/**
 * The long campaign, behind `npm run bench -- simulation`: seeds, a crash of the tool at every effect, every accident
 * at every kind of effect, and the planted bugs. Prints tables and one JSON line last.
 */
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Coverage } from '@reeve/simulation';
import { type CrewResult, type Finding, type Piece, runCrew, seedPieces } from './crew.ts';
import { allKinds, type Kind } from './kinds.ts';
import { plantedBugs } from './planted.ts';

/** The operations whose every effect gets a crash before and after it. */
const ENUMERATED: readonly Kind[] = ['create', 'reshard', 'delete'];
const ENUMERATION_SHARES = 8;
const PIECE = 50;

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
    seedsPerSecond = Math.round(result.runs / ((performance.now() - started) / 100)) / 10;
    say(`${result.runs} seeds, ${seedsPerSecond} a second, ${result.steps} steps, ${result.accidents} accidents`);
    findings.push(...result.findings);
    coverage.add(result.coverage);
    bars.push(bar('seeds', result.runs, Number(values.seeds), 'higher'));
  }
  if (wanted.has('crashes')) {
    const result = await phase(say, 'crashes', crashPieces(values.failures));
    say(`${result.runs} runs, in each a crash of the tool at another effect of ${ENUMERATED.join(', ')}`);
    findings.push(...result.findings);
  }
  if (wanted.has('cells')) {
    findings.push(...(await fillCells(say, coverage)));
    say(`\n${coverage.table()}\n`);
    const empty = coverage.emptyCells();
    for (const { label, accident } of empty) say(`not reached: ${accident} at ${label}`);
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

async function phase(say: Say, name: string, pieces: readonly Piece[]): Promise<CrewResult> {
  let done = 0;
  return runCrew(pieces, (_piece, { findings }) => {
    done++;
    for (const finding of findings) say(`FAILED ${describe(finding)}`);
    if (done % 10 === 0 || done === pieces.length) say(`${name}: ${done} of ${pieces.length} pieces`);
  });
}

function crashPieces(folder: string): readonly Piece[] {
  return ENUMERATED.flatMap((kind) =>
    Array.from({ length: ENUMERATION_SHARES }, (_, index): Piece => {
      return { work: 'crashes', kind, index, of: ENUMERATION_SHARES, folder };
    }),
  );
}

function describe({ origin, code, message, file }: Finding): string {
  const [first = ''] = message.split('\n');
  return `${origin}: ${code} ${first}${file === undefined ? '' : ` (${file})`}`;
}

/** What the seeds left out is brought about on purpose, in quiet runs of each kind. */
async function fillCells(say: Say, known: Coverage): Promise<readonly Finding[]> {
  const failed: Finding[] = [];
  for (const kind of allKinds) {
    const missing = known.emptyCells().map(({ label, accident }): Piece => ({ work: 'cell', kind, label, accident }));
    if (missing.length > 0) say(`${missing.length} empty cells, tried on purpose in ${kind}`);
    const result = await runCrew(missing);
    failed.push(...result.findings);
    known.add(result.coverage);
  }
  return failed;
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
