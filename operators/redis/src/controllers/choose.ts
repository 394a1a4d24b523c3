/** Which of a cluster's wishes is begun: the first that has settled, that its operation allows, and that a person approved if one must. */
import {
  type BackoffOptions,
  backoffMs,
  canonicalJson,
  digest,
  type Refusal,
  timestamp,
  type Waiting,
} from '@reeve/runtime';
import type { Choosing } from '../plan/setbacks.ts';
import type { OperationWish, RestartWish, Wish } from '../plan/next.ts';
import type { Environment } from './environment.ts';
import { decidableOfKind } from './operations.ts';
import { type Proposal, propose } from './run.ts';

export interface Choice {
  /** `approval`: the digest that a person approved, which is used up by it. */
  readonly begin?: { readonly wish: OperationWish; readonly proposal: Proposal<unknown>; readonly approval?: string };
  readonly restart?: RestartWish;
  readonly refused: readonly Refusal[];
  /** The kinds of operations that were asked, and what each refused. */
  readonly asked: Choosing['asked'];
  readonly waitingFor: readonly Waiting[];
  /** What waits for a person's word. */
  readonly proposed?: Proposal<unknown>;
  /** Something settles, and may be begun then. Whatever is less urgent, tasks too, waits for that. */
  readonly settlesAt?: number;
  /** Something failed, and is tried again then. Nobody waits for that. */
  readonly triesAt?: number;
}

/** Each proposal looks at the whole cluster: of many wishes of one kind the next turn tries others, too, once these are done. */
const MOST_TRIES = 3;
/** What is in an annotation is anybody's text. */
const MOST_DIGEST = 64;
/** What failed is tried again ever more seldom. */
const backoff: BackoffOptions = { baseMs: 5_000, factor: 2, capMs: 300_000, jitter: 0.2 };

/** How long each wish has been there, and how often its kind failed, in this process: one that is restarted begins anew, and that is all. */
export class Settling {
  #since = new Map<string, number>();
  readonly #failed = new Map<string, { readonly times: number; readonly at: number; readonly code: string }>();

  /** When a wish may be acted on. What is not wished any more is forgotten. */
  times(wishes: readonly Wish[], now: number): readonly number[] {
    const names = wishes.map(nameOf);
    const since = new Map(names.map((name) => [name, this.#since.get(name) ?? now]));
    this.#since = since;
    return wishes.map(({ settleMs }, index) => (since.get(names[index] ?? '') ?? now) + settleMs);
  }

  /** @param failed with which code; undefined: it was done. */
  ended(kind: string, failed: string | undefined, now: number): void {
    if (failed === undefined) this.#failed.delete(kind);
    else this.#failed.set(kind, { times: (this.#failed.get(kind)?.times ?? 0) + 1, at: now, code: failed });
  }

  /** Of a kind that failed: until when it is left alone, and why. Others go on meanwhile. */
  backsOff(wish: Wish, now: number): { readonly until: number; readonly code: string } | undefined {
    const failed = wish.what === 'operation' ? this.#failed.get(wish.kind) : undefined;
    if (!failed) return undefined;
    const until = failed.at + backoffMs(failed.times, backoff, 0);
    return until > now ? { until, code: failed.code } : undefined;
  }
}

function nameOf(wish: Wish): string {
  // What a fix is about changes with every look while a cluster settles; that there is something to fix does not.
  if (wish.what === 'restart') return `restart ${wish.pod.uid}`;
  return digest({ kind: wish.kind, request: wish.request });
}

export interface Approvals {
  /** The digest that a person approved, if one did. */
  readonly given: string | undefined;
  /** How many were used up before, and those of them that are still known. */
  readonly taken: number;
  readonly used: readonly string[];
}

/** Of what is not for a person to approve. */
export const NO_APPROVAL: Approvals = { given: undefined, taken: 0, used: [] };

export interface ChooseOptions {
  readonly wishes: readonly Wish[];
  readonly settling: Settling;
  readonly approval: Approvals;
  readonly environment: Environment;
}

export async function choose({ wishes, settling, approval, environment }: ChooseOptions): Promise<Choice> {
  const now = environment.ports.clock.now();
  const times = settling.times(wishes, now);
  const asked = new Map<string, readonly Refusal[]>();
  const backingOff = new Map<string, Waiting>();
  let proposed: Proposal<unknown> | undefined;
  let isStale = false;
  let triesAt: number | undefined;
  const result = (more: Partial<Choice> = {}): Choice => {
    // Whoever approved something that is not asked any more is told: else they would wait for it.
    if (proposed && isStale && !more.begin?.approval) {
      asked.set(proposed.kind, [...(asked.get(proposed.kind) ?? []), staleApproval(proposed, approval.given)]);
    }
    return {
      refused: distinct([...asked.values()].flat()),
      asked,
      ...(proposed && { proposed }),
      ...(triesAt !== undefined && { triesAt }),
      ...more,
      waitingFor: [...(proposed ? [approvalWait(proposed)] : []), ...backingOff.values(), ...(more.waitingFor ?? [])],
    };
  };
  const tries = new Map<string, number>();
  for (const [index, wish] of wishes.entries()) {
    const at = times[index] ?? now;
    const pause = settling.backsOff(wish, now);
    if (pause && wish.what === 'operation') {
      triesAt = Math.min(triesAt ?? pause.until, pause.until);
      if (!backingOff.has(wish.kind)) backingOff.set(wish.kind, backingOffWait(wish, pause));
      continue;
    }
    // What is less urgent does not go first: it might rest on what is about to be mended.
    if (at > now) return result({ settlesAt: at, waitingFor: [settlingWait(wish)] });
    if (wish.what === 'restart') return result({ restart: wish });
    const operation = decidableOfKind(wish.kind);
    const tried = tries.get(wish.kind) ?? 0;
    tries.set(wish.kind, tried + 1);
    if (!operation || tried >= MOST_TRIES) continue;
    const proposal = await propose(operation, wish.request, environment);
    const before = asked.get(wish.kind) ?? [];
    asked.set(wish.kind, 'refused' in proposal ? distinct([...before, ...proposal.refused]) : before);
    if ('refused' in proposal) continue;
    if (proposal.decided.nothingToDo) continue;
    if (!wish.needsApproval) return result({ begin: { wish, proposal } });
    const named = { ...proposal, digest: occasionDigest(proposal.digest, approval.taken) };
    if (approval.given === named.digest) return result({ begin: { wish, proposal: named, approval: named.digest } });
    if (!proposed) isStale = isStaleApproval(approval, proposal.digest);
    proposed ??= named;
  }
  return result();
}

/** What was used up is left in the annotation, and is nobody's mistake: known by the operation that it began, or as this plan's of an earlier occasion. */
function isStaleApproval({ given, taken, used }: Approvals, plan: string): boolean {
  if (given === undefined || given === '' || used.includes(given)) return false;
  return !Array.from({ length: taken }, (_, earlier) => occasionDigest(plan, earlier)).includes(given);
}

function staleApproval({ kind, digest: named }: Proposal<unknown>, given = ''): Refusal {
  const message = `what was approved (${given.slice(0, MOST_DIGEST)}) is not the plan of now (${named}): ${kind} was not begun`;
  return { code: 'PLAN_STALE', message, subjects: [] };
}

function distinct(refused: readonly Refusal[]): readonly Refusal[] {
  return [...new Map(refused.map((one) => [canonicalJson(one), one])).values()];
}

/**
 * By what name a plan is approved. Another one on each occasion: when an approval was used up, the same plan has another name, and what is
 * left in the annotation is that of none.
 */
function occasionDigest(plan: string, taken: number): string {
  return digest({ plan, taken });
}

function settlingWait({ why }: Wish): Waiting {
  return { reason: 'Settling', message: `whether it stays so: ${why}`, subjects: [] };
}

/** With the time itself, not how long it is until then: a status that says the same is not written again. */
function backingOffWait(
  { kind, why }: OperationWish,
  { until, code }: { readonly until: number; readonly code: string },
): Waiting {
  const message = `${kind} failed with ${code} and is tried again at ${timestamp(until)}: ${why}`;
  return { reason: 'BackingOff', message, subjects: [kind, code] };
}

function approvalWait({ kind, digest: named }: Proposal<unknown>): Waiting {
  const message = `a person’s approval of ${kind} (reeve redis ${kind} NAME): annotate the cluster with redis.reeve.dev/approve=${named}`;
  return { reason: 'Approval', message, subjects: [named] };
}
