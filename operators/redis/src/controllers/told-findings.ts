/**
 * Which findings were told as events: each once for every node that it is about, when it comes. That a kind of finding is there at all is a
 * condition; events say who came to it. What this process remembers of that may be lost: then what the conditions say counts as told.
 */
import type { DeepReadonly } from '@reeve/runtime';
import type { RedisClusterStatus } from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';
import type { NodeId } from '../api/view.ts';
import { conditionType } from '../plan/cluster-status.ts';

export interface FindingNews {
  readonly reason: string;
  readonly note: string;
  /** The first of its nodes of which it was not told yet. */
  readonly node?: NodeId;
}

/** Of one turn: when a zone of hundreds dies, nobody reads hundreds of them. The first of each kind is told all the same. */
export const MOST_NEWS = 8;
const MOST_TEXT = 1_000;

export class ToldFindings {
  /** Code and node. Undefined: nothing was told by this process yet. */
  #told: ReadonlySet<string> | undefined;

  /** What is to be told now: the first of each kind, then others, the worst first. What is told, or too much to be told, is not told again while it stands. */
  news(findings: readonly Finding[], before: DeepReadonly<RedisClusterStatus>['conditions']): readonly FindingNews[] {
    const serious = findings.filter(({ severity }) => severity !== 'info');
    const standing = new Set((before ?? []).filter(({ status }) => status !== 'False').map(({ type }) => type));
    const told = this.#told;
    const isTold = (key: string, code: string) => told?.has(key) ?? standing.has(conditionType(code));
    const fresh = serious.flatMap((finding) => {
      const at = keysOf(finding).findIndex((key) => !isTold(key, finding.code));
      return at < 0 ? [] : [{ finding, node: finding.nodes[at] }];
    });
    this.#told = new Set(serious.flatMap(keysOf));
    const worst = fresh.sort((a, b) => rank(a.finding) - rank(b.finding));
    const codes = new Set<string>();
    const firsts = worst.filter(({ finding: { code } }) => !codes.has(code) && codes.add(code));
    const repeats = worst.filter((one) => !firsts.includes(one));
    const most = Math.max(MOST_NEWS, firsts.length);
    const left = worst.length - most;
    return [...firsts, ...repeats].slice(0, most).map(({ finding, node }, index) => ({
      reason: conditionType(finding.code),
      note:
        finding.message.slice(0, MOST_TEXT) +
        (left > 0 && index === most - 1 ? ` (and ${left} more findings: see the conditions)` : ''),
      ...(node !== undefined && { node }),
    }));
  }
}

function keysOf({ code, nodes }: Finding): readonly string[] {
  return nodes.length === 0 ? [code] : nodes.map((node) => `${code} ${node}`);
}

function rank({ severity }: Finding): number {
  return severity === 'broken' ? 0 : 1;
}
