/**
 * Keys outside their slots, as a condition. Only a task that counts them finds them, so that no later look says that they are gone:
 * what one found stands until another one finds none, or a fix moved them and none are counted anywhere. Pure.
 */
import type { DeepReadonly, NewCondition } from '@reeve/runtime';
import type { RedisClusterStatus } from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';
import type { ClusterView, NodeView } from '../api/view.ts';
import { members, roleOf } from './topology.ts';

export const STRAY_KEYS = 'StrayKeys';
const CODE = 'KEYS_OUTSIDE_SLOT';
const MOST_TEXT = 2_000;

/** Of a check that counted them: what it found, and whether it could count everywhere. */
export interface StrayLook {
  readonly found: readonly Finding[];
  readonly isWhole: boolean;
}

export function strayLook(findings: readonly Finding[]): StrayLook {
  const about = findings.filter(({ code }) => code === CODE);
  const found = about.filter(({ severity }) => severity !== 'info');
  return { found, isWhole: found.length === about.length };
}

/**
 * After a fix, which moves them: whether any are left, by counting (`keysBeyondSlots`). That a fix is done does not say so: it goes on
 * without those that it cannot read. What is left was found before, and stands.
 */
export function straysLeft(view: ClusterView): StrayLook {
  const isCounted = (node: NodeView) => {
    const beyond = node.report.known ? node.report.value.keysBeyondSlots : node.report;
    return beyond.known && beyond.value === 0;
  };
  return { found: [], isWhole: members(view).every((node) => roleOf(node) === 'replica' || isCounted(node)) };
}

export function areStraysSaid(conditions: DeepReadonly<RedisClusterStatus>['conditions']): boolean {
  return conditions?.some(({ type, status }) => type === STRAY_KEYS && status === 'True') ?? false;
}

/** As they are counted: what was not looked for is no finding, and what a check counted is one while it stands. */
export function countedFindings(
  findings: readonly Finding[],
  after: RedisClusterStatus['conditions'],
): readonly Pick<Finding, 'code' | 'severity'>[] {
  const looked = findings.filter(({ code, severity }) => !(code === CODE && severity === 'info'));
  const isCounted = looked.some(({ code }) => code === CODE) || !areStraysSaid(after);
  return isCounted ? looked : [...looked, { code: CODE, severity: 'broken' }];
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
  return areStraysSaid(before) && look.isWhole
    ? [{ type: STRAY_KEYS, status: 'False', reason: 'NotFound', message: '' }]
    : [];
}
