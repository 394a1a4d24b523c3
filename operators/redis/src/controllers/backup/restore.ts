/**
 * Puts a backup into a new cluster, through its own commands: so it may have another number of primaries, and other slots, than the one
 * that was backed up. All files are proved whole before the first key is brought. Run again it brings what is not there yet; so it does
 * itself with slots that another server leads in the end than at first, which may not have what the first one had answered.
 */
import { createHash } from 'node:crypto';
import { asReeveError } from '@reeve/runtime';
import type { BackupManifest, BackupShard, BackupStore } from '../../api/backup.ts';
import { slotOfKey } from '../../api/crc16.ts';
import { hasSlot, parseSlots } from '../../api/slots.ts';
import { walkSnapshot } from '../../client/rdb/walk.ts';
import { observeCluster } from '../../observe/observe.ts';
import {
  decideRestore,
  manifestProblem,
  type RestoreRequest,
  restoreSteps,
  shardSources,
  slotAddresses,
} from '../../plan/backup.ts';
import type { Environment } from '../environment.ts';
import { type Procedure, refusedEnd, type RunEnd } from '../procedure.ts';
import { report } from './backup.ts';
import { leadersNow, leadersOnceReplicated } from './leaders.ts';
import { type Loaded, Loader } from './loader.ts';

const REPORT_EVERY = 1_000;
/** One failover after the other is no cluster to bring anything into. */
const MOST_PASSES = 5;

export const restoreProcedure: Procedure<RestoreRequest, RestoreRequest> = {
  kind: 'restore',
  needs: () => ({}),
  decide: decideRestore,
  steps: restoreSteps,
  run: runRestore,
};

async function runRestore(goal: RestoreRequest, environment: Environment): Promise<RunEnd> {
  const { backups } = environment;
  if (!backups) return refusedEnd('BACKUPS_UNAVAILABLE', 'this operator was started without a place for backups');
  const { store } = backups;
  const manifest = await store.manifest(goal.name);
  if (!manifest) return refusedEnd('BACKUP_UNKNOWN', `there is no backup ${goal.name}`, [goal.name]);
  const problem = manifestProblem(manifest) ?? (await fileProblem(store, manifest, environment.signal));
  if (problem !== undefined) return refusedEnd('BACKUP_DAMAGED', `backup ${goal.name}: ${problem}`, [goal.name]);
  const progress = new Progress(environment, manifest);
  let isWanted = (_slot: number): boolean => true;
  let before = await leadersNow(environment);
  for (let pass = 1; pass <= MOST_PASSES; pass++) {
    // Every file, also if few slots are wanted: each brings its libraries.
    for (const shard of manifest.shards) {
      await loadShard(store, manifest, shard, environment, { isWanted, progress });
    }
    const [led, leads] = [before, await leadersOnceReplicated(environment)];
    if (leads.every((leader, slot) => leader === led[slot])) return { outcome: 'done', message: progress.summary() };
    isWanted = (slot) => leads[slot] !== led[slot];
    before = leads;
    progress.beginAgain();
  }
  const message = `other servers led slots after each of ${MOST_PASSES} times that their keys were brought`;
  return { outcome: 'failed', code: 'RESTORE_OVERTAKEN', message };
}

async function fileProblem(
  store: BackupStore,
  { name, shards }: BackupManifest,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const { file, bytes, sha256 } of shards) {
    const hash = createHash('sha256');
    let length = 0;
    try {
      for await (const chunk of store.read(name, file)) {
        signal.throwIfAborted();
        hash.update(chunk);
        length += chunk.length;
      }
    } catch (error) {
      signal.throwIfAborted();
      return `${file} cannot be read: ${asReeveError(error).message}`;
    }
    if (length !== bytes) return `${file} has ${length} bytes, not ${bytes}`;
    if (hash.digest('hex') !== sha256) return `${file} is not what was written: its checksum is another`;
  }
  return undefined;
}

async function loadShard(
  store: BackupStore,
  { name }: BackupManifest,
  shard: BackupShard,
  environment: Environment,
  { isWanted, progress }: { readonly isWanted: (slot: number) => boolean; readonly progress: Progress },
): Promise<void> {
  const slots = parseSlots(shard.slots) ?? [];
  const { redis, ports, seeds } = environment;
  const owners = async () => slotAddresses(await observeCluster(redis, ports, seeds, {}));
  const loader = new Loader(environment, shard.rdbVersion, owners);
  progress.add(loader.counts);
  for await (const item of walkSnapshot(store.read(name, shard.file))) {
    if (item.item === 'library') await loadLibrary(item.code, environment);
    // A stray key of another shard's slots is an old copy: its owner's file has the one that counts.
    if (item.item !== 'key') continue;
    const slot = slotOfKey(item.key);
    if (!hasSlot(slots, slot) || !isWanted(slot)) continue;
    await loader.add(item);
    progress.tell();
  }
  await loader.flush();
}

/** Libraries belong to every primary. Several files bring the same ones. */
async function loadLibrary(code: Buffer, environment: Environment): Promise<void> {
  const view = await observeCluster(environment.redis, environment.ports, environment.seeds, {});
  for (const { primary } of shardSources(view)) {
    await environment.redis.call(primary.endpoint, ['FUNCTION', 'LOAD', 'REPLACE', code], { lane: 'bulk' });
  }
}

class Progress {
  readonly #environment: Environment;
  readonly #total: number;
  /** The first time: each key is in it once. */
  readonly #counts: Loaded[] = [];
  /** What had to be brought once more is in the first ones already. */
  readonly #again: Loaded[] = [];
  #isAgain = false;
  #steps = 0;

  constructor(environment: Environment, { shards }: BackupManifest) {
    this.#environment = environment;
    this.#total = shards.reduce((sum, { keys }) => sum + keys, 0);
  }

  add(counts: Loaded): void {
    (this.#isAgain ? this.#again : this.#counts).push(counts);
  }

  beginAgain(): void {
    this.#isAgain = true;
  }

  #sum(part: keyof Loaded): number {
    return this.#counts.reduce((sum, counts) => sum + counts[part], 0);
  }

  tell(): void {
    if (this.#steps++ % REPORT_EVERY !== 0) return;
    const done = this.#sum('restored') + this.#sum('present') + this.#sum('expired');
    report(this.#environment, done, this.#total, 'keys');
  }

  summary(): string {
    const [restored, present, expired] = [this.#sum('restored'), this.#sum('present'), this.#sum('expired')];
    const again = this.#again.reduce((sum, counts) => sum + counts.restored, 0);
    const twice = again === 0 ? '' : `; ${again} were lost with their primary and brought again`;
    return `${restored} keys restored, ${present} were there already, ${expired} had ended meanwhile${twice}`;
  }
}
