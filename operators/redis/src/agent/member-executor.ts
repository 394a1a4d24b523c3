/**
 * The manager's way to let agents carry commands out: an executor like the one in process, which gives each command to the member that is
 * closest to it.
 */
import {
  Cancelled,
  type Clock,
  type Executor,
  type Executors,
  failed,
  type Handle,
  type Ids,
  isHandle,
  type MemberOrders,
  type MemberRef,
  type Outcome,
  type Run,
} from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { NodeId } from '../api/view.ts';
import { redisHandlers } from '../commands/handlers.ts';
import { carriersOf, memberOfCommand } from './carrier.ts';

/** Members by the id of their node: those that can be given orders, which a lost agent cannot. */
export type MembersByNode = ReadonlyMap<NodeId, MemberRef>;

export interface MemberExecutorPorts {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Executors for turns of one controller; what was ordered in one turn is known in the next. */
export function memberExecutors<Work>(
  ports: MemberExecutorPorts,
  orders: MemberOrders,
  membersOf: (work: Work) => MembersByNode,
): Executors<Work, RedisCommand> {
  const places: Places = new Map();
  return {
    types: redisHandlers.map(({ type }) => type),
    of: (work) => new MemberExecutor(ports, orders, () => membersOf(work), places),
  };
}

/** The same for one cluster. */
export function memberExecutor(
  ports: MemberExecutorPorts,
  orders: MemberOrders,
  members: () => MembersByNode,
): Executor<RedisCommand> {
  return new MemberExecutor(ports, orders, members, new Map());
}

/** Orders are made for one process: a limit for those that wait for something that never comes. */
export function orderSeconds({ type }: { readonly type: string }): number {
  return type === 'migrate-slots' || type === 'collect-keys' ? LONG_SECONDS : SHORT_SECONDS;
}

const LONG_SECONDS = 86_400;
const SHORT_SECONDS = 300;
/** Before the API server is asked again to take an order back. */
const AGAIN_MS = 1_000;

/** Where runs were ordered, by their names. */
type Places = Map<string, MemberRef>;

class MemberExecutor implements Executor<RedisCommand> {
  readonly #ports: MemberExecutorPorts;
  readonly #orders: MemberOrders;
  readonly #members: () => MembersByNode;
  readonly #places: Places;

  constructor(ports: MemberExecutorPorts, orders: MemberOrders, members: () => MembersByNode, places: Places) {
    this.#ports = ports;
    this.#orders = orders;
    this.#members = members;
    this.#places = places;
  }

  /** A run with a name is its owner's to release; one without is let go here when it has ended. */
  async start(command: RedisCommand, signal: AbortSignal, run?: Run): Promise<Outcome | Handle> {
    const members = this.#members();
    const node = memberOfCommand(command, (id) => members.has(id));
    const ref = node === undefined ? undefined : members.get(node);
    if (!ref) {
      const nodes = carriersOf(command).map((id) => id.slice(0, 8));
      return failed('AGENT_MISSING', `no agent can be given ${command.type}: none of ${nodes.join(', ')} has one`);
    }
    const named = run ?? { id: this.#ports.ids.next('order'), attempt: 1 };
    this.#places.set(named.id, ref);
    const started = await this.#orders.executor<RedisCommand>(ref).start(command, signal, named);
    if (run) return started;
    if (!isHandle<Outcome>(started)) {
      // Whether the order was written may not be known: it must not begin when the next plan is made.
      if (started.status !== 'done') await this.#takeBack(named.id, signal);
      return started;
    }
    const settled = started.settled.then(async (outcome) => {
      if (!isLeaving(signal)) await this.release(named.id, never()).catch(() => undefined); // swept later
      return outcome;
    });
    return { progress: () => started.progress(), settled };
  }

  /** A process that does not know where it was ordered asks all members. */
  async withdraw(id: string, signal: AbortSignal): Promise<void> {
    for (const ref of this.#where(id)) await this.#orders.executor(ref).withdraw?.(id, signal);
  }

  async release(id: string, signal: AbortSignal): Promise<void> {
    for (const ref of this.#where(id)) await this.#orders.executor(ref).release?.(id, signal);
    this.#places.delete(id);
  }

  #where(id: string): readonly MemberRef[] {
    const place = this.#places.get(id);
    return place ? [place] : [...this.#members().values()];
  }

  async #takeBack(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await this.withdraw(id, signal);
        await this.release(id, signal);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        await this.#ports.clock.sleep(AGAIN_MS, signal);
      }
    }
  }
}

/** A manager that ends leaves its orders to the next one. */
function isLeaving({ reason }: AbortSignal): boolean {
  return reason instanceof Cancelled && (reason.reason === 'shutdown' || reason.reason === 'lost-lease');
}

function never(): AbortSignal {
  return new AbortController().signal;
}
