/** A client that writes all the time and follows redirections, as a cluster client does. */
import type { Incarnation, Process } from '@reeve/simulation';
import type { RedisClusterModel } from '@reeve/simulation/redis';
import { RedisReplyError, type RedisPort } from '../../src/api/port.ts';
import type { Endpoint } from '../../src/api/view.ts';
import type { Ledger } from './ledger.ts';
import { redisOf } from './redis-port.ts';

const PAUSE_MS = 80;
const MOST_REDIRECTIONS = 5;
const CALL = { timeoutMs: 500 };

/** Writes to one key after another. A write that was not answered is tried again later, with another value. */
export function writer(model: RedisClusterModel, ledger: Ledger, seeds: readonly Endpoint[]): Process {
  let last = 0;
  return {
    name: 'writer',
    background: true,
    faults: [],
    async run(life: Incarnation) {
      const redis = redisOf(life, model);
      const keys = ledger.keys;
      for (let turn = 0; ; turn++) {
        const key = keys[Math.floor(life.ports.random.next() * keys.length)];
        const seed = seeds[turn % seeds.length];
        if (key !== undefined && seed) await writeOnce(redis, ledger, seed, key, `v${++last}`);
        await life.ports.clock.sleep(PAUSE_MS * (0.5 + life.ports.random.next()));
      }
    },
  };
}

async function writeOnce(redis: RedisPort, ledger: Ledger, seed: Endpoint, key: string, value: string): Promise<void> {
  ledger.trying(key, value);
  let at = seed;
  let isAsking = false;
  for (let hop = 0; hop < MOST_REDIRECTIONS; hop++) {
    try {
      const asking = isAsking ? redis.call(at, ['ASKING'], CALL) : Promise.resolve('OK');
      const [, reply] = await Promise.all([asking, redis.call(at, ['SET', key, value], CALL)]);
      if (reply === 'OK') ledger.acknowledged(key, value, at);
      return;
    } catch (error) {
      const next = error instanceof RedisReplyError ? redirectionOf(error) : undefined;
      if (!next) return; // down, cut off or not answering: a client would try again, and so does the next turn
      at = next.to;
      isAsking = next.isAsk;
    }
  }
}

function redirectionOf(error: RedisReplyError): { readonly to: Endpoint; readonly isAsk: boolean } | undefined {
  const match = /^(MOVED|ASK) \d+ ([^ ]+):(\d+)$/.exec(error.message);
  if (!match) return undefined;
  return { to: { host: match[2] as string, port: Number(match[3]) }, isAsk: match[1] === 'ASK' };
}
