import { done, failed } from '@reeve/runtime';
import type { Failover } from '../api/commands.ts';
import type { RedisContext } from './context.ts';
import {
  ask,
  handlerFor,
  identify,
  type IsDone,
  isSilence,
  nameOf,
  type NodeTable,
  StaleEvidence,
  tableOf,
} from './evidence.ts';

const PATIENCE_MS = 5_000;
const LOOK_MS = 25;

/** A forced promotion needs a primary that is really gone: the replica's own table says fail, and we cannot reach it either. */
async function provePrimaryGone(command: Failover, context: RedisContext, table: NodeTable): Promise<void> {
  const line = table.others.find((other) => other.id === command.primary.id);
  const flagged =
    !line || line.flags.some((flag) => flag === 'fail' || flag === 'fail?' || flag === 'noaddr') || !line.linkUp;
  if (!flagged) throw new StaleEvidence(`${nameOf(command.replica)} sees its primary ${nameOf(command.primary)} alive`);
  try {
    await identify(context, [command.primary]);
  } catch (error) {
    if (error instanceof StaleEvidence || isSilence(error)) return; // somebody else is at its address, or nobody
    throw error; // it answers, be it with a refusal
  }
  throw new StaleEvidence(`the primary ${nameOf(command.primary)} answers us: it is not gone`);
}

/** A server gives a failover up by itself after 5 s: until then one that was asked for may still come. */
const GIVEN_UP_MS = 6_000;
const PATIENT_LOOK_MS = 250;

const isPromoted: IsDone<Failover> = async ({ replica, primary }, context, signal) => {
  const until = context.clock.now() + GIVEN_UP_MS;
  for (;;) {
    const { self } = await tableOf(context, replica);
    if (self.role === 'primary') return 'done';
    if (self.primaryId !== primary.id) return 'unknown';
    if (context.clock.now() >= until) return 'not-done';
    await context.clock.sleep(PATIENT_LOOK_MS, signal);
  }
};

/** Promotes a replica; done when it says itself that it is a primary. */
export const failoverHandler = handlerFor<Failover>('failover', isPromoted, async (command, context, signal) => {
  const table = await tableOf(context, command.replica);
  if (table.self.role === 'primary') return done;
  if (table.self.primaryId !== command.primary.id) {
    throw new StaleEvidence(`${nameOf(command.replica)} replicates ${table.self.primaryId?.slice(0, 8)} now`);
  }
  if (command.mode !== 'graceful') await provePrimaryGone(command, context, table);
  const word = { graceful: [], force: ['FORCE'], takeover: ['TAKEOVER'] }[command.mode];
  await ask(context, command.replica, ['CLUSTER', 'FAILOVER', ...word]);
  const until = context.clock.now() + PATIENCE_MS;
  while (context.clock.now() < until && !signal.aborted) {
    await context.clock.sleep(LOOK_MS);
    if ((await tableOf(context, command.replica)).self.role === 'primary') return done;
  }
  return failed(
    'FAILOVER_NOT_DONE',
    `${nameOf(command.replica)} accepted the failover, but is no primary after ${PATIENCE_MS} ms`,
  );
});
