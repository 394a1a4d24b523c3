/**
 * Brings keys into a cluster, each to who owns its slot, many at a time. A key that is there already is left alone: it is one that was
 * brought before a crash, or newer than what is brought.
 */
import { ReeveError } from '@reeve/runtime';
import type { Endpoint } from '../../api/view.ts';
import { formatEndpoint } from '../../api/view.ts';
import { RedisReplyError } from '../../api/port.ts';
import { slotOfKey } from '../../api/crc16.ts';
import { dumpOf, type SnapshotKey } from '../../client/rdb/walk.ts';
import type { Environment } from '../environment.ts';

export interface Loaded {
  restored: number;
  present: number;
  expired: number;
}

const MOST_KEYS = 256;
const MOST_BYTES = 1024 * 1024;
/** A value may be half a gigabyte. */
const CALL_MS = 60_000;
/** A failover, or a restart, and then it goes on. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 250;
/** The slot is elsewhere, or will be, or its owner is not ready. */
const PASSING = new Set(['MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'READONLY', 'LOADING', 'MASTERDOWN']);
const CONNECTION = new Set(['REDIS_UNREACHABLE', 'REDIS_TIMEOUT', 'REDIS_CONNECTION_LOST']);

/** Where each slot is now. */
export type FindOwners = () => Promise<readonly (Endpoint | undefined)[]>;

type Outcome = 'restored' | 'present' | 'again';

export class Loader {
  readonly counts: Loaded = { restored: 0, present: 0, expired: 0 };
  readonly #environment: Pick<Environment, 'redis' | 'ports' | 'signal'>;
  /** The version of the format that values are in. */
  readonly #version: number;
  readonly #findOwners: FindOwners;
  #owners: readonly (Endpoint | undefined)[] = [];
  #batch: SnapshotKey[] = [];
  #bytes = 0;

  constructor(environment: Pick<Environment, 'redis' | 'ports' | 'signal'>, version: number, findOwners: FindOwners) {
    this.#environment = environment;
    this.#version = version;
    this.#findOwners = findOwners;
  }

  async add(item: SnapshotKey): Promise<void> {
    if (item.expireAt !== undefined && item.expireAt <= this.#environment.ports.clock.now()) {
      this.counts.expired++;
      return;
    }
    this.#batch.push(item);
    this.#bytes += item.value.length + item.key.length;
    if (this.#batch.length >= MOST_KEYS || this.#bytes >= MOST_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const { clock } = this.#environment.ports;
    let left: readonly SnapshotKey[] = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    let lastError: unknown;
    const end = clock.now() + PATIENCE_MS;
    while (left.length > 0) {
      this.#environment.signal.throwIfAborted();
      if (this.#owners.length === 0) this.#owners = await this.#findOwners();
      const results = await Promise.all(left.map((item) => this.#restore(item, (error) => (lastError = error))));
      left = left.filter((_, index) => results[index] === 'again');
      for (const result of results) if (result !== 'again') this.counts[result]++;
      if (left.length === 0) return;
      if (clock.now() >= end) throw lastError;
      await clock.sleep(PAUSE_MS, this.#environment.signal);
      this.#owners = [];
    }
  }

  async #restore(item: SnapshotKey, onError: (error: unknown) => void): Promise<Outcome> {
    const endpoint = this.#owners[slotOfKey(item.key)];
    if (!endpoint) {
      onError(new ReeveError('RESTORE_FAILED', 'a slot has no owner that answers'));
      return 'again';
    }
    const { redis } = this.#environment;
    const options = { lane: 'bulk', timeoutMs: CALL_MS } as const;
    const words = ['RESTORE', item.key, String(item.expireAt ?? 0), dumpOf(item.value, this.#version), 'ABSTTL'];
    try {
      if (item.database === 0) await redis.call(endpoint, words, options);
      else {
        // Connections stay in database 0: nobody else's call may land elsewhere.
        const select = (database: number) => ['SELECT', String(database)];
        await redis.transaction(endpoint, [select(item.database), words, select(0)], options);
      }
      return 'restored';
    } catch (error) {
      onError(error);
      return outcomeOf(error, endpoint);
    }
  }
}

function outcomeOf(error: unknown, endpoint: Endpoint): Outcome {
  if (error instanceof RedisReplyError) {
    if (error.reply === 'BUSYKEY') return 'present';
    if (PASSING.has(error.reply)) return 'again';
    const where = formatEndpoint(endpoint);
    const code = error.reply === 'OOM' ? 'TARGET_FULL' : 'RESTORE_UNREADABLE';
    throw new ReeveError(code, `${where} did not take a key: ${error.message}`, { subjects: [where] });
  }
  if (error instanceof ReeveError && CONNECTION.has(error.code)) return 'again';
  throw error;
}
