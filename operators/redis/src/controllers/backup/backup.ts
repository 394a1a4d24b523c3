/**
 * Takes a backup: a snapshot of every shard, all of moments after the backup began, and then the manifest. Without a manifest there is no
 * backup: whoever dies in between begins anew.
 */
import { createHash } from 'node:crypto';
import type { BackupDraft, BackupManifest, BackupShard, SnapshotSource } from '../../api/backup.ts';
import { formatSlots, hasSlot } from '../../api/slots.ts';
import { slotOfKey } from '../../api/crc16.ts';
import type { ClusterView } from '../../api/view.ts';
import { walkSnapshot } from '../../client/rdb/walk.ts';
import { observeCluster } from '../../observe/observe.ts';
import { numberOf, parseInfo } from '../../observe/parse.ts';
import {
  type BackupRequest,
  backupSteps,
  decideBackup,
  type ShardSources,
  shardSources,
  shardsText,
  slotProblems,
} from '../../plan/backup.ts';
import type { ReportedNode } from '../../plan/topology.ts';
import type { Environment } from '../environment.ts';
import { type Procedure, refusedEnd, type RunEnd } from '../procedure.ts';

/** Each makes its server save: not all at once, so that a machine that several share is not held up. */
const AT_ONCE = 4;
/** So long a replica may take to come as far as its primary was when the backup began. */
const CATCH_UP_MS = 15_000;
const LOOK_AGAIN_MS = 50;

export const BACKUP = 'backup';

export const backupProcedure: Procedure<BackupRequest, BackupRequest> = {
  kind: BACKUP,
  needs: () => ({}),
  decide: decideBackup,
  steps: backupSteps,
  run: runBackup,
};

async function runBackup(goal: BackupRequest, environment: Environment): Promise<RunEnd> {
  const { backups, signal } = environment;
  if (!backups) return refusedEnd('BACKUPS_UNAVAILABLE', 'this operator was started without a place for backups');
  const { store } = backups;
  const present = await store.manifest(goal.name);
  if (present?.by === goal.by) return { outcome: 'done', message: summary(present) };
  if (present) return refusedEnd('BACKUP_EXISTS', `there is a backup ${goal.name} already`, [goal.name]);
  // Whoever was stopped takes no draft away from a successor, and seals nothing: nobody may want it any more.
  signal.throwIfAborted();
  const draft = await store.draft(goal.name);
  try {
    const manifest = await take(goal, environment, { draft, snapshots: backups.snapshots });
    signal.throwIfAborted();
    if ('format' in manifest) await draft.seal(manifest);
    else await draft.discard();
    return 'format' in manifest ? { outcome: 'done', message: summary(manifest) } : manifest;
  } catch (error) {
    await draft.discard().catch(() => undefined); // the first error says more
    // Somebody else may have come to the end of the very same one: a predecessor that did not know of its end.
    const sealed = await store.manifest(goal.name);
    if (sealed?.by === goal.by) return { outcome: 'done', message: summary(sealed) };
    throw error;
  }
}

interface Means {
  readonly draft: BackupDraft;
  readonly snapshots: SnapshotSource;
}

async function take(goal: BackupRequest, environment: Environment, means: Means): Promise<BackupManifest | RunEnd> {
  const { clock } = environment.ports;
  const startedAt = new Date(clock.now()).toISOString();
  const before = await look(environment);
  const refused = slotProblems(before);
  if (refused.length > 0) return { outcome: 'refused', refused };
  const sources = shardSources(before);
  const shards: BackupShard[] = [];
  for (let from = 0; from < sources.length; from += AT_ONCE) {
    const some = sources.slice(from, from + AT_ONCE);
    const taken = await Promise.all(some.map((shard, at) => takeShard(from + at, shard, environment, means)));
    shards.push(...taken);
    report(environment, shards.length, sources.length, 'shards');
  }
  const after = await look(environment);
  if (shardsText(after) !== shardsText(before) || slotProblems(after).length > 0) {
    const message = 'slots moved while snapshots were taken: a key may be in two of them, or in none';
    return { outcome: 'failed', code: 'BACKUP_OVERTAKEN', message };
  }
  return {
    format: 1,
    name: goal.name,
    by: goal.by,
    startedAt,
    endedAt: new Date(clock.now()).toISOString(),
    server: serverText(before),
    shards,
    users: goal.users,
  };
}

async function takeShard(
  index: number,
  shard: ShardSources,
  environment: Environment,
  { draft, snapshots }: Means,
): Promise<BackupShard> {
  const source = await choose(shard, environment);
  const file = `shard-${index}.rdb`;
  const hash = createHash('sha256');
  let bytes = 0;
  const measured = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of snapshots.snapshot(source.endpoint, environment.signal)) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await draft.write(file, measured());
  // Read back from where it lies: what cannot be read now will not be readable when it is needed.
  let keys = 0;
  let rdbVersion = 0;
  for await (const item of walkSnapshot(draft.read(file))) {
    environment.signal.throwIfAborted();
    if (item.item === 'header') rdbVersion = item.version;
    else if (item.item === 'key' && hasSlot(shard.slots, slotOfKey(item.key))) keys++;
  }
  const { role } = source.report.value.replication;
  const sha256 = hash.digest('hex');
  return { file, slots: formatSlots(shard.slots), node: source.id, role, rdbVersion, keys, bytes, sha256 };
}

/** A replica, if one comes as far as the primary was: then all that was acknowledged before is in it. Else the primary itself. */
async function choose({ primary, replicas }: ShardSources, environment: Environment): Promise<ReportedNode> {
  const { clock } = environment.ports;
  const offset = primary.report.value.replication.offset;
  const end = clock.now() + CATCH_UP_MS;
  for (const replica of replicas) {
    while (clock.now() < end) {
      const [reply] = await environment.redis.reads(replica.endpoint, [['INFO', 'replication']]);
      const fields = parseInfo(String(reply ?? ''));
      if (fields.master_link_status !== 'up') break;
      if (numberOf(fields, 'slave_repl_offset') >= offset) return replica;
      await clock.sleep(LOOK_AGAIN_MS, environment.signal);
    }
  }
  return primary;
}

function look(environment: Environment): Promise<ClusterView> {
  return observeCluster(environment.redis, environment.ports, environment.seeds, {});
}

function serverText(view: ClusterView): string {
  const servers = shardSources(view).flatMap(({ primary, replicas }) =>
    [primary, ...replicas].map(({ report: { value } }) => `${value.server.product} ${value.server.version}`),
  );
  return [...new Set(servers)].sort().join(', ');
}

function summary({ shards }: BackupManifest): string {
  const sum = (part: 'keys' | 'bytes') => shards.reduce((total, shard) => total + shard[part], 0);
  return `${shards.length} shards, ${sum('keys')} keys, ${sum('bytes')} bytes`;
}

export function report({ report: tell }: Environment, done: number, total: number, unit: string): void {
  tell?.({ event: 'progress', number: 1, done, total, unit });
}
