/** The images that there are, besides `host` and `reeve`. */
import { cassandra } from './cassandra.ts';
import { elassandra } from './elassandra.ts';
import type { Entry } from './entry.ts';
import { postgres } from './postgres.ts';
import { redis, valkey } from './redis-like.ts';

export const catalogEntries: readonly Entry[] = [valkey, redis, cassandra, elassandra, postgres];
