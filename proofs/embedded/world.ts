/** Writers that remember what was acknowledged, a watcher that remembers what it saw, and what must hold afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Access,
  type AnyObject,
  isKubeError,
  KubeClient,
  networkTransport,
  type ResourceClient,
  resource,
  type Stored,
  systemKubePorts,
} from '@reeve/kube';

const TOKEN = 'the-token-of-the-kill-proof';
const KEYS_PER_WRITER = 3;
/** Acknowledged in every round before the kill: without them it would prove nothing. */
const LEAST_WRITES = 6;
const maps = resource({ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true });

/** What one key may be after a crash: what was acknowledged last, or what the write under way would have made of it. */
interface Expectation {
  acknowledged: string | undefined;
  inFlight: { readonly value: string | undefined } | undefined;
}

export interface RoundResult {
  readonly acknowledged: number;
  readonly inFlight: number;
  readonly landed: number;
  readonly events: number;
  readonly killedAfterMs: number;
  readonly problems: readonly string[];
}

export class World {
  readonly #path: string;
  readonly #writers: number;
  readonly #random: () => number;
  readonly #keys = new Map<string, Expectation>();
  /** The watcher's picture, and how far it came. */
  readonly #seen = new Map<string, string>();
  #seenVersion = 0;
  #highest = 0;
  #counter = 0;
  #acknowledged = 0;
  #events = 0;
  /** Resolved once enough writes of a round are acknowledged. */
  #begun = Promise.withResolvers<void>();
  #missing = LEAST_WRITES;

  constructor(folder: string, writers: number, random: () => number) {
    this.#path = join(folder, 'store.db');
    this.#writers = writers;
    this.#random = random;
  }

  async round(): Promise<RoundResult> {
    const problems: string[] = [];
    const server = await start(this.#path);
    if (server.revision < this.#highest) problems.push(`revision ${server.revision} after ${this.#highest} was seen`);
    const { landed, inFlight } = await this.#compare(server.client, problems);
    const before = { acknowledged: this.#acknowledged, events: this.#events };
    this.#begun = Promise.withResolvers();
    this.#missing = LEAST_WRITES;
    const stop = new AbortController();
    const watching = this.#watch(server.client, stop.signal, problems);
    const writing = Array.from({ length: this.#writers }, (_, writer) =>
      this.#write(server.client, writer, stop.signal, problems),
    );
    const killedAfterMs = this.#random() * 500;
    await Promise.race([this.#begun.promise, Promise.all(writing)]);
    await new Promise((resolve) => setTimeout(resolve, killedAfterMs));
    await server.kill();
    stop.abort(new Error('the server was killed'));
    await Promise.all([watching, ...writing]);
    server.close();
    return {
      acknowledged: this.#acknowledged - before.acknowledged,
      events: this.#events - before.events,
      landed,
      inFlight,
      killedAfterMs,
      problems,
    };
  }

  /** After the last round: everything is compared once more, and the watcher caught up. */
  async finish(): Promise<readonly string[]> {
    const problems: string[] = [];
    const server = await start(this.#path);
    await this.#compare(server.client, problems);
    await server.kill();
    server.close();
    return problems;
  }

  async #compare(client: ResourceClient<AnyObject>, problems: string[]): Promise<{ landed: number; inFlight: number }> {
    const list = await client.listAll();
    const found = new Map(list.items.map((item) => [item.metadata.name, item]));
    let landed = 0;
    let inFlight = 0;
    for (const [name, expected] of this.#keys) {
      const item = found.get(name);
      const value = item === undefined ? undefined : valueOf(item, problems);
      if (expected.inFlight !== undefined) inFlight++;
      const isLanded = expected.inFlight !== undefined && value === expected.inFlight.value;
      if (isLanded) landed++;
      if (value !== expected.acknowledged && !isLanded) {
        problems.push(
          `${name}: ${value} instead of ${expected.acknowledged}${expected.inFlight ? ` or ${expected.inFlight.value}` : ''}`,
        );
      }
      expected.acknowledged = value;
      expected.inFlight = undefined;
    }
    for (const name of found.keys()) if (!this.#keys.has(name)) problems.push(`${name}: written by nobody`);
    await this.#catchUp(client, list.resourceVersion, list.items, problems);
    return { landed, inFlight };
  }

  /** The watcher resumes where it was; when it has reached the list's version, its picture must be the list. */
  async #catchUp(
    client: ResourceClient<AnyObject>,
    version: string,
    items: readonly Stored<AnyObject>[],
    problems: string[],
  ): Promise<void> {
    if (this.#seenVersion > 0) {
      if (Number(version) < this.#seenVersion) {
        problems.push(`the list has version ${version}, a watcher had seen ${this.#seenVersion}`);
      }
      const stop = new AbortController();
      try {
        // The server tells what it has at once; a second is plenty to say that nothing more comes.
        const options = { resourceVersion: String(this.#seenVersion), timeoutSeconds: 1, bookmarks: false };
        for await (const event of client.watch({ ...options, signal: stop.signal })) this.#see(event, problems);
      } catch (error) {
        problems.push(`a watcher cannot resume from ${this.#seenVersion}: ${String(error)}`);
      }
      const listed = new Map(items.map((item) => [item.metadata.name, valueOf(item, problems)]));
      for (const name of new Set([...listed.keys(), ...this.#seen.keys()])) {
        if (listed.get(name) !== this.#seen.get(name)) {
          problems.push(`${name}: the watcher saw ${this.#seen.get(name)}, the list has ${listed.get(name)}`);
        }
      }
    } else {
      for (const item of items) this.#seen.set(item.metadata.name, valueOf(item, problems));
    }
    this.#seenVersion = Math.max(this.#seenVersion, Number(version));
    this.#highest = Math.max(this.#highest, this.#seenVersion);
  }

  async #watch(client: ResourceClient<AnyObject>, signal: AbortSignal, problems: string[]): Promise<void> {
    try {
      const options = { resourceVersion: String(this.#seenVersion), bookmarks: false, signal };
      for await (const event of client.watch(options)) this.#see(event, problems);
      problems.push('a watch ended although nobody ended it');
    } catch (error) {
      if (!signal.aborted && !isKubeError(error, 'KUBE_CONNECTION_LOST', 'KUBE_UNREACHABLE')) {
        problems.push(`a watch failed: ${String(error)}`);
      }
    }
  }

  #see(event: { readonly type: string; readonly object?: AnyObject }, problems: string[]): void {
    if (event.object === undefined) return;
    const { name = '', resourceVersion } = event.object.metadata;
    const version = Number(resourceVersion);
    if (version <= this.#seenVersion) problems.push(`event ${version} came after ${this.#seenVersion}`);
    this.#seenVersion = version;
    this.#highest = Math.max(this.#highest, version);
    this.#events++;
    const had = this.#seen.has(name);
    if (event.type === 'ADDED' ? had : !had)
      problems.push(`${event.type} of ${name}, which was ${had ? '' : 'not '}there`);
    if (event.type === 'DELETED') this.#seen.delete(name);
    else this.#seen.set(name, valueOf(event.object, problems));
  }

  async #write(
    client: ResourceClient<AnyObject>,
    writer: number,
    signal: AbortSignal,
    problems: string[],
  ): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      const name = `w${writer}-${turn % KEYS_PER_WRITER}`;
      const expected = this.#keys.get(name) ?? { acknowledged: undefined, inFlight: undefined };
      this.#keys.set(name, expected);
      const isRemoval = expected.acknowledged !== undefined && this.#random() < 0.2;
      const value = isRemoval ? undefined : `${name}.${++this.#counter}`;
      expected.inFlight = { value };
      try {
        await this.#once(client, name, value, expected.acknowledged !== undefined);
        expected.acknowledged = value;
        expected.inFlight = undefined;
        this.#acknowledged++;
        if (--this.#missing === 0) this.#begun.resolve();
      } catch (error) {
        // Whether it happened is not known: the next comparison tells.
        if (!isKubeError(error, 'KUBE_CONNECTION_LOST', 'KUBE_UNREACHABLE') && !signal.aborted) {
          problems.push(`${name}: ${String(error)}`);
        }
        return;
      }
    }
  }

  async #once(
    client: ResourceClient<AnyObject>,
    name: string,
    value: string | undefined,
    exists: boolean,
  ): Promise<void> {
    if (value === undefined) return void (await client.delete(name));
    // The same text at both ends of a long one: a half write would show.
    const data = { first: value, filling: value.repeat(40), last: value };
    const answer = exists
      ? await client.update({ metadata: { name, resourceVersion: '' }, data })
      : await client.create({ metadata: { name }, data });
    this.#highest = Math.max(this.#highest, Number(answer.metadata.resourceVersion));
  }
}

function valueOf(object: AnyObject, problems: string[]): string {
  const { first, filling, last } = (object.data ?? {}) as Readonly<Record<string, string>>;
  if (first === undefined || first !== last || filling !== first.repeat(40)) {
    problems.push(`${object.metadata.name} is half: ${first} … ${last}`);
  }
  return first ?? '';
}

interface Running {
  readonly client: ResourceClient<AnyObject>;
  readonly revision: number;
  kill(): Promise<void>;
  close(): void;
}

async function start(path: string): Promise<Running> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./child.ts', import.meta.url)), path, TOKEN], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, revision } = await firstLine(child);
  const ports = systemKubePorts();
  const tls = { ca: undefined, certificate: undefined, key: undefined, serverName: undefined, insecure: false };
  const identity = { headers: { authorization: `Bearer ${TOKEN}` }, tls };
  const access: Access = { server: new URL(url), identity: async () => identity, rejected: async () => false };
  const network = networkTransport(access, ports.clock, { maxSockets: 64 });
  const client = new KubeClient({ transport: network.transport, clock: ports.clock, random: ports.random, retries: 0 });
  return {
    client: client.resource(maps, 'default'),
    revision,
    async kill() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
    close: () => network.close(),
  };
}

function firstLine(child: ChildProcess): Promise<{ readonly url: string; readonly revision: number }> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(JSON.parse(text) as { url: string; revision: number });
    });
    child.once('exit', (code, signal) =>
      reject(new Error(`the server ended with ${signal ?? code} before it was ready`)),
    );
    child.once('error', reject);
  });
}
