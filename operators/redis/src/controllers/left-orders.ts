/**
 * Orders that nobody here waits for: a manager died, and since then the cluster was paused, or the agents are to leave its pods. Whatever
 * they are about, its plan is no more, and no operation comes that would take them back first.
 */
import { Cancelled, type MemberOrders, type Waiting } from '@reeve/runtime';
import { type Enrolled, refOf } from './roster.ts';

/** Called in each turn in which nothing runs here. What is not taken back yet is told, and nothing may begin before it is. */
export type TakeBackOrders = (isPaused: boolean) => readonly Waiting[];

interface Sweep {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  isOver: boolean;
}

export class LeftOrders implements AsyncDisposable {
  readonly #orders: Pick<MemberOrders, 'sweep'>;
  readonly #wake: (cluster: string) => void;
  /** By cluster. A sweep goes on beside the turns: an agent that is lost answers when it is back. */
  readonly #sweeps = new Map<string, Sweep>();

  constructor(orders: Pick<MemberOrders, 'sweep'>, wake: (cluster: string) => void) {
    this.#orders = orders;
    this.#wake = wake;
  }

  /** What the cache shows is enough to begin again, and never enough to be done: the first time every member is read live. */
  takeBack(cluster: string, roster: readonly Enrolled[]): readonly Waiting[] {
    if (roster.length === 0) return [];
    const open = roster.filter(({ openOrders }) => openOrders > 0);
    const before = this.#sweeps.get(cluster);
    if (!before || (before.isOver && open.length > 0)) this.#begin(cluster, before ? open : roster);
    if (this.#sweeps.get(cluster)?.isOver) return [];
    const names = open.map(({ name }) => name);
    const message = `orders of an earlier manager are taken back${names.length > 0 ? `: ${names.slice(0, 5).join(', ')}` : ''}`;
    return [{ reason: 'OrdersOpen', message, subjects: names.slice(0, 16) }];
  }

  /** Orders are given again, and are those of somebody who waits for them. */
  forget(cluster: string): void {
    const sweep = this.#sweeps.get(cluster);
    this.#sweeps.delete(cluster);
    sweep?.stop.abort(new Cancelled('shutdown', cluster));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#sweeps];
    for (const [cluster] of all) this.forget(cluster);
    await Promise.all(all.map(([, { ended }]) => ended));
  }

  #begin(cluster: string, roster: readonly Enrolled[]): void {
    const stop = new AbortController();
    const sweep: Sweep = { stop, isOver: false, ended: Promise.resolve() };
    this.#sweeps.set(cluster, sweep);
    const each = roster.map((one) => this.#orders.sweep(refOf(one), () => false, stop.signal));
    const ended = Promise.allSettled(each).then((ends) => {
      sweep.isOver = ends.every(({ status }) => status === 'fulfilled');
      if (sweep.isOver) this.#wake(cluster);
      // What failed is begun anew by the next turn.
      else if (this.#sweeps.get(cluster) === sweep) this.#sweeps.delete(cluster);
    });
    Object.assign(sweep, { ended });
  }
}
