/** Campaigns in several processes at once: this process hands out pieces of work, `worker.ts` does them. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Coverage, type CoverageData, type Recipe } from '@reeve/simulation';
import type { Flavour } from '@reeve/simulation/redis';
import type { Engine } from '../../src/api/commands.ts';
import { victimEvents } from './events.ts';
import { allKinds, type Kind } from './kinds.ts';

/**
 * What is enumerated at every effect: the death of the tool, and of the servers that the operation is most about. A
 * death of the tool after an effect leaves what a death before the next one leaves: the seeds have it, this has not.
 */
export const crashKinds = ['crash-before', ...victimEvents] as const;
export type CrashKind = (typeof crashKinds)[number];

/** One piece of work, as plain data. */
export type Piece =
  | {
      readonly work: 'seeds';
      readonly kind: Kind;
      readonly from: number;
      readonly count: number;
      readonly folder?: string;
    }
  /** One accident of one victim at every effect: every `of`-th, from the `index`-th. */
  | {
      readonly work: 'crashes';
      readonly kind: Kind;
      readonly flavour: Flavour;
      readonly engine: Engine;
      readonly accident: CrashKind;
      readonly index: number;
      readonly of: number;
      readonly folder?: string;
    }
  /**
   * One accident at one label, until it has struck: in these runs, in which it could have come, then in quiet ones.
   * Without an accident: until the label occurs.
   */
  | {
      readonly work: 'cell';
      readonly kind: Kind;
      readonly label: string;
      readonly accident?: string;
      readonly recipes: readonly Recipe[];
      readonly folder?: string;
    }
  /** Looks for the planted bug of this number, with at most so many seeds. */
  | { readonly work: 'bug'; readonly number: number; readonly seeds: number };

export interface Finding {
  readonly origin: string;
  readonly code: string;
  readonly message: string;
  readonly file?: string;
}

export interface PieceResult {
  readonly runs: number;
  readonly steps: number;
  readonly accidents: number;
  readonly findings: readonly Finding[];
  readonly coverage: CoverageData;
}

export interface CrewResult extends Omit<PieceResult, 'coverage'> {
  readonly coverage: Coverage;
}

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

export function runPiece(piece: Piece): Promise<PieceResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WORKER, JSON.stringify(piece)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as PieceResult);
      else reject(new Error(`a worker ended with ${code} at ${JSON.stringify(piece)}`));
    });
  });
}

/** All pieces, as many at once as there are processors. */
export async function runCrew(
  pieces: readonly Piece[],
  onPiece: (piece: Piece, result: PieceResult) => void = () => undefined,
): Promise<CrewResult> {
  const queue = [...pieces];
  const coverage = new Coverage();
  const findings: Finding[] = [];
  let [runs, steps, accidents] = [0, 0, 0];
  const work = async () => {
    for (let piece = queue.shift(); piece; piece = queue.shift()) {
      const result = await runPiece(piece);
      runs += result.runs;
      steps += result.steps;
      accidents += result.accidents;
      findings.push(...result.findings);
      coverage.add(Coverage.from(result.coverage));
      onPiece(piece, result);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return { runs, steps, accidents, findings, coverage };
}

/** A fix looks at all slots of all nodes and takes as long as several of the others. */
const SHARES: Readonly<Record<Kind, number>> = {
  create: 2,
  reshard: 2,
  rebalance: 2,
  delete: 2,
  add: 2,
  fix: 1,
  'fix-nodes': 1,
  failover: 1,
  spread: 1,
};

/** At least `total` seeds, shared out over all kinds, in pieces small enough to keep all processors busy to the end. */
export function seedPieces(total: number, pieceSize: number, folder?: string): readonly Piece[] {
  const whole = allKinds.reduce((sum, kind) => sum + SHARES[kind], 0);
  const pieces = allKinds.flatMap((kind) => {
    const wanted = Math.ceil((total * SHARES[kind]) / whole);
    const starts = Array.from({ length: Math.ceil(wanted / pieceSize) }, (_, index) => index * pieceSize);
    return starts.map((from): Piece => {
      const count = Math.min(pieceSize, wanted - from);
      return { work: 'seeds', kind, from, count, ...(folder === undefined ? {} : { folder }) };
    });
  });
  // The longest first: what is left to the end is short.
  return pieces.sort(
    (a, b) => Number(b.work === 'seeds' && b.kind === 'fix') - Number(a.work === 'seeds' && a.kind === 'fix'),
  );
}
