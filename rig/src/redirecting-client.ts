/** A small cluster client that handles redirects as the specification asks, and counts what it met. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Access,
  type Connection,
  connect,
  type Endpoint,
  isErrorReply,
  type Reply,
} from './servers/connection.ts';
import { parseNodes } from './servers/nodes.ts';
import { keySlot } from './slot.ts';

export interface Retries {
  moved: number;
  ask: number;
  tryAgain: number;
  clusterDown: number;
  /** Connection lost or refused, timeouts, LOADING, READONLY: the map was read again. */
  connection: number;
}

/** Sends each command to the owner of its key's slot and follows redirects. */
export class RedirectingClient {
  readonly retries: Retries = { moved: 0, ask: 0, tryAgain: 0, clusterDown: 0, connection: 0 };
  readonly #access: Access;
  readonly #patienceMs: number;
  readonly #known = new Map<string, Endpoint>();
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #owners: (string | undefined)[] = Array.from({ length: 16384 }, () => undefined);
  #refreshing: Promise<void> | undefined;
  #closed = false;

  constructor(seeds: readonly Endpoint[], access: Access, patienceMs: number) {
    this.#access = access;
    this.#patienceMs = patienceMs;
    for (const seed of seeds) this.#known.set(address(seed), seed);
  }

  async command(key: string, args: readonly (string | Buffer)[]): Promise<Reply> {
    return (await this.#send(key, args, []))[0];
  }

  /** `following` goes behind it on the same connection, where `WAIT` speaks of what was written there. Both replies. */
  async commandThen(
    key: string,
    args: readonly (string | Buffer)[],
    following: readonly string[],
  ): Promise<readonly [Reply, Reply]> {
    const [reply, second = null] = await this.#send(key, args, [following]);
    return [reply, second];
  }

  async #send(
    key: string,
    args: readonly (string | Buffer)[],
    following: readonly (readonly string[])[],
  ): Promise<readonly [Reply, ...Reply[]]> {
    const slot = keySlot(key);
    const end = performance.now() + this.#patienceMs;
    let asking: string | undefined;
    for (;;) {
      const target = asking ?? this.#owners[slot] ?? this.#anyKnown();
      try {
        const connection = await this.#connection(target);
        // Both in one write, in order: the permission holds for the next command on this connection only.
        const permission = asking === undefined ? undefined : connection.call('ASKING');
        const replies = [connection.call(...args), ...following.map((words) => connection.call(...words))] as const;
        const [answers] = await Promise.all([Promise.all(replies), permission]);
        return answers;
      } catch (error) {
        if (this.#closed || performance.now() >= end) throw error;
        asking = await this.#after(error, slot, target);
      }
    }
  }

  /** What a failed attempt means for the next one: the address to ask with ASKING, if any. */
  async #after(error: unknown, slot: number, target: string): Promise<string | undefined> {
    const [word, , where] = (error instanceof Error ? error.message : '').split(' ');
    switch (word) {
      case 'MOVED':
        this.retries.moved += 1;
        if (where) this.#owners[slot] = this.#learn(where, target);
        return undefined;
      case 'ASK':
        this.retries.ask += 1;
        return where === undefined ? undefined : this.#learn(where, target);
      case 'TRYAGAIN':
        this.retries.tryAgain += 1;
        await delay(5);
        return undefined;
      case 'CLUSTERDOWN':
        this.retries.clusterDown += 1;
        await delay(50);
        await this.refresh();
        return undefined;
      default:
        if (!isConnectionTrouble(error, word)) throw error;
        this.retries.connection += 1;
        this.#forget(target);
        await delay(20);
        await this.refresh();
        return undefined;
    }
  }

  #learn(where: string, asked: string): string {
    const colon = where.lastIndexOf(':');
    // An empty host in a redirect means "the host you asked".
    const host = where.slice(0, colon) || (this.#known.get(asked)?.host ?? '127.0.0.1');
    const endpoint = { host, port: Number(where.slice(colon + 1)) };
    this.#known.set(address(endpoint), endpoint);
    return address(endpoint);
  }

  #anyKnown(): string {
    const all = [...this.#known.keys()];
    return all[Math.floor(Math.random() * all.length)] as string;
  }

  #connection(target: string): Promise<Connection> {
    let opening = this.#connections.get(target);
    if (!opening) {
      opening = connect(this.#known.get(target) as Endpoint, {
        ...this.#access,
        connectTimeoutMs: 3000,
        timeoutMs: 5000,
      });
      this.#connections.set(target, opening);
      opening.catch(() => this.#connections.delete(target));
    }
    return opening;
  }

  #forget(target: string): void {
    const opening = this.#connections.get(target);
    this.#connections.delete(target);
    opening?.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  /** Reads the slot map anew from any node that answers and is in touch with the cluster. One at a time. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readMap().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #readMap(): Promise<void> {
    for (const [target, endpoint] of [...this.#known].sort(() => Math.random() - 0.5)) {
      try {
        const connection = await this.#connection(target);
        if (!String(await connection.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) continue;
        for (const line of parseNodes(String(await connection.call('CLUSTER', 'NODES')))) {
          if (line.port === 0) continue;
          const node = { host: line.host || endpoint.host, port: line.port };
          this.#known.set(address(node), node);
          if (line.flags.includes('fail')) continue;
          for (const [first, last] of line.slots) this.#owners.fill(address(node), first, last + 1);
        }
        return;
      } catch {
        this.#forget(target);
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const target of Array.from(this.#connections.keys())) this.#forget(target);
  }
}

function address({ host, port }: Endpoint): string {
  return `${host}:${port}`;
}

function isConnectionTrouble(error: unknown, word: string | undefined): boolean {
  // UNBLOCKED: a primary that is demoted sends away who waits in it.
  if (['LOADING', 'READONLY', 'MASTERDOWN', 'UNBLOCKED'].includes(word ?? '')) return true;
  return !isErrorReply(error);
}
