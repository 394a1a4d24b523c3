/** One real server on loopback. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { redisServer, valkeyServer } from '../binaries/find.ts';
import type { Program } from '../binaries/program.ts';
import { type BusProxy, startBusProxy } from './bus-proxy.ts';
import { busPort, configText, NODES_FILE, type ServerOptions } from './config.ts';
import { type Access, type Connection, connect, type Endpoint, isErrorReply, type Reply } from './connection.ts';
import { freePort } from './ports.ts';
import { giveToServerUser, removeFolder, spawnGuarded, temporaryFolder } from './process.ts';
import { until } from './until.ts';

export interface Server {
  readonly product: ServerOptions['product'];
  readonly program: Program;
  readonly endpoint: Endpoint;
  readonly pid: number;
  readonly dir: string;
  readonly running: boolean;
  /** Where peers reach its bus: for MEET. */
  readonly busPort: number;
  /** The relay in front of its bus, when `busProxy` was asked for. */
  readonly busProxy: BusProxy | undefined;
  readonly logFile: string;
  readonly nodesFile: string;
  /** How to log in: for further connections and for command lines. */
  readonly access: Access;
  /** One command on a kept connection. */
  call(...args: (string | number | Buffer)[]): Promise<Reply>;
  callBinary(...args: (string | number | Buffer)[]): Promise<Reply>;
  /** Ends it (SIGKILL: tests keep nothing that a clean shutdown would save) and removes its temporary folder. */
  stop(): Promise<void>;
  /** kill -9; the folder stays, `restart` brings it back. */
  kill9(): Promise<void>;
  /** SIGTERM and wait: nodes.conf is on disk then and the process gone. */
  shutdown(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Starts it again with its folder, at the same or another address; kills it first when it runs. */
  restart(at?: { readonly host?: string; readonly port?: number }): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const program =
    options.product === 'valkey' ? await valkeyServer(options.tls ? { tls: true } : {}) : await redisServer();
  const server = new RunningServer(options, program);
  await server.start();
  return server;
}

/** Starts `count` servers at once, all with the same options (or options by index). */
export async function startServers(
  count: number,
  options: ServerOptions | ((index: number) => ServerOptions),
): Promise<readonly Server[]> {
  const results = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => startServer(typeof options === 'function' ? options(index) : options)),
  );
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) {
    await Promise.all(servers.map((server) => server.stop()));
    throw failure.reason;
  }
  return servers;
}

class RunningServer implements Server {
  readonly product: ServerOptions['product'];
  readonly program: Program;
  readonly dir: string;
  readonly access: Access;
  endpoint: Endpoint;
  busProxy: BusProxy | undefined;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #connection: Promise<Connection> | undefined;

  constructor(options: ServerOptions, program: Program) {
    this.product = options.product;
    this.program = program;
    this.#options = options;
    this.dir = options.dir ?? temporaryFolder(options.product);
    this.endpoint = { host: options.host ?? '127.0.0.1', port: options.port ?? 0 };
    this.access = {
      ...(options.username === undefined ? {} : { username: options.username }),
      ...(options.password === undefined ? {} : { password: options.password }),
      ...(options.tls ? { tls: { ca: options.tls.ca, cert: options.tls.cert, key: options.tls.key } } : {}),
    };
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get busPort(): number {
    return this.busProxy?.port ?? busPort(this.endpoint.port);
  }

  get logFile(): string {
    return join(this.dir, 'server.log');
  }

  get nodesFile(): string {
    return join(this.dir, NODES_FILE);
  }

  async start(): Promise<void> {
    const attempts = this.endpoint.port === 0 ? 5 : 1;
    const wanted = this.endpoint.port;
    for (let attempt = 1; ; attempt++) {
      const host = this.endpoint.host;
      this.endpoint = { host, port: wanted === 0 ? await freePort(host) : wanted };
      try {
        await this.#launch();
        return;
      } catch (error) {
        await this.kill9();
        // Someone took the port between our look and the server's: only then another one helps.
        if (attempt >= attempts || !/already in use|could not create server|bind/i.test(String(error))) throw error;
      }
    }
  }

  async #launch(): Promise<void> {
    const { host, port } = this.endpoint;
    mkdirSync(this.dir, { recursive: true });
    if (this.#options.busProxy && this.busProxy?.behind !== `${host}:${busPort(port)}`) {
      this.busProxy?.close();
      this.busProxy = await startBusProxy(host, busPort(port));
    }
    const config = join(this.dir, 'server.conf');
    writeFileSync(config, configText(this.#options, host, port, this.busProxy?.port));
    giveToServerUser(this.dir, config);
    const { tls, users } = this.#options;
    if (tls) this.#writeForServer('tls', { 'server.crt': tls.cert, 'server.key': tls.key, 'ca.crt': tls.ca });
    if (users) this.#writeForServer('.', { 'users.acl': `${users.join('\n')}\n` });
    writeFileSync(this.logFile, '', { flag: 'a' });
    const before = readFileSync(this.logFile, 'utf8').length;
    const child = spawnGuarded(this.program, [config], this.dir, this.logFile);
    this.#child = child;
    let ended: string | undefined;
    child.once('exit', (code, signal) => (ended = `ended with ${signal ?? code}`));
    child.once('error', (error) => (ended = error.message));
    const ready = until(
      `${this.program.name} on ${host}:${port} answers`,
      () => ended !== undefined || this.#isOurs(),
      { timeoutMs: 30_000, everyMs: 15 },
    );
    await ready;
    if (ended !== undefined) {
      throw new Error(
        `${this.program.name} on ${host}:${port} ${ended}: ${readFileSync(this.logFile, 'utf8').slice(before).slice(-600)}`,
      );
    }
  }

  #writeForServer(folder: string, files: Readonly<Record<string, string>>): void {
    const target = join(this.dir, folder);
    mkdirSync(target, { recursive: true });
    giveToServerUser(target);
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(target, name), content, { mode: 0o600 });
      giveToServerUser(join(target, name));
    }
  }

  /** The server that answers is the process we started, and it is done loading. */
  async #isOurs(): Promise<boolean> {
    const connection = await connect(this.endpoint, { ...this.access, connectTimeoutMs: 1000, timeoutMs: 2000 });
    try {
      const info = String(await connection.call('INFO', 'server'));
      if (!info.includes(`process_id:${this.pid}\r\n`)) throw new Error(`address already in use by another server`);
      return (await connection.call('PING')) === 'PONG';
    } finally {
      connection.close();
    }
  }

  #connected(): Promise<Connection> {
    if (!this.#connection) {
      const opening = connect(this.endpoint, this.access);
      this.#connection = opening;
      opening.catch(() => this.#drop(opening));
    }
    return this.#connection;
  }

  #drop(connection: Promise<Connection> | undefined): void {
    if (connection && this.#connection === connection) this.#connection = undefined;
  }

  async #send(send: (connection: Connection) => Promise<Reply>): Promise<Reply> {
    const opening = this.#connected();
    const connection = await opening;
    try {
      return await send(connection);
    } catch (error) {
      // An error reply leaves the connection usable; anything else does not, and the next call opens another.
      if (!isErrorReply(error)) {
        this.#drop(opening);
        connection.close();
      }
      throw error;
    }
  }

  call(...args: (string | number | Buffer)[]): Promise<Reply> {
    return this.#send((connection) => connection.call(...args));
  }

  callBinary(...args: (string | number | Buffer)[]): Promise<Reply> {
    return this.#send((connection) => connection.callBinary(...args));
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const opening = this.#connection;
    this.#connection = undefined;
    const child = this.#child;
    if (child && this.running) {
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGCONT');
      child.kill(signal);
      await gone;
    }
    await opening?.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  kill9(): Promise<void> {
    return this.#end('SIGKILL');
  }

  shutdown(): Promise<void> {
    return this.#end('SIGTERM');
  }

  async stop(): Promise<void> {
    await this.kill9();
    this.busProxy?.close();
    if (this.#options.dir === undefined) removeFolder(this.dir);
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async restart(at: { readonly host?: string; readonly port?: number } = {}): Promise<void> {
    await this.kill9();
    this.endpoint = { host: at.host ?? this.endpoint.host, port: at.port ?? this.endpoint.port };
    await this.start();
  }
}
