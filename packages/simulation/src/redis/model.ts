/** A Redis Cluster in memory: servers, the bus between them, clients, faults, and virtual time. */
import type { Random } from '@reeve/runtime';
import type { ExportState } from './atomic-job.ts';
import { runCommand, runTransaction, WritesPausedError, wouldWait } from './commands/dispatch.ts';
import { broadcast, TURN_MS, turn } from './cron.ts';
import { Network } from './network.ts';
import {
  bytesOf,
  ConnectionLostError,
  type ModelArg,
  type ModelReply,
  NoAnswerError,
  ServerCrash,
  ServerError,
  toReply,
  UnreachableError,
} from './reply.ts';
import { ModelServer, type ServerOptions } from './server.ts';
import { type Call, createSession, type MigrateFault, type Session } from './session.ts';

export interface ModelOptions extends Partial<Omit<ServerOptions, 'host' | 'port'>> {
  readonly random: Random;
  /** Virtual time; when given, the model catches up with it before every command. */
  readonly now?: () => number;
}

export interface ExecuteOptions {
  /** Bulk strings as Buffers. */
  readonly binary?: boolean;
  /** The connection; by default a new one for each command. */
  readonly session?: Session;
}

const defaults = {
  flavour: 'valkey9',
  nodeTimeoutMs: 5000,
  allowReplicaMigration: true,
  requireFullCoverage: true,
  databases: 1,
  persistence: false,
  maxMemory: 0,
  slotStats: true,
} as const;

export type EndpointLike = string | { readonly host: string; readonly port: number };

function endpointText(endpoint: EndpointLike): string {
  return typeof endpoint === 'string' ? endpoint : `${endpoint.host}:${endpoint.port}`;
}

export class RedisClusterModel {
  readonly network = new Network();
  readonly #options: ModelOptions;
  readonly #migrateFaults = new Map<ModelServer, MigrateFault>();
  #now: number;
  #nextTurn: number;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#now = options.now?.() ?? 0;
    this.#nextTurn = this.#now + TURN_MS;
  }

  get servers(): readonly ModelServer[] {
    return this.network.servers;
  }

  get now(): number {
    return this.#now;
  }

  addServer(options: Partial<ServerOptions> & { readonly host: string; readonly port: number }): ModelServer {
    this.sync();
    const { random, now: _now, ...shared } = this.#options;
    const server = new ModelServer({ ...defaults, ...shared, ...options }, random, this.#now);
    this.network.add(server);
    return server;
  }

  /** Lets the servers do their own work up to this time. */
  advanceTo(time: number): void {
    while (this.#nextTurn <= time) {
      this.#now = this.#nextTurn;
      this.#nextTurn += TURN_MS;
      const running = this.#shuffled().filter((server) => server.process === 'up');
      for (const server of running) broadcast(server, this.network, this.#now);
      for (const server of running) turn(server, this.network, this.#now);
    }
    if (time > this.#now) this.#now = time;
  }

  advance(ms: number): void {
    this.advanceTo(this.#now + ms);
  }

  /** Catches up with the clock given at construction. */
  sync(): void {
    if (this.#options.now) this.advanceTo(this.#options.now());
  }

  #shuffled(): ModelServer[] {
    const order = [...this.network.servers];
    for (let at = order.length - 1; at > 0; at--) {
      const other = Math.floor(this.#options.random.next() * (at + 1));
      [order[at], order[other]] = [order[other] as ModelServer, order[at] as ModelServer];
    }
    return order;
  }

  serverAt(endpoint: EndpointLike): ModelServer {
    const text = endpointText(endpoint);
    const server = this.network.atEndpoint(text);
    if (!server || server.process === 'down') throw new UnreachableError(text);
    if (server.process === 'paused') throw new NoAnswerError(text);
    return server;
  }

  /** Whether a server would keep these commands waiting now (stopped process, paused writes) instead of answering. */
  wouldWait(endpoint: EndpointLike, ...commands: readonly (readonly ModelArg[])[]): boolean {
    this.sync();
    const server = this.network.atEndpoint(endpointText(endpoint));
    if (server?.process === 'paused') return true;
    return server?.process === 'up' && commands.some((args) => wouldWait(server, args.map(bytesOf), this.#now));
  }

  connect(): Session {
    return createSession();
  }

  #call(server: ModelServer, args: readonly ModelArg[], session: Session, inTransaction: boolean): Call {
    return {
      server,
      network: this.network,
      session,
      args: args.map(bytesOf),
      now: this.#now,
      inTransaction,
      takeMigrateFault: () => {
        const fault = this.#migrateFaults.get(server);
        this.#migrateFaults.delete(server);
        return fault;
      },
    };
  }

  /** One command to one server. Throws ServerError, UnreachableError or NoAnswerError. */
  execute(endpoint: EndpointLike, args: readonly ModelArg[], options: ExecuteOptions = {}): ModelReply {
    this.sync();
    const server = this.serverAt(endpoint);
    const call = this.#call(server, args, options.session ?? createSession(), false);
    return toReply(
      this.#unpaused(server, () => runCommand(call)),
      options.binary ?? false,
    );
  }

  /** MULTI, the commands, EXEC. The first error of a command inside is thrown after all have run. */
  transaction(
    endpoint: EndpointLike,
    commands: readonly (readonly ModelArg[])[],
    options: ExecuteOptions = {},
  ): readonly ModelReply[] {
    const replies = this.transactionReplies(endpoint, commands, options);
    const error = replies.find((reply) => reply instanceof ServerError);
    if (error) throw error;
    return replies as readonly ModelReply[];
  }

  /** The same, with the errors of single commands in their places. */
  transactionReplies(
    endpoint: EndpointLike,
    commands: readonly (readonly ModelArg[])[],
    options: ExecuteOptions = {},
  ): readonly (ModelReply | ServerError)[] {
    this.sync();
    const server = this.serverAt(endpoint);
    const session = options.session ?? createSession();
    const calls = commands.map((args) => this.#call(server, args, session, true));
    const replies = this.#unpaused(server, () => runTransaction(calls));
    return replies.map((reply) => (reply instanceof ServerError ? reply : toReply(reply, options.binary ?? false)));
  }

  /** A paused write waits on a real server; here the caller is told that no answer came, and nothing was done. */
  #unpaused<T>(server: ModelServer, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof WritesPausedError) throw new NoAnswerError(server.endpoint);
      if (error instanceof ServerCrash) {
        this.kill(server);
        throw new ConnectionLostError(server.endpoint);
      }
      throw error;
    }
  }

  // --- faults

  /** The server's next atomic migration fails in this state, with this message. */
  failNextAtomic(server: ModelServer, at: ExportState, message: string): void {
    server.atomic.failNext = { at, message };
  }

  /** kill -9. The node table is on disk; the data only with `persistence`. */
  kill(server: ModelServer): void {
    this.#sendNews(server);
    server.process = 'down';
  }

  pause(server: ModelServer): void {
    if (server.process !== 'up') return;
    this.#sendNews(server);
    server.process = 'paused';
  }

  /** A real server tells in the very turn in which it changed: what it has to tell is on its way when it dies. */
  #sendNews(server: ModelServer): void {
    if (server.process === 'up') broadcast(server, this.network, this.#now);
  }

  resume(server: ModelServer): void {
    if (server.process !== 'paused') return;
    server.process = 'up';
    for (const late of server.whenResumed.splice(0)) late(this.#now);
  }

  /** `loadingMs`: how long it reads its file; alive on the bus, it refuses clients meanwhile. */
  restart(
    server: ModelServer,
    options: { readonly host?: string; readonly port?: number; readonly loadingMs?: number } = {},
  ): void {
    if (server.process !== 'down') throw new ServerError('only a killed server can be started again');
    this.network.move(server, options.host ?? server.host, options.port ?? server.port);
    server.restart(this.#now, options.loadingMs);
  }

  partition(a: ModelServer, b: ModelServer): void {
    this.network.cut(a, b);
  }

  heal(): void {
    this.network.heal();
  }

  /** The server's next MIGRATE breaks off in the middle. */
  breakNextMigrate(server: ModelServer, fault: MigrateFault): void {
    this.#migrateFaults.set(server, fault);
  }
}
