/** The command line on a model of Redis servers: everything of the outside world in memory, time included. */
import { modelPort } from '@reeve/redis/model-port';
import { type ClusterView, type ConnectOptions, observeCluster, type RedisPort, type Reply } from '@reeve/redis';
import { type Clock, type Files, ReeveError } from '@reeve/runtime';
import { prng } from '@reeve/simulation';
import { type Flavour, RedisClusterModel } from '@reeve/simulation/redis';
import type { Io } from '../src/io.ts';
import { main } from '../src/main.ts';

/** Time that passes when everybody sleeps: the earliest sleeper is woken once the event loop has nothing else to do. */
export class IdleClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00Z');
  readonly #sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();

  now(): number {
    return this.#now;
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const sleeper = { until: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', () => {
        if (this.#sleepers.delete(sleeper)) reject(signal.reason as Error);
      });
      this.#turnSoon();
    });
  }

  /** Several turns of the loop, so that work of whoever was woken last comes first. */
  #turnSoon(turns = 20): void {
    setImmediate(() => {
      if (turns > 0) return this.#turnSoon(turns - 1);
      const first = [...this.#sleepers].sort((a, b) => a.until - b.until)[0];
      if (!first || !this.#sleepers.delete(first)) return;
      this.#now = Math.max(this.#now, first.until);
      first.wake();
      if (this.#sleepers.size > 0) this.#turnSoon();
    });
  }
}

export class MemoryFiles implements Files {
  readonly texts = new Map<string, string>();

  async read(path: string): Promise<string | undefined> {
    return this.texts.get(path);
  }

  async write(path: string, text: string): Promise<void> {
    this.texts.set(path, text);
  }

  async append(path: string, text: string): Promise<void> {
    this.texts.set(path, (this.texts.get(path) ?? '') + text);
  }

  async remove(path: string): Promise<void> {
    this.texts.delete(path);
  }
}

/** What comes on stdin, until somebody has had enough of waiting for it. */
async function* pipedTo(input: string | AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (typeof input === 'string') {
    yield Buffer.from(input);
    return;
  }
  const pieces = input[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  for (;;) {
    const next = await Promise.race([pieces.next(), aborted]);
    if (next.done === true) return;
    yield next.value;
  }
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** stdout as it is. */
  readonly bytes: Buffer;
  /** stdout as the one JSON document that --json promises. */
  readonly json: () => Record<string, unknown>;
}

export interface RunOptions {
  /** Answers to prompts, in order. Given: stdin is a terminal. */
  readonly answers?: readonly string[];
  /** Called at each prompt, before it is answered. */
  readonly onAsk?: (question: string) => void;
  readonly terminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with everything that goes to stdout, as it goes. */
  readonly onOut?: (text: string) => void;
  /** What is piped to it. */
  readonly input?: string | AsyncIterable<Uint8Array>;
  readonly connectApi?: Io['connectApi'];
  /** Called with the function that sends Ctrl-C, before the run. */
  readonly interrupt?: (send: () => void) => void;
}

export class Harness {
  readonly clock = new IdleClock();
  readonly files = new MemoryFiles();
  readonly model: RedisClusterModel;
  /** The password that servers demand, if any. */
  password: string | undefined;
  /** Every command that was sent to a server, as text. */
  readonly sent: string[] = [];
  /** Changes what servers answer. */
  editReply: ((text: string, reply: Reply) => Reply) | undefined;
  /** Called before each command is sent. */
  beforeCall: ((text: string) => void) | undefined;
  readonly asked: string[] = [];
  /** The program ended itself at once. */
  exited = false;
  /** It lets others on its machine go first. */
  gaveWay = false;
  #ids = 0;

  constructor(options: { readonly flavour?: Flavour; readonly seed?: number } = {}) {
    const random = prng(options.seed ?? 1);
    this.model = new RedisClusterModel({
      random,
      now: () => this.clock.now(),
      ...(options.flavour ? { flavour: options.flavour } : {}),
    });
  }

  /** Servers on 10.0.0.1 … each on port 6379; their addresses. */
  addServers(count: number, firstHost = 1): readonly string[] {
    return Array.from({ length: count }, (_, index) => {
      const host = `10.0.0.${firstHost + index}`;
      this.model.addServer({ host, port: 6379 });
      return `${host}:6379`;
    });
  }

  /** A cluster made behind the command line's back: even shares, replicas in turn. Quick, for tests of other verbs. */
  formCluster(primaries: number, replicas = 0, firstHost = 1): readonly string[] {
    const addresses = this.addServers(primaries + replicas, firstHost);
    const call = (address: string, ...words: (string | number)[]) =>
      String(this.model.execute(address, words.map(String)));
    const ids = addresses.map((address) => call(address, 'CLUSTER', 'MYID'));
    addresses.forEach((address, index) => {
      call(address, 'CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      const first = Math.round((16384 * index) / primaries);
      const last = Math.round((16384 * (index + 1)) / primaries) - 1;
      if (index < primaries) call(address, 'CLUSTER', 'ADDSLOTSRANGE', first, last);
    });
    for (const from of addresses) {
      for (const to of addresses) if (to !== from) call(from, 'CLUSTER', 'MEET', ...to.split(':'));
    }
    this.pass(10_000);
    addresses.slice(primaries).forEach((address, index) => {
      call(address, 'CLUSTER', 'REPLICATE', ids[index % primaries] as string);
    });
    this.pass(20_000);
    return addresses;
  }

  /** Lets time pass for the servers and for us. */
  pass(ms: number): void {
    this.clock.pass(ms);
    this.model.sync();
  }

  /** The cluster as the operator observes it. */
  view(address: string): Promise<ClusterView> {
    const [host = '', port = ''] = address.split(':');
    return observeCluster(this.#connect({}), { clock: this.clock }, [{ host, port: Number(port) }], {});
  }

  #connect(options: ConnectOptions): RedisPort {
    const port = modelPort(this.model);
    const before = (endpoint: { readonly host: string; readonly port: number }, words: readonly unknown[]) => {
      const text = words.map(String).join(' ');
      if (this.password !== undefined && options.password !== this.password) {
        const where = `${endpoint.host}:${endpoint.port}`;
        throw new ReeveError('REDIS_AUTH', `${where} did not let us in: NOAUTH Authentication required.`, {
          subjects: [where],
        });
      }
      this.beforeCall?.(text);
      this.sent.push(text);
    };
    return {
      ...port,
      call: async (endpoint, args, callOptions) => {
        before(endpoint, args);
        const reply = await port.call(endpoint, args, callOptions);
        return this.editReply ? this.editReply(args.map(String).join(' '), reply) : reply;
      },
      transaction: async (endpoint, commands, callOptions) => {
        before(endpoint, ['MULTI', ...commands.flat(), 'EXEC']);
        return port.transaction(endpoint, commands, callOptions);
      },
    };
  }

  async run(line: string | readonly string[], options: RunOptions = {}): Promise<Ran> {
    const written: { readonly out: Uint8Array[]; readonly err: Uint8Array[] } = { out: [], err: [] };
    let code = -1;
    const answers = [...(options.answers ?? [])];
    const listeners = new Set<() => void>();
    options.interrupt?.(() => {
      for (const listener of listeners) listener();
    });
    const io: Io = {
      out: (text) => {
        written.out.push(Buffer.from(text));
        options.onOut?.(text);
      },
      err: (text) => void written.err.push(Buffer.from(text)),
      pass: async (to, bytes) => {
        written[to].push(bytes);
        if (to === 'out') options.onOut?.(Buffer.from(bytes).toString());
      },
      outIsTerminal: options.terminal ?? false,
      errIsTerminal: options.terminal ?? false,
      inIsTerminal: options.answers !== undefined,
      columns: () => 100,
      env: { HOME: '/nowhere', ...options.env },
      ask: async (question) => {
        this.asked.push(question);
        options.onAsk?.(question);
        return answers.shift();
      },
      input: (signal) => pipedTo(options.input ?? '', signal),
      onInterrupt: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      exitNow: (now) => {
        this.exited = true;
        code = now;
      },
      giveWay: () => {
        this.gaveWay = true;
      },
      resolve: async (host) =>
        host.endsWith('.example')
          ? host.replace('h', '10.0.0.').replace('.example', '')
          : host.includes('nowhere')
            ? undefined
            : host,
      ports: {
        clock: this.clock,
        random: { next: () => 0.5 },
        ids: { next: (prefix) => `${prefix}-${++this.#ids}` },
        files: this.files,
      },
      newPassword: () => 'secret-of-a-test',
      connect: (connectOptions) => this.#connect(connectOptions),
      connectApi: options.connectApi ?? (() => Promise.reject(new Error('this test has no API'))),
    };
    const argv = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
    const ended = await main(argv, io);
    const bytes = Buffer.concat(written.out);
    const out = bytes.toString();
    const json = () => JSON.parse(out) as Record<string, unknown>;
    return { code: code === -1 ? ended : code, out, err: Buffer.concat(written.err).toString(), bytes, json };
  }

  /** Commands sent so far that could change something. */
  changes(): readonly string[] {
    const reads =
      /^(?:PING|INFO|CLUSTER (?:NODES|INFO|SHARDS|MYID|MYSHARDID|SLOT-STATS|COUNTKEYSINSLOT|GETKEYSINSLOT|GETSLOTMIGRATIONS|LINKS|SLOTS)|CONFIG GET|COMMAND|FUNCTION (?:LIST|STATS)|DBSIZE|SCAN|MEMORY|ROLE|TIME|SELECT|TYPE|READONLY)\b/i;
    return this.sent.filter((text) => !reads.test(text));
  }
}
