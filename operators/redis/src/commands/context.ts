import type { Clock, Random } from '@reeve/runtime';
import type { RedisPort } from '../api/port.ts';

/** What a handler may touch. */
export interface RedisContext {
  readonly redis: RedisPort;
  readonly clock: Clock;
  readonly random: Random;
}
