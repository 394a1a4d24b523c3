/**
 * Orders on behalf of one operation, given as carefully as if they were carried out here. What an earlier process ordered is taken back
 * first: its plan is not ours. Short commands are waited for, so that the next look sees what they did.
 */
import {
  asReeveError,
  type Clock,
  type Executor,
  failed,
  type Handle,
  isHandle,
  type Outcome,
  type Run,
} from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { NodeId } from '../api/view.ts';
import { memberOfCommand } from './carrier.ts';

export interface CarefulOptions {
  /** Takes back every order that there is, and waits until nothing of them goes on. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Whether the agent of a node can be given orders. */
  hasAgent(node: NodeId): boolean;
  /** Who carries out what no agent can. Default: nobody does. */
  readonly otherwise?: Executor<RedisCommand>;
}

/** Long enough for every agent that lives to renew its lease once: then it is known which ones do. */
const PROOF_MS = 15_000;
const LOOK_MS = 250;

export class CarefulExecutor implements Executor<RedisCommand> {
  readonly #clock: Clock;
  readonly #orders: Executor<RedisCommand>;
  readonly #options: CarefulOptions;
  #swept: Promise<void> | undefined;

  constructor(ports: { readonly clock: Clock }, orders: Executor<RedisCommand>, options: CarefulOptions) {
    this.#clock = ports.clock;
    this.#orders = orders;
    this.#options = options;
  }

  async start(command: RedisCommand, signal: AbortSignal, run?: Run): Promise<Outcome | Handle> {
    try {
      this.#swept ??= this.#options.sweep(signal);
      await this.#swept;
    } catch (error) {
      this.#swept = undefined;
      if (signal.aborted) throw error;
      const { code, message } = asReeveError(error);
      return failed(code, `what was ordered before could not be taken back: ${message}`);
    }
    const { otherwise } = this.#options;
    if (otherwise && !this.#isCarried(command)) return otherwise.start(command, signal, run);
    await this.#untilCarried(command, signal);
    const started = await this.#orders.start(command, signal, run);
    return isHandle<Outcome>(started) && !isLong(command) ? started.settled : started;
  }

  /** Who cannot be given orders by then has no agent, and whoever orders is told so. */
  async #untilCarried(command: RedisCommand, signal: AbortSignal): Promise<void> {
    const until = this.#clock.now() + PROOF_MS;
    while (!this.#isCarried(command) && this.#clock.now() < until) await this.#clock.sleep(LOOK_MS, signal);
  }

  #isCarried(command: RedisCommand): boolean {
    return memberOfCommand(command, (node) => this.#options.hasAgent(node)) !== undefined;
  }
}

/** As in process: only these are started and then asked how far they are. */
function isLong({ type }: RedisCommand): boolean {
  return type === 'migrate-slots' || type === 'collect-keys';
}
