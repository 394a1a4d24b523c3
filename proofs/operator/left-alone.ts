/** What the operator leaves alone: it looks again, later, and has begun nothing. */
import assert from 'node:assert/strict';
import type { RedisClusterStatus } from '@reeve/redis';
import { until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import type { Stage } from './stage.ts';

/** Longer than any wish settles: whoever is about to act has acted by then. */
const LATER_MS = 25_000;

/** What it has begun last. */
export async function lastBegun({ site, subject }: Stage): Promise<string | undefined> {
  return begunIn(await site.status(subject.name));
}

function begunIn({ currentOperation, operations = [] }: RedisClusterStatus): string | undefined {
  return currentOperation?.id ?? operations[0]?.id;
}

/**
 * Until it has looked at the cluster at a time well after now, which it says once a minute at least.
 * @param before what it had begun last when there was nothing to be left alone yet
 */
export async function leftAlone({ site, subject }: Stage, before: string | undefined): Promise<RedisClusterStatus> {
  const later = Date.now() + LATER_MS;
  const status = await until(
    'the operator has looked again',
    async () => {
      const now = await site.status(subject.name);
      return (begunIn(now) !== before || Date.parse(now.observedAt ?? '') >= later) && now;
    },
    { timeoutMs: PATIENCE_MS, everyMs: 500 },
  );
  const { currentOperation, operations = [] } = status;
  assert.equal(begunIn(status), before, `it has begun ${JSON.stringify(currentOperation ?? operations[0])}`);
  return status;
}
