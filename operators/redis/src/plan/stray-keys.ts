/**
 * Keys outside their slots, as a condition. Only a task that looks at every key finds them, so that no later look says that they are gone:
 * what one found stands until another one, or a fix, which moves them, finds none. Pure.
 */
import type { NewCondition } from '@reeve/runtime';
import type { RedisClusterStatus } from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';

export const STRAY_KEYS = 'StrayKeys';
const MOST_TEXT = 2_000;

/** Of a check that looked at every key: what it found of such keys, and whether it could look everywhere. */
export interface StrayLook {
  readonly found: readonly Finding[];
  readonly isWhole: boolean;
}

export const noStrays: StrayLook = { found: [], isWhole: true };

export function strayLook(findings: readonly Finding[]): StrayLook {
  const about = findings.filter(({ code }) => code === 'KEYS_OUTSIDE_SLOT');
  const found = about.filter(({ severity }) => severity !== 'info');
  return { found, isWhole: found.length === about.length };
}

/** @param look undefined: nobody looked, and what was said stands. */
export function strayConditions(
  before: RedisClusterStatus['conditions'],
  look: StrayLook | undefined,
): readonly NewCondition[] {
  if (!look) return [];
  if (look.found.length > 0) {
    const message = look.found.map((finding) => `${finding.message}. ${finding.remedy}`).join(' ');
    return [{ type: STRAY_KEYS, status: 'True', reason: 'Found', message: message.slice(0, MOST_TEXT) }];
  }
  const wasSaid = before?.some(({ type, status }) => type === STRAY_KEYS && status === 'True') ?? false;
  return wasSaid && look.isWhole ? [{ type: STRAY_KEYS, status: 'False', reason: 'NotFound', message: '' }] : [];
}
