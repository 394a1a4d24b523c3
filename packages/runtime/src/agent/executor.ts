/**
 * The manager's side of a member: an executor that writes orders into it and reads their results. The same handlers as in this
 * process, run by the agent. An order outlives the manager: started again under the same name it is found, not repeated.
 */
import { type Command, failed, type Handle, type Outcome, type Progress, type Run, stale } from '../command/command.ts';
import type { Executor } from '../command/executor.ts';
import { canonicalJson } from '../digest/digest.ts';
import type { Ids } from '../ports/ports.ts';
import { Newest } from '../resource/newest.ts';
import { type Objects, type Written, written } from '../resource/objects.ts';
import { isNewer } from '../resource/version.ts';
import { Cancelled } from '../worker/cancelled.ts';
import { isEndedResult, type Member, MOST_ORDERS, type Order, type OrderResult } from './member.ts';

export interface MemberRef {
  readonly namespace: string;
  readonly name: string;
  /** Of the pod that is meant: an order for it is void for its successor. */
  readonly podUid?: string;
}

export interface MemberOrdersOptions {
  readonly members: Objects<Member>;
  /** The transition number of the lease by which this process leads: agents refuse what is older than they have seen. */
  lease(): number;
  /** How long an order may take, by the clock of the agent. Default one day: longer work must say so. */
  deadlineSecondsOf?(command: Command): number;
}

/** What waits for the end of an order. */
interface Waiter {
  readonly ref: MemberRef;
  readonly run: Run;
  settle(outcome: Outcome): void;
}

/** Tries of one change against others who write the same member. */
const MOST_TRIES = 8;
const DAY_SECONDS = 86_400;

export class MemberOrders {
  readonly #ids: Ids;
  readonly #options: MemberOrdersOptions;
  readonly #newest = new Newest<Member>();
  readonly #uids = new Map<string, string>();
  readonly #waiters = new Set<Waiter>();
  /** Called with every news of any member. */
  readonly #looks = new Set<() => void>();

  constructor(ports: { readonly ids: Ids }, options: MemberOrdersOptions) {
    this.#ids = ports.ids;
    this.#options = options;
  }

  /** The executor for one member. */
  executor<C extends Command = Command>(ref: MemberRef): Executor<C> {
    return {
      start: (command, signal, run) => this.#start(ref, command, signal, run ?? this.#newRun()),
      withdraw: (id, signal) => this.#withdraw(ref, id, signal),
      release: async (id, signal) => {
        await this.#read(ref, signal); // a write of ours whose answer was lost may be there already
        await this.#change(ref, signal, ({ orders = [] }) => ({ orders: orders.filter((order) => order.id !== id) }));
      },
    };
  }

  /** Withdraws every order of a member that nobody wants any more: of a task that was taken away by force, of another age. */
  async sweep(ref: MemberRef, isWanted: (id: string) => boolean, signal: AbortSignal): Promise<void> {
    const member = await this.#read(ref, signal);
    const executor = this.executor(ref);
    for (const { id } of member?.spec.orders ?? []) {
      if (isWanted(id)) continue;
      await executor.withdraw?.(id, signal);
      await executor.release?.(id, signal);
    }
  }

  /**
   * Takes back the orders of a member whose agent may never answer again. Each is cancelled first: whichever life of the agent comes later
   * does not begin it. `isGone` is asked after that, and must be sure that nothing of an earlier life goes on. Danger: else what it
   * was ordered to do goes on beside whatever is done next. False: it may live, and must answer itself.
   */
  async abandon(ref: MemberRef, isGone: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
    const member = await this.#read(ref, signal);
    if (!member || isReplaced(member, ref)) return true;
    const ids = (member.spec.orders ?? []).map(({ id }) => id);
    for (const id of ids) await this.#cancel(ref, id, signal);
    if (!(await isGone())) return false;
    await this.#change(ref, signal, ({ orders = [] }) => ({ orders: orders.filter(({ id }) => !ids.includes(id)) }));
    return true;
  }

  /** Call with every state of a member that list and watch bring; it is enough to see the last one. */
  told(member: Member): void {
    const { uid = '', resourceVersion } = member.metadata;
    const known = this.#known(member.metadata);
    // Late news of a member that has a successor already.
    if (known && known.metadata.uid !== uid && isNewer(known.metadata.resourceVersion, resourceVersion)) return;
    this.#newest.keep(member);
    this.#uids.set(keyOf(member.metadata), uid);
    for (const waiter of [...this.#waiters]) this.#judge(waiter);
    for (const look of [...this.#looks]) look();
  }

  /** The member is gone, and with it whatever was ordered. */
  gone({ metadata }: Member): void {
    const { name, uid = '' } = metadata;
    const key = keyOf(metadata);
    this.#newest.forget(uid);
    if (this.#uids.get(key) !== uid) return;
    this.#uids.delete(key);
    for (const waiter of [...this.#waiters]) {
      if (keyOf(waiter.ref) === key) waiter.settle(stale(`member ${name} is gone`));
    }
    for (const look of [...this.#looks]) look();
  }

  /** How far an order is, as its agent last wrote it. */
  #progressOf(ref: MemberRef, run: Run): Progress | undefined {
    return resultOf(this.#known(ref), run)?.progress;
  }

  async #start(ref: MemberRef, command: Command, signal: AbortSignal, run: Run): Promise<Outcome | Handle> {
    const { type, ...rest } = command;
    const order: Order = {
      ...run,
      verb: type,
      arguments: rest,
      deadlineSeconds: Math.max(1, Math.ceil(this.#options.deadlineSecondsOf?.(command) ?? DAY_SECONDS)),
      lease: this.#options.lease(),
    };
    let problem: Outcome | undefined;
    try {
      const attempt = await this.#forgetStale(ref, run, signal);
      const member = await this.#change(ref, signal, ({ orders = [] }, now) => {
        problem = refusal(now, ref, order, orders);
        const known = orders.find(({ id }) => id === run.id);
        if (problem || (known && known.attempt >= run.attempt)) return {};
        return { orders: [...orders.filter(({ id }) => id !== run.id), { ...order, attempt }] };
      });
      if (!member) return stale(`there is no member ${ref.name}`);
    } catch (error) {
      // Whether it was written is not known, and need not be: the same run is found when it is asked for again.
      if (signal.aborted) throw error;
      return stale(`member ${ref.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return problem ?? this.#handle(ref, run, signal);
  }

  /**
   * A run that was stale changed nothing and is the same attempt again. But an agent begins an attempt once, so it must have forgotten
   * this one before it can be ordered anew. Returns the attempt to order.
   */
  async #forgetStale(ref: MemberRef, run: Run, signal: AbortSignal): Promise<number> {
    let last: OrderResult | undefined;
    await this.#change(ref, signal, ({ orders = [] }, member) => {
      const order = orders.find(({ id }) => id === run.id);
      const result = resultOf(member, run);
      last = result?.phase === 'Stale' && (!order || order.attempt === result.attempt) ? result : undefined;
      return last ? { orders: orders.filter((one) => one !== order) } : {};
    });
    if (!last) return run.attempt;
    const { attempt } = last;
    await this.#until(signal, () => {
      const member = this.#known(ref);
      return !member || isReplaced(member, ref) || resultOf(member, { id: run.id, attempt }) === undefined;
    });
    return attempt;
  }

  #until(signal: AbortSignal, isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#looks.delete(look);
        signal.removeEventListener('abort', onAbort);
      };
      const look = () => {
        if (!isSo()) return;
        end();
        resolve();
      };
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      this.#looks.add(look);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      look();
    });
  }

  #handle(ref: MemberRef, run: Run, signal: AbortSignal): Handle {
    const settled = new Promise<Outcome>((resolve) => {
      const waiter: Waiter = {
        ref,
        run,
        settle: (outcome) => {
          this.#waiters.delete(waiter);
          signal.removeEventListener('abort', onAbort);
          resolve(outcome);
        },
      };
      const onAbort = () => this.#stop(waiter, signal.reason);
      this.#waiters.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      this.#judge(waiter);
    });
    return { progress: () => this.#progressOf(ref, run), settled };
  }

  /** A manager that ends leaves its orders alone: the next one finds them. Every other reason means that they are not wanted. */
  #stop(waiter: Waiter, reason: unknown): void {
    if (reason instanceof Cancelled && (reason.reason === 'shutdown' || reason.reason === 'lost-lease')) {
      waiter.settle(failed('ORDER_CANCELLED', `nobody waits for order ${waiter.run.id} any more: ${reason.reason}`));
      return;
    }
    this.#cancel(waiter.ref, waiter.run.id, new AbortController().signal).catch((error: unknown) =>
      waiter.settle(failed('ORDER_CANCELLED', `order ${waiter.run.id} could not be cancelled: ${String(error)}`)),
    );
  }

  /** Marks an order as cancelled. The agent answers with its end, which settles whoever waits. */
  async #cancel(ref: MemberRef, id: string, signal: AbortSignal): Promise<Member | undefined> {
    await this.#read(ref, signal);
    return this.#change(ref, signal, ({ orders = [], fence = 0 }, member) => {
      const order = orders.find((one) => one.id === id);
      const result = order && resultOf(member, order);
      if (order?.cancel || (result && isEndedResult(result))) return {};
      if (order) return { orders: orders.map((one) => (one === order ? { ...one, cancel: true } : one)) };
      // Not there yet: a write of ours, or of the process before us, may still be on its way. This one makes it too late.
      return { fence: fence + 1 };
    });
  }

  async #withdraw(ref: MemberRef, id: string, signal: AbortSignal): Promise<void> {
    const member = await this.#cancel(ref, id, signal);
    const order = member?.spec.orders?.find((one) => one.id === id);
    if (!order) return;
    await this.#handle(ref, order, signal).settled;
    signal.throwIfAborted(); // then it is not known to be still
  }

  #judge(waiter: Waiter): void {
    const { ref, run } = waiter;
    const member = this.#known(ref);
    if (!member) return;
    if (isReplaced(member, ref)) return waiter.settle(replaced(ref));
    const result = resultOf(member, run);
    if (result && isEndedResult(result)) return waiter.settle(outcomeOf(result));
    // Somebody took the order away; what the agent still reports of it is on its way out.
    const isThere = member.spec.orders?.some(({ id, attempt }) => id === run.id && attempt >= run.attempt);
    if (!isThere && !result) waiter.settle(failed('ORDER_CANCELLED', `order ${run.id} is gone`));
  }

  /** Changes the spec of a member, from its newest state. Undefined: there is no such member. */
  async #change(
    ref: MemberRef,
    signal: AbortSignal,
    change: (spec: Member['spec'], member: Member) => Partial<Member['spec']>,
  ): Promise<Member | undefined> {
    const client = this.#options.members(ref.namespace);
    let member = this.#known(ref) ?? (await this.#read(ref, signal));
    for (let tries = 0; member; tries++) {
      const spec: Member['spec'] = { ...member.spec, ...change(member.spec, member) };
      if (canonicalJson(spec) === canonicalJson(member.spec)) return member;
      if (tries >= MOST_TRIES) throw new Error(`member ${ref.name} is written by others again and again`);
      const result: Written<Member> = await written(client.update({ ...member, spec }, { signal }));
      if (result.written) {
        this.told(result.object);
        return result.object;
      }
      member = result.why === 'absent' ? undefined : await this.#read(ref, signal);
    }
    return undefined;
  }

  #known(ref: { readonly namespace?: string; readonly name: string }): Member | undefined {
    return this.#newest.get(this.#uids.get(keyOf(ref)) ?? '');
  }

  async #read(ref: MemberRef, signal: AbortSignal): Promise<Member | undefined> {
    const live = await this.#options.members(ref.namespace).find(ref.name, { signal });
    if (live) this.told(live);
    return live && this.#known(ref);
  }

  #newRun(): Run {
    return { id: this.#ids.next('order'), attempt: 1 };
  }
}

function keyOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace ?? ''}/${name}`;
}

function isReplaced({ spec }: Member, { podUid }: MemberRef): boolean {
  return podUid !== undefined && spec.pod?.uid !== podUid;
}

function replaced({ name }: MemberRef): Outcome {
  return failed('ORDER_POD_REPLACED', `member ${name} is another pod now`);
}

/** Why this order cannot be given to this member. */
function refusal(member: Member, ref: MemberRef, { id, verb }: Order, orders: readonly Order[]): Outcome | undefined {
  if (isReplaced(member, ref)) return replaced(ref);
  if (orders.some((order) => order.id === id)) return undefined;
  const capabilities = member.status?.agent?.capabilities;
  if (capabilities && !capabilities.includes(verb)) {
    return failed('ORDER_VERB_UNKNOWN', `the agent of ${ref.name} does not know ${verb}`);
  }
  return orders.length < MOST_ORDERS ? undefined : stale(`member ${ref.name} has ${orders.length} open orders`);
}

function resultOf(member: Member | undefined, { id, attempt }: Run): OrderResult | undefined {
  return member?.status?.results?.find((result) => result.id === id && result.attempt >= attempt);
}

function outcomeOf(result: OrderResult): Outcome {
  const message = result.message ?? result.phase;
  switch (result.phase) {
    case 'Done':
      return { status: 'done', ...(result.message !== undefined && { note: result.message }) };
    case 'Stale':
      return stale(message);
    case 'NotDone':
      return failed('ORDER_NOT_DONE', message);
    case 'Unknown':
      return failed('ORDER_UNKNOWN', message);
    case 'Cancelled':
      return failed('ORDER_CANCELLED', message);
    case 'Failed':
    case 'Started':
      return failed(result.code ?? 'INTERNAL', message);
  }
}
