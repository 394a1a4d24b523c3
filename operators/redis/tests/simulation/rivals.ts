/**
 * A key with two values, of which nobody can say which is right: both must stay, each on some primary, until a person
 * has chosen. Looked at after every step, so that a value that goes can be laid at somebody's door: servers may lose
 * one in two ways, by themselves, and whatever else makes it go is the tool's doing.
 */
import { Violation } from '@reeve/simulation';
import { type ModelServer, type RedisClusterModel, slotOfKey } from '@reeve/simulation/redis';
import type { Ledger } from './ledger.ts';

/** A primary that held a value when we last looked. */
interface Holder {
  readonly server: ModelServer;
  readonly startedAt: number;
}

export class Rivals {
  readonly #model: RedisClusterModel;
  readonly #ledger: Ledger;
  readonly #key: string;
  readonly #holders = new Map<string, readonly Holder[]>();

  constructor(model: RedisClusterModel, ledger: Ledger, key: string, values: readonly string[]) {
    this.#model = model;
    this.#ledger = ledger;
    this.#key = key;
    for (const value of values) this.#holders.set(value, this.#holdersOf(value));
  }

  /** To be called after every step. */
  watch(): void {
    for (const [value, before] of this.#holders) {
      const now = this.#holdersOf(value);
      this.#holders.set(value, now);
      if (now.length > 0 || before.every((holder) => this.#lostByItself(holder))) continue;
      const where = before.map(({ server }) => server.endpoint).join();
      throw new Violation('CONFLICT_DECIDED', `of two values of ${this.#key} ${value} is gone from ${where}`);
    }
  }

  #holdersOf(value: string): readonly Holder[] {
    return this.#model.servers
      .filter((server) => server.isPrimary && server.database(0).get(this.#key, 0)?.value === value)
      .map((server) => ({ server, startedAt: server.startedAt }));
  }

  #lostByItself({ server, startedAt }: Holder): boolean {
    // Valkey, when it starts, throws away keys of slots that are another's and that it is not importing.
    const owner = server.ownerOf(slotOfKey(this.#key));
    if (server.startedAt !== startedAt && server.can.dropsStrayKeys && owner !== server.self) return true;
    // It died or was cut off and another took its place, without what the stream had not yet brought there.
    const successor = this.#model.servers.find((other) => other.id === server.self.primary?.id);
    return successor !== undefined && [server, successor].some((one) => this.#ledger.hasSuffered(one));
  }
}
