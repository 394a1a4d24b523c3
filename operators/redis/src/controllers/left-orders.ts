/**
 * Orders that nobody here waits for: a manager died, and since then the cluster was paused, or the agents are to leave its pods. Whatever
 * they are about, its plan is no more, and no operation comes that would take them back first.
 */
import { Cancelled, type MemberOrders, type Waiting } from '@reeve/runtime';
import { type Enrolled, refOf } from './roster.ts';

/** Called in each turn in which nothing runs here. What is not taken back yet is told, and nothing may begin before it is. */
export type TakeBackOrders = (isPaused: boolean) => readonly Waiting[];

/** A cluster, and not one of the same name that was there before it. */
export interface ClusterRef {
  readonly key: string;
  readonly uid: string;
}

/** Whether an agent cannot be at anything any more, from what the server has at this moment. */
export type IsGone = (one: Enrolled, signal: AbortSignal) => Promise<boolean>;

interface Sweep {
  /** Of the cluster. */
  readonly uid: string;
  /** By the uid of the member: those whose agents have not answered yet. */
  readonly open: Map<string, AbortController>;
  /** Those that cannot answer any more. */
  readonly left: Set<string>;
  ended: Promise<void>;
  /** While it is looked whether somebody is gone. */
  asking: Promise<void> | undefined;
  isOver: boolean;
}

export class LeftOrders implements AsyncDisposable {
  readonly #orders: Pick<MemberOrders, 'sweep' | 'abandon'>;
  readonly #wake: (cluster: string) => void;
  /** By cluster. A sweep goes on beside the turns: an agent that is lost answers when it is back. */
  readonly #sweeps = new Map<string, Sweep>();

  constructor(orders: Pick<MemberOrders, 'sweep' | 'abandon'>, wake: (cluster: string) => void) {
    this.#orders = orders;
    this.#wake = wake;
  }

  /**
   * What the cache shows is enough to begin again, and never enough to be done: the first time every member is read live.
   * @param isGone of agents that are to leave: whoever has died with an order is not waited for. Default: everybody is.
   */
  takeBack({ key, uid }: ClusterRef, roster: readonly Enrolled[], isGone?: IsGone): readonly Waiting[] {
    if (this.#sweeps.get(key)?.uid !== uid) this.forget(key);
    if (roster.length === 0) return [];
    const open = roster.filter(({ openOrders }) => openOrders > 0);
    const before = this.#sweeps.get(key);
    const isDue = !before || (before.isOver && open.length > 0);
    const sweep = isDue ? this.#begin({ key, uid }, before ? open : roster) : before;
    if (sweep.isOver) return [];
    if (isGone) this.#leaveDead(sweep, open, isGone);
    const names = open.map(({ name }) => name);
    const message = `orders of an earlier manager are taken back${names.length > 0 ? `: ${names.slice(0, 5).join(', ')}` : ''}`;
    return [{ reason: 'OrdersOpen', message, subjects: names.slice(0, 16) }];
  }

  /** Orders are given again, and are those of somebody who waits for them; or the cluster is gone. */
  forget(cluster: string): void {
    const sweep = this.#sweeps.get(cluster);
    this.#sweeps.delete(cluster);
    for (const waiting of sweep?.open.values() ?? []) waiting.abort(new Cancelled('shutdown', cluster));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#sweeps];
    for (const [cluster] of all) this.forget(cluster);
    await Promise.all(all.flatMap(([, { ended, asking }]) => [ended, asking ?? Promise.resolve()]));
  }

  #begin({ key, uid }: ClusterRef, roster: readonly Enrolled[]): Sweep {
    const sweep: Sweep = {
      uid,
      open: new Map(roster.map((one) => [one.uid, new AbortController()])),
      left: new Set(),
      ended: Promise.resolve(),
      asking: undefined,
      isOver: false,
    };
    this.#sweeps.set(key, sweep);
    sweep.ended = Promise.allSettled(roster.map((one) => this.#takeBackOf(one, sweep))).then((ends) => {
      sweep.isOver = ends.every(({ status }) => status === 'fulfilled');
      if (sweep.isOver) this.#wake(key);
      // What failed is begun anew by the next turn.
      else if (this.#sweeps.get(key) === sweep) this.#sweeps.delete(key);
    });
    return sweep;
  }

  async #takeBackOf(one: Enrolled, { open, left }: Sweep): Promise<void> {
    const waiting = open.get(one.uid) ?? new AbortController();
    try {
      await this.#orders.sweep(refOf(one), () => false, waiting.signal);
    } catch (error) {
      if (!left.has(one.uid)) throw error;
    } finally {
      open.delete(one.uid);
    }
  }

  /** One look at a time; what fails is looked at again in the next turn. */
  #leaveDead(sweep: Sweep, ordered: readonly Enrolled[], isGone: IsGone): void {
    const silent = ordered.filter(({ uid, presence: { is } }) => sweep.open.has(uid) && is !== 'heard');
    if (sweep.asking || silent.length === 0) return;
    sweep.asking = Promise.allSettled(silent.map((one) => this.#leaveIfDead(sweep, one, isGone))).then(() => {
      sweep.asking = undefined;
    });
  }

  async #leaveIfDead({ open, left }: Sweep, one: Enrolled, isGone: IsGone): Promise<void> {
    const waiting = open.get(one.uid);
    if (!waiting) return;
    const { signal } = waiting;
    if (!(await this.#orders.abandon(refOf(one), () => isGone(one, signal), signal))) return;
    left.add(one.uid);
    waiting.abort(new Cancelled('shutdown', one.name));
  }
}
