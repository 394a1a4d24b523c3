/** Which of a cluster's wishes is begun: the first that has settled, that its operation allows, and that a person approved if one must. */
import { type BackoffOptions, backoffMs, canonicalJson, digest, type Refusal, type Waiting } from '@reeve/runtime';
import type { OperationWish, RestartWish, Wish } from '../plan/next.ts';
import type { Environment } from './environment.ts';
import { decidableOfKind } from './operations.ts';
import { type Proposal, propose } from './run.ts';

export interface Choice {
  readonly begin?: { readonly wish: OperationWish; readonly proposal: Proposal<unknown> };
  readonly restart?: RestartWish;
  readonly refused: readonly Refusal[];
  readonly waitingFor: readonly Waiting[];
  /** What waits for a person's word. */
  readonly proposed?: Proposal<unknown>;
  readonly wakeAt?: number;
}

/** Each proposal looks at the whole cluster: of many wishes of one kind the next turn tries others, too, once these are done. */
const MOST_TRIES = 3;
/** What failed is tried again ever more seldom. */
const backoff: BackoffOptions = { baseMs: 5_000, factor: 2, capMs: 300_000, jitter: 0.2 };

/** How long each wish has been there, and how often its kind failed, in this process: one that is restarted begins anew, and that is all. */
export class Settling {
  #since = new Map<string, number>();
  readonly #failed = new Map<string, { readonly times: number; readonly at: number }>();

  /** When a wish may be acted on. What is not wished any more is forgotten. */
  times(wishes: readonly Wish[], now: number): readonly number[] {
    const names = wishes.map(nameOf);
    const since = new Map(names.map((name) => [name, this.#since.get(name) ?? now]));
    this.#since = since;
    return wishes.map(({ settleMs }, index) => (since.get(names[index] ?? '') ?? now) + settleMs);
  }

  ended(kind: string, isDone: boolean, now: number): void {
    if (isDone) this.#failed.delete(kind);
    else this.#failed.set(kind, { times: (this.#failed.get(kind)?.times ?? 0) + 1, at: now });
  }

  /** A kind that failed is left alone until then; others go on meanwhile. */
  notBefore(wish: Wish): number {
    const failed = wish.what === 'operation' ? this.#failed.get(wish.kind) : undefined;
    return failed ? failed.at + backoffMs(failed.times, backoff, 0) : Number.NEGATIVE_INFINITY;
  }
}

function nameOf(wish: Wish): string {
  // What a fix is about changes with every look while a cluster settles; that there is something to fix does not.
  if (wish.what === 'restart') return `restart ${wish.pod.uid}`;
  return digest({ kind: wish.kind, request: wish.request });
}

export interface ChooseOptions {
  readonly wishes: readonly Wish[];
  readonly settling: Settling;
  /** The digest that a person approved, if one did. */
  readonly approved: string | undefined;
  readonly environment: Environment;
}

export async function choose({ wishes, settling, approved, environment }: ChooseOptions): Promise<Choice> {
  const now = environment.ports.clock.now();
  const times = settling.times(wishes, now);
  const refused: Refusal[] = [];
  let proposed: Proposal<unknown> | undefined;
  const result = (more: Partial<Choice> = {}): Choice => ({
    refused,
    waitingFor: proposed ? [approvalWait(proposed)] : [],
    ...(proposed && { proposed }),
    ...more,
  });
  const tries = new Map<string, number>();
  let wakeAt: number | undefined;
  for (const [index, wish] of wishes.entries()) {
    const at = times[index] ?? now;
    const notBefore = settling.notBefore(wish);
    if (notBefore > now) {
      wakeAt = Math.min(wakeAt ?? notBefore, notBefore);
      continue;
    }
    // What is less urgent does not go first: it might rest on what is about to be mended.
    if (at > now) return result({ wakeAt: at, waitingFor: [...result().waitingFor, settlingWait(wish)] });
    if (wish.what === 'restart') return result({ restart: wish });
    const operation = decidableOfKind(wish.kind);
    const tried = tries.get(wish.kind) ?? 0;
    tries.set(wish.kind, tried + 1);
    if (!operation || tried >= MOST_TRIES) continue;
    const proposal = await propose(operation, wish.request, environment);
    if ('refused' in proposal) {
      refused.push(
        ...proposal.refused.filter((one) => !refused.some((other) => canonicalJson(other) === canonicalJson(one))),
      );
      continue;
    }
    if (proposal.decided.nothingToDo) continue;
    if (wish.needsApproval && approved !== proposal.digest) {
      proposed ??= proposal;
      continue;
    }
    return result({ begin: { wish, proposal } });
  }
  return result(wakeAt === undefined ? {} : { wakeAt });
}

function settlingWait({ why }: Wish): Waiting {
  return { reason: 'Settling', message: `whether it stays so: ${why}`, subjects: [] };
}

function approvalWait({ kind, digest: named }: Proposal<unknown>): Waiting {
  const message = `a person’s approval of ${kind} (reeve redis ${kind} NAME): annotate the cluster with redis.reeve.dev/approve=${named}`;
  return { reason: 'Approval', message, subjects: [named] };
}
