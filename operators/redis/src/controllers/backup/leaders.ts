/**
 * Who leads each slot, and whether what was brought is there to stay. What a primary answered goes with it as long as no replica has
 * it, and its heir says nothing of that. So it is not asked of answers: a slot has all that was brought if the same server led it from
 * before the first key until its replicas had come as far as it was after the last.
 */
import { ReeveError } from '@reeve/runtime';
import type { NodeId } from '../../api/view.ts';
import { observeCluster } from '../../observe/observe.ts';
import { parseInfo } from '../../observe/parse.ts';
import { type ShardSources, shardSources } from '../../plan/backup.ts';
import { ownersBySlot } from '../../plan/topology.ts';
import type { Environment } from '../environment.ts';

/** A failover, or a restart, and then it goes on. */
const PATIENCE_MS = 60_000;
/** How long replicas may take to have what was brought. */
const REPLICATE_MS = 60_000;
const LOOK_AGAIN_MS = 500;

/** Of each slot. Another text is another server, the same one started anew, or one that had lost the slot meanwhile. */
export type Leaders = readonly string[];

interface Look {
  readonly leaders: Leaders;
  readonly shards: readonly ShardSources[];
  /** The text of each primary. */
  readonly names: ReadonlyMap<NodeId, string>;
}

type Means = Pick<Environment, 'redis' | 'ports' | 'seeds' | 'signal'>;

export async function leadersNow(means: Means): Promise<Leaders> {
  return (await settled(means)).leaders;
}

/** When the replicas that are in sync have all that their primaries have by now: a failover after that loses nothing. */
export async function leadersOnceReplicated(means: Means): Promise<Leaders> {
  const { clock } = means.ports;
  const end = clock.now() + REPLICATE_MS;
  const first = await settled(means);
  for (let now = first; ; now = await settled(means)) {
    const behind = first.shards.filter((shard) => isBehind(shard, first, now)).map(({ primary }) => primary.id);
    if (behind.length === 0) return now.leaders;
    if (clock.now() >= end) {
      const message = `the replicas of ${behind.join(', ')} do not have all keys yet`;
      throw new ReeveError('RESTORE_FAILED', message, { subjects: behind });
    }
    await clock.sleep(LOOK_AGAIN_MS, means.signal);
  }
}

/**
 * By offsets and not by WAIT, which speaks of what its own connection wrote: of nothing, after that broke off, or the operator died.
 * Who leads nothing any more, or was started anew and counts from the beginning, is not waited for: the leaders tell.
 */
function isBehind({ primary, replicas }: ShardSources, before: Look, { shards, names }: Look): boolean {
  if (names.get(primary.id) !== before.names.get(primary.id)) return false;
  const { offset } = primary.report.value.replication;
  const now = shards.find((shard) => shard.primary.id === primary.id);
  const there = now?.replicas.filter(({ report }) => report.value.replication.offset >= offset);
  return there !== undefined && there.length < replicas.length;
}

/** The first look in which each slot has one leader that answers. */
async function settled(means: Means): Promise<Look> {
  const { clock } = means.ports;
  for (const end = clock.now() + PATIENCE_MS; ; ) {
    const found = await look(means);
    if (found) return found;
    if (clock.now() >= end) throw new ReeveError('RESTORE_FAILED', 'a slot has not one owner that answers');
    await clock.sleep(LOOK_AGAIN_MS, means.signal);
  }
}

async function look({ redis, ports, seeds, signal }: Means): Promise<Look | undefined> {
  signal.throwIfAborted();
  const view = await observeCluster(redis, ports, seeds, {});
  const shards = shardSources(view);
  const names = new Map<NodeId, string>();
  await Promise.all(
    shards.map(async ({ primary }) => {
      const [info] = await redis.reads(primary.endpoint, [['INFO', 'server']]);
      const runId = parseInfo(String(info ?? '')).run_id;
      // Its epoch: whoever lost a slot and led it again was elected anew, and has what the others have.
      if (runId !== undefined) names.set(primary.id, `${primary.id} ${runId} ${primary.report.value.self.configEpoch}`);
    }),
  );
  const leaders = ownersBySlot(view).map(([owner, ...others]) =>
    owner === undefined || others.length > 0 ? undefined : names.get(owner),
  );
  return leaders.every((leader) => leader !== undefined) ? { leaders, shards, names } : undefined;
}
