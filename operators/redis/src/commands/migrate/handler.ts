/** `migrate-slots`: looks at every slot live, chooses an engine, and moves what is not moved yet behind a handle. */
import { type Outcome, asReeveError, done, failed, stale } from '@reeve/runtime';
import type { MigrateSlots } from '../../api/commands.ts';
import { countSlots, formatSlots, intersectSlots, type SlotRanges, unionSlots } from '../../api/slots.ts';
import type { NodeRef, NodeReport } from '../../api/view.ts';
import { observeNode } from '../../observe/node.ts';
import { emptyLog } from '../empty-log.ts';
import { handlerFor, type IsDone, keyCount, nameOf, StaleEvidence } from '../evidence.ts';
import { moveAtomically } from './atomic.ts';
import { addressSeenBy, sharedNodeTimeoutMs } from './between.ts';
import { isLong } from './length.ts';
import { cannotGoOn, type Migration, Tally } from './migration.ts';
import { moveRedisAtomically } from './redis-atomic.ts';
import { endMarks, tellOwner } from './setslot.ts';
import { Standing } from './standing.ts';
import { type Survey, survey } from './survey.ts';
import { moveWindowed } from './windowed.ts';

/** Connections for SETSLOTs that wait for replicas: so many wait at once. */
const WAITING_LANES = 16;

/** The servers' own migrations go on without us. */
const areMoved: IsDone<MigrateSlots> = async (command, context) => {
  const { wanted, done: moved } = await survey(command, context);
  if (countSlots(moved) === countSlots(wanted)) return 'done';
  const look = ({ endpoint }: NodeRef) => observeNode(context.redis, context, endpoint, {});
  const reports = await Promise.all([command.source, command.target].map(look));
  const mayGoOn = reports.some(
    ({ atomicJobs: jobs }) =>
      !jobs.known || jobs.value.some((job) => countSlots(intersectSlots(job.slots, wanted)) > 0),
  );
  return mayGoOn ? 'unknown' : 'not-done';
};

export const migrateHandler = handlerFor<MigrateSlots>('migrate-slots', areMoved, async (command, context, signal) => {
  const [surveyed, source, target] = await Promise.all([
    survey(command, context),
    observeNode(context.redis, context, command.source.endpoint, {}),
    observeNode(context.redis, context, command.target.endpoint, {}),
  ]);
  const total = countSlots(surveyed.wanted);
  if (countSlots(surveyed.done) === total) return done;
  const engine = chooseEngine(command, source, target, surveyed);
  const tally = new Tally(total);
  tally.slots = countSlots(surveyed.done);
  const nodeTimeoutMs = sharedNodeTimeoutMs(source, target);
  const migration: Migration = {
    command,
    context,
    signal,
    tally,
    sourceSlots: surveyed.source.self.slots,
    targetSeenBySource: addressSeenBy(command.source, surveyed.source, command.target),
    nodeTimeoutMs,
    standing: new Standing(command, context, nodeTimeoutMs),
    setslotLanes: [source, target].some(waitsForReplicas) && hasReplicas(command, surveyed) ? WAITING_LANES : 1,
  };
  const settled = move(migration, engine, surveyed, source).then(
    () => outcomeOf(migration),
    (error: unknown) => outcomeOfError(migration, error),
  );
  return { progress: () => tally.progress(), settled };
});

/** Valkey 8 made SETSLOT wait for replicas; no command or setting tells, so it is the product that counts. */
function waitsForReplicas({ server }: NodeReport): boolean {
  return server.product === 'valkey';
}

type Engine = 'atomic' | 'atomic-then-windowed' | 'by-size' | 'redis-atomic' | 'windowed';

/** By what both servers can do, asked now; never by their version. */
function chooseEngine(command: MigrateSlots, source: NodeReport, target: NodeReport, surveyed: Survey): Engine {
  const both = (ability: 'atomicMigration' | 'redisAtomicMigration') =>
    source.server.capabilities[ability] && target.server.capabilities[ability];
  switch (command.engine) {
    case 'windowed':
      return 'windowed';
    case 'auto':
      if (!both('atomicMigration')) return 'windowed';
      if (command.pace === 'fast' || Object.keys(source.keyspace).some(isNotFirst)) return 'atomic-then-windowed';
      // With replicas every SETSLOT waits for them, on servers that have the atomic way: MIGRATE is no gentler then.
      return hasReplicas(command, surveyed) ? 'atomic-then-windowed' : 'by-size';
    case 'atomic':
      if (both('atomicMigration')) return 'atomic';
      throw unsupported(command, 'CLUSTER MIGRATESLOTS');
    case 'redis-atomic':
      if (both('redisAtomicMigration')) return 'redis-atomic';
      throw unsupported(command, 'CLUSTER MIGRATION');
  }
}

function hasReplicas(command: MigrateSlots, surveyed: Survey): boolean {
  return surveyed.source.others.some(
    (line) => line.primaryId === command.source.id || line.primaryId === command.target.id,
  );
}

function unsupported(command: MigrateSlots, what: string): Error {
  return cannotGoOn(
    'ENGINE_UNSUPPORTED',
    `${nameOf(command.source)} and ${nameOf(command.target)} do not both know ${what}`,
  );
}

async function move(migration: Migration, engine: Engine, surveyed: Survey, source: NodeReport): Promise<void> {
  const { unsettled, halfOpen, closed, notTold, leftBehind } = surveyed;
  await forgetFormerKeys(migration, surveyed);
  for (const { node, slots } of leftBehind) await endMarks(migration, node, slots);
  if (countSlots(notTold) > 0) await tellOwner(migration, notTold);
  // What is half open was opened for MIGRATE, and is finished with MIGRATE, whatever the engine of the rest.
  if (engine === 'windowed' || (engine === 'by-size' && !(await isLong(migration, closed))))
    return windowed(migration, { unsettled, halfOpen, closed }, source);
  if (countSlots(unsettled) + countSlots(halfOpen) > 0) {
    await windowed(migration, { unsettled, halfOpen, closed: [] }, source);
  }
  if (countSlots(closed) === 0 || migration.signal.aborted) return;
  if (engine === 'redis-atomic') return moveRedisAtomically(migration, closed);
  const left = await moveAtomically(migration, closed);
  if (countSlots(left) === 0 || migration.signal.aborted) return;
  if (engine === 'atomic') {
    throw cannotGoOn('ATOMIC_FAILED', `slots ${formatSlots(left)} stay: ${migration.tally.remarks.join('; ')}`);
  }
  migration.tally.remarks.push(`${countSlots(left)} slots moved with MIGRATE instead`);
  await windowed(migration, { unsettled: [], halfOpen: [], closed: left }, source);
}

/** A target without slots may have had some, and lost them with keys that its append-only file still holds. */
async function forgetFormerKeys({ command, context, signal, tally }: Migration, { target }: Survey): Promise<void> {
  if (countSlots(target.self.slots) > 0 || (await keyCount(context, command.target)) > 0) return;
  const remark = await emptyLog(context, command.target, signal);
  if (remark !== undefined) tally.remarks.push(remark);
}

function isNotFirst(database: string): boolean {
  return database !== '0';
}

interface WindowedParts {
  readonly unsettled: SlotRanges;
  readonly halfOpen: SlotRanges;
  readonly closed: SlotRanges;
}

/**
 * MIGRATE and GETKEYSINSLOT see the selected database only, and connections of the port stay in database 0. A server
 * that has keys elsewhere needs the atomic engine, which takes all databases.
 */
async function windowed(migration: Migration, parts: WindowedParts, source: NodeReport): Promise<void> {
  const elsewhere = Object.keys(source.keyspace).filter(isNotFirst);
  const slots = unionSlots(parts.halfOpen, parts.closed);
  if (elsewhere.length > 0 && countSlots(slots) > 0) {
    throw cannotGoOn(
      'MIGRATE_DATABASES',
      `${nameOf(migration.command.source)} has keys in databases ${elsewhere.join(', ')}, which MIGRATE does not move`,
    );
  }
  await moveWindowed(migration, parts);
}

function outcomeOf({ tally, signal }: Migration): Outcome {
  const trouble = tally.trouble();
  if (trouble) return failed(trouble.code, trouble.message);
  if (tally.slots < tally.total && signal.aborted) {
    return failed('INTERRUPTED', `stopped after ${tally.slots} of ${tally.total} slots`);
  }
  const note = [`${tally.total} slots`, tally.keys > 0 ? `${tally.keys} keys` : '', ...tally.remarks];
  return { status: 'done', note: note.filter((part) => part !== '').join('; ') };
}

function outcomeOfError({ tally }: Migration, error: unknown): Outcome {
  if (error instanceof StaleEvidence) return stale(error.message);
  const known = asReeveError(error);
  const trouble = tally.trouble();
  const remarks = trouble ? [`also ${trouble.code}: ${trouble.message}`] : [];
  return failed(known.code, [known.message, ...tally.remarks, ...remarks].join('; '));
}
