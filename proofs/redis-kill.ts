/**
 * kill -9 of source, target and of the tool itself during create, reshard and delete, on real servers under traffic:
 * the journal resumes, nothing is lost, no slot is left open.
 *
 *     npm run proof -- redis-kill [--rounds 108] [--product valkey|redis] [--operation create|reshard|delete] [--seed 1]
 */
import { parseArgs } from 'node:util';
import type { Product } from '@reeve/rig';
import {
  type Engine,
  followUps,
  killRound,
  measureWindows,
  type Operation,
  type RoundPlan,
  type RoundResult,
  type Victim,
} from './kill/rounds.ts';
import { World } from './kill/world.ts';
import { writeResult } from './result.ts';

const OPERATIONS: readonly Operation[] = ['reshard', 'delete', 'create'];
/** Of rounds in which the kill fell into the running operation. */
const LEAST_ROUNDS = 100;
/** The last part of a deletion, when the slots have moved, is hit, too. */
const LATEST_MOMENT: Readonly<Record<Operation, number>> = { create: 0.9, reshard: 0.9, delete: 1.1 };
const VICTIMS: readonly Victim[] = ['tool', 'source', 'target'];

/** A small generator of its own: a proof must be repeatable by its seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Gently and by MIGRATE all slots of a primary take minutes beside so many servers on one machine; on Valkey, where every
 * SETSLOT waits for replicas, a few hundred do, and the tool takes the atomic engine unless it is told otherwise.
 */
function isEndless(operation: Operation, product: Product, engine: Engine): boolean {
  return product === 'valkey' ? engine === 'windowed' : operation === 'delete';
}

function planRounds(rounds: number, products: readonly Product[], seed: number): readonly RoundPlan[] {
  const random = generator(seed);
  return Array.from({ length: rounds }, (_, number) => {
    const operation = OPERATIONS[number % 3] as Operation;
    const victim = VICTIMS[Math.floor(number / 3) % 3] as Victim;
    const { usual, other } = followUps(operation, victim);
    const product = products[Math.floor((number * products.length) / rounds)] as Product;
    const engine = Math.floor(number / 9) % 2 === 0 ? 'windowed' : 'auto';
    // Not in step with the engine, nor with who is killed.
    const isFast = (Math.floor(number / 18) + Math.floor(number / 3)) % 2 === 0;
    return {
      number,
      product,
      operation,
      engine,
      pace: isFast || isEndless(operation, product, engine) ? 'fast' : 'gentle',
      victim,
      followUp: random() < 0.6 ? usual : other,
      moment: LATEST_MOMENT[operation] * random(),
    };
  });
}

function table(results: readonly RoundResult[]): string {
  const rows = results.map(({ plan, ...result }) => {
    const { operation, engine, pace } = plan;
    const cells = [
      plan.number,
      plan.product,
      operation === 'create' ? operation : `${operation}, ${engine}, ${pace}`,
      plan.victim,
      plan.followUp,
      result.killedAfterMs.toFixed(0),
      result.journalLines,
      result.moved ? `${result.moved.slots} of ${result.moved.of}` : '',
      result.tooLate ? 'yes' : '',
      `${result.resumes}${result.fixedOnReturn ? ', `fix` on its return' : ''}`,
      result.conflicts || '',
      result.permittedLosses || '',
      result.problems.length === 0 ? 'ok' : 'FAILED',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| round | product | operation | killed | then | after ms | journal lines | slots moved by then | ended before | resumes | conflicts for a person | lost by async replication | |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

export default async function redisKill(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '108' },
      product: { type: 'string' },
      operation: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const products: readonly Product[] = values.product ? [values.product as Product] : ['valkey', 'redis'];
  const plans = planRounds(Number(values.rounds), products, Number(values.seed)).filter(
    ({ operation }) => values.operation === undefined || values.operation === operation,
  );
  const results: RoundResult[] = [];
  for (const product of products) {
    const ours = plans.filter((plan) => plan.product === product);
    const world = await World.start(product);
    try {
      const windows = await measureWindows(world, ours);
      process.stdout.write(`${product}: undisturbed, ms: ${JSON.stringify([...windows])}\n`);
      for (const plan of ours) {
        const result = await killRound(plan, world, windows);
        results.push(result);
        const { operation, engine, pace, victim, followUp } = plan;
        const manner = operation === 'create' ? '' : ` ${engine} ${pace} (${result.moved?.slots} slots moved)`;
        process.stdout.write(
          `${plan.number} ${product} ${operation}${manner}, ${victim} killed, ${followUp}, after ${result.killedAfterMs.toFixed(0)} ms${result.tooLate ? ' (ended before)' : ''}: ${result.problems.length === 0 ? 'ok' : `FAILED ${result.problems.join('; ')}`} (${(result.tookMs / 1000).toFixed(1)} s)\n`,
        );
        if (result.problems.length > 0) break; // what follows on a broken cluster proves nothing
      }
    } finally {
      await world.cluster.stop();
    }
  }
  const bad = results.filter((result) => result.problems.length > 0);
  const inTime = results.filter((result) => !result.tooLate).length;
  const losses = results.reduce((sum, result) => sum + result.permittedLosses, 0);
  const ok = bad.length === 0 && results.length === plans.length;
  // A part is for trying out; only the whole is a result.
  if (values.product || values.operation || plans.length < LEAST_ROUNDS) return ok;
  const whole = ok && inTime >= LEAST_ROUNDS;
  writeResult('redis-kill', whole, [
    `${results.length} of ${plans.length} rounds run, ${bad.length} failed; the kill fell into the running operation in ${inTime}; seed ${values.seed}.`,
    `Acknowledged writes lost: 0, but for ${losses} that a killed primary had, but its replica had not yet received when it took over (rounds marked so): by the primary's own append-only file, behind the offset that was known to be replicated right before the kill.`,
    `Rounds in which the tool was done while the killed server was still away, said so, and \`fix\` closed what it brought back: ${results.filter((result) => result.fixedOnReturn).length}.`,
    `Keys that differed on two nodes after a source was failed over in the middle of a move, told as KEY_CONFLICT and decided as its remedy says: ${results.reduce((sum, result) => sum + result.conflicts, 0)}.`,
    'Then: `resume` the journal; only `fix` (and the deletion asked for again); the creation asked for `anew`; the killed server started again `at-once`, `after-failover` by its replica, or `after-the-tool` gave up waiting for it. Pace: `fast`, or `gentle`, the default.',
    table(results),
    ...bad.map((result) => `Round ${result.plan.number}: ${result.problems.join('\n')}`),
  ]);
  return whole;
}
