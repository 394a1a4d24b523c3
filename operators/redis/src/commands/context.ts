import type { Clock, Random } from '@reeve/runtime';
import type { RedisPort } from '../api/port.ts';
import { Turns } from './turns.ts';

/** What a handler may touch. */
export interface RedisContext {
  readonly redis: RedisPort;
  readonly clock: Clock;
  readonly random: Random;
  /** Of all commands that run with this context. */
  readonly turns: Turns;
}

export function redisContext(
  redis: RedisPort,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): RedisContext {
  return { redis, clock, random, turns: new Turns() };
}
