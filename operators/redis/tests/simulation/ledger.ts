/**
 * What clients were promised. An acknowledged write must be there at the end, with its value or a later one that was
 * tried; unless a primary died (or was cut off) and the replica that took its place had not yet got the write: that
 * is what asynchronous replication permits, and it is found by comparing what the two hold at that moment.
 */
import { Violation } from '@reeve/simulation';
import type { Endpoint } from '../../src/api/view.ts';
import { type ModelServer, type RedisClusterModel, slotOfKey } from '@reeve/simulation/redis';

interface Line {
  acknowledged: string | undefined;
  /** Who acknowledged it. */
  by: ModelServer | undefined;
  /** Tried after the last acknowledged write: may have happened or not. */
  readonly tried: Set<string>;
  /** Every value ever tried: nothing else may ever be read. */
  readonly ever: Set<string>;
  isExcused: boolean;
}

interface Role {
  readonly isPrimary: boolean;
  readonly primaryId: string | undefined;
}

export class Ledger {
  readonly #model: RedisClusterModel;
  readonly #lines = new Map<string, Line>();
  readonly #roles = new Map<ModelServer, Role>();
  /** Servers that were killed, stopped or cut off in this run. */
  readonly #suffering = new Set<ModelServer>();

  constructor(model: RedisClusterModel) {
    this.#model = model;
  }

  get keys(): readonly string[] {
    return [...this.#lines.keys()];
  }

  trying(key: string, value: string): void {
    const line = this.#lineOf(key);
    line.tried.add(value);
    line.ever.add(value);
  }

  /** `by`: the address that answered. */
  acknowledged(key: string, value: string, by: Endpoint): void {
    const line = this.#lineOf(key);
    line.acknowledged = value;
    line.tried.delete(value);
    const server = this.#model.servers.find(({ host, port }) => host === by.host && port === by.port);
    line.by = server;
    line.isExcused = server !== undefined && this.#isReplaced(server, slotOfKey(key));
  }

  /**
   * It stood still or was cut off, others own the slot by a greater epoch, and it does not know yet. What it takes in now
   * it will drop by itself when it hears of them; it may do so before it hears whom to follow.
   */
  #isReplaced(server: ModelServer, slot: number): boolean {
    return (
      this.#suffering.has(server) &&
      this.#model.servers.some(
        (other) =>
          other.isPrimary &&
          other.ownerOf(slot) === other.self &&
          other.self.configEpoch > server.self.configEpoch &&
          other !== server,
      )
    );
  }

  /** Nobody writes this key any more and nothing is promised about it. */
  forget(key: string): void {
    this.#lines.delete(key);
  }

  #lineOf(key: string): Line {
    const known = this.#lines.get(key);
    if (known) return known;
    const line: Line = { acknowledged: undefined, by: undefined, tried: new Set(), ever: new Set(), isExcused: false };
    this.#lines.set(key, line);
    return line;
  }

  suffers(server: ModelServer): void {
    this.#suffering.add(server);
  }

  /** Whether it was killed, stopped or cut off in this run. */
  hasSuffered(server: ModelServer): boolean {
    return this.#suffering.has(server);
  }

  /** To be called after every step: notices who took whose place. */
  watch(): void {
    for (const server of this.#model.servers) {
      const before = this.#roles.get(server);
      const primaryId = server.self.primary?.id;
      if (before?.isPrimary === server.isPrimary && before.primaryId === primaryId) continue;
      this.#roles.set(server, { isPrimary: server.isPrimary, primaryId });
      if (!before) continue;
      if (server.isPrimary) this.#promoted(server, before.primaryId);
      else if (before.isPrimary) this.#demoted(server, primaryId);
    }
  }

  /** How many keys may be lost. */
  get excused(): number {
    return [...this.#lines.values()].filter((line) => line.isExcused).length;
  }

  /** `anywhere`: the tool left keys where they were, because there are two values of some. */
  check(anywhere: boolean): void {
    for (const [key, line] of this.#lines) {
      const slot = slotOfKey(key);
      const owner = this.#model.servers.find((server) => server.isPrimary && server.ownerOf(slot) === server.self);
      const found = owner ? valueOn(owner, key) : undefined;
      if (found !== undefined && !line.ever.has(found)) {
        throw new Violation('INVENTED_VALUE', `key ${key} holds ${found}, which nobody wrote`);
      }
      if (line.isExcused || line.acknowledged === undefined) continue;
      if (found === line.acknowledged || (found !== undefined && line.tried.has(found))) continue;
      const elsewhere = this.#model.servers.filter((server) => valueOn(server, key) !== undefined);
      if (anywhere && elsewhere.some((server) => server.isPrimary && valueOn(server, key) === line.acknowledged))
        continue;
      const where = elsewhere.map((server) => `${server.endpoint} holds ${valueOn(server, key)}`).join(', ');
      throw new Violation(
        'LOST_WRITE',
        `key ${key} (slot ${slot}) was acknowledged with ${line.acknowledged}, but its owner ${owner?.endpoint ?? 'nobody'} holds ${found}; ${where || 'no copy anywhere'}`,
      );
    }
  }

  #promoted(server: ModelServer, formerId: string | undefined): void {
    const former = this.#model.servers.find((other) => other.id === formerId);
    // A primary that is well hands over all it has: there nothing is excused.
    if (former && this.#suffering.has(former)) this.#excuseDifferences(former, server, () => true);
  }

  /**
   * A primary that stood still or was cut off hears that it was replaced: it drops what clients gave it meanwhile. What
   * others acknowledged is not excused: a tool that brought it there should have known.
   *
   * Or one that was dead comes back and takes its slots again: with an epoch that nobody had heard of before it died, or,
   * on Valkey, with the new one of a node that finds a slot handed over to it. Its heir drops all that it got meanwhile.
   */
  #demoted(server: ModelServer, primaryId: string | undefined): void {
    const successor = this.#model.servers.find((other) => other.id === primaryId);
    if (!successor) return;
    if (this.#suffering.has(server)) this.#excuseDifferences(server, successor, ({ by }) => by === server);
    else if (this.#suffering.has(successor)) this.#excuseDifferences(server, successor, () => true);
  }

  #excuseDifferences(former: ModelServer, successor: ModelServer, isPermitted: (line: Line) => boolean): void {
    for (const [key, line] of this.#lines) {
      const had = valueOn(former, key);
      if (had !== undefined && had !== valueOn(successor, key) && isPermitted(line)) line.isExcused = true;
    }
  }
}

function valueOn(server: ModelServer, key: string): string | undefined {
  return server.database(0).get(key, 0)?.value;
}
