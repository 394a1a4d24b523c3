/** A cluster of the model for tests of the engines: three primaries with slots, one without, time that costs nothing. */
import { type Clock, type Handle, isHandle, type Outcome, type Random } from '@reeve/runtime';
import { prng } from '@reeve/simulation';
import { type Flavour, type ModelServer, RedisClusterModel, slotOfKey } from '@reeve/simulation/redis';
import { modelPort, type Schedule } from '../model-port.ts';
import type { MigrateSlots } from '../../src/api/commands.ts';
import type { RedisPort } from '../../src/api/port.ts';
import type { NodeRef } from '../../src/api/view.ts';
import { type RedisContext, redisContext } from '../../src/commands/context.ts';
import { migrateHandler } from '../../src/commands/migrate/handler.ts';

export interface TestClusterOptions {
  readonly flavour?: Flavour;
  readonly seed?: number;
  readonly maxMemory?: number;
  readonly databases?: number;
  readonly persistence?: boolean;
  readonly nodeTimeoutMs?: number;
}

const SHARES: readonly (readonly [number, number])[] = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
];
const FORMING_MS = 30_000;
const STEP_MS = 100;

export class TestCluster {
  readonly model: RedisClusterModel;
  readonly servers: readonly ModelServer[];
  readonly clock: Clock;
  readonly random: Random;
  #now = 1_000_000;

  constructor(options: TestClusterOptions = {}) {
    this.random = prng(options.seed ?? 1);
    this.model = new RedisClusterModel({
      random: this.random,
      flavour: options.flavour ?? 'redis7',
      allowReplicaMigration: false,
      now: () => this.#now,
      nodeTimeoutMs: options.nodeTimeoutMs ?? 5000,
      databases: options.databases ?? 1,
      persistence: options.persistence ?? true,
    });
    // A sleep moves the one clock of the test: whoever sleeps next sleeps from there.
    this.clock = {
      now: () => this.#now,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        this.#now += ms;
      },
    };
    this.servers = Array.from({ length: 4 }, (_, index) =>
      this.model.addServer({
        host: '127.0.0.1',
        port: 7001 + index,
        ...(index === 3 && options.maxMemory !== undefined ? { maxMemory: options.maxMemory } : {}),
      }),
    );
    this.#form();
  }

  #form(): void {
    for (const [index, server] of this.servers.entries()) {
      this.call(index, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      const share = SHARES[index];
      if (share) this.call(index, 'CLUSTER', 'ADDSLOTSRANGE', String(share[0]), String(share[1]));
      for (const other of this.servers) {
        if (other !== server) this.call(index, 'CLUSTER', 'MEET', other.host, String(other.port));
      }
    }
    for (let waited = 0; waited < FORMING_MS; waited += STEP_MS) {
      this.pass(STEP_MS);
      if (this.servers.every((server) => server.state === 'ok' && server.peers.size === this.servers.length)) return;
    }
    throw new Error('the cluster of the test did not form');
  }

  pass(ms: number): void {
    this.#now += ms;
    this.model.sync();
  }

  call(index: number, ...args: readonly string[]): unknown {
    const server = this.servers[index] as ModelServer;
    return this.model.execute({ host: server.host, port: server.port }, args);
  }

  inDatabase(index: number, database: number, ...args: readonly string[]): unknown {
    const server = this.servers[index] as ModelServer;
    const session = { ...this.model.connect(), database };
    return this.model.execute({ host: server.host, port: server.port }, args, { session });
  }

  ref(index: number): NodeRef {
    const server = this.servers[index] as ModelServer;
    return { id: server.id, endpoint: { host: server.host, port: server.port } };
  }

  command(slots: string, more: Partial<MigrateSlots> = {}): MigrateSlots {
    return {
      type: 'migrate-slots',
      why: 'test',
      source: this.ref(0),
      target: this.ref(3),
      others: [this.ref(1), this.ref(2)],
      slots,
      engine: 'windowed',
      pace: 'fast',
      ...more,
    };
  }

  context(port: RedisPort = modelPort(this.model)): RedisContext {
    return redisContext(port, this);
  }

  async migrate(command: MigrateSlots, options: { port?: RedisPort; signal?: AbortSignal } = {}): Promise<Outcome> {
    const signal = options.signal ?? new AbortController().signal;
    const result: Outcome | Handle = await migrateHandler.run(command, this.context(options.port), signal);
    return isHandle(result) ? result.settled : result;
  }

  /** `count` keys that hash into the slot, set on the node. Returns key → value. */
  fill(index: number, slot: number, count: number, bytes = 20): ReadonlyMap<string, string> {
    const values = new Map<string, string>();
    const tag = tagOf(slot);
    for (let n = 0; n < count; n++) {
      const key = `{${tag}}${n}`;
      const value = `${slot}:${n}`.padEnd(bytes, '.');
      this.call(index, 'SET', key, value);
      values.set(key, value);
    }
    return values;
  }

  /** The keys that a node holds, whoever owns their slots. */
  held(index: number): ReadonlyMap<string, string> {
    const server = this.servers[index] as ModelServer;
    const held = new Map<string, string>();
    for (const keyspace of server.databases) {
      for (const key of keyspace.keys()) held.set(key, keyspace.get(key, this.#now)?.value ?? '');
    }
    return held;
  }

  owns(index: number, slot: number): boolean {
    const server = this.servers[index] as ModelServer;
    return server.ownerOf(slot)?.id === server.id;
  }

  /** Slots that any node has open. */
  open(): readonly number[] {
    return this.servers.flatMap((server) => [...server.migrating.keys(), ...server.importing.keys()]);
  }

  /** A port that tells every call to `watch` right before the server acts; what it throws is what the caller sees. */
  watched(watch: (label: string, detail: string) => void): RedisPort {
    const schedule: Schedule = async (call) => {
      watch(call.label, call.detail);
      return call.apply();
    };
    return modelPort(this.model, schedule);
  }

  /**
   * A port by which the first MIGRATE takes so long that a failover can happen meanwhile. After it `retold` says what
   * is in the table of the node at that port: news that reach some nodes, and others not yet.
   */
  interrupted(ms: number, retold: (table: string, port: number) => string): RedisPort {
    let isOver = false;
    const port = this.watched((label) => {
      if (label !== 'MIGRATE' || isOver) return;
      isOver = true;
      this.#now += ms;
    });
    return {
      ...port,
      call: async (endpoint, args, options) => {
        const reply = await port.call(endpoint, args, options);
        const isTable = isOver && args.join(' ') === 'CLUSTER NODES';
        return isTable ? retold(String(reply), endpoint.port) : reply;
      },
    };
  }

  /** A port that calls `watch` after the server acted: what it throws comes instead of the answer. */
  afterwards(watch: () => void): RedisPort {
    const schedule: Schedule = async (call) => {
      const reply = call.apply();
      watch();
      return reply;
    };
    return modelPort(this.model, schedule);
  }
}

/** A value that is as big as the test says. */
export function entryWith(value: string, bytes = value.length): { readonly value: string; readonly bytes: number } {
  return { value, bytes };
}

/** By slot, the first of all tags that were tried: each is tried once, whoever asks. */
const tags = new Map<number, string>();
let tried = 0;

/** A hash tag of the slot. */
function tagOf(slot: number): string {
  for (;;) {
    const known = tags.get(slot);
    if (known !== undefined) return known;
    const tag = (tried++).toString(36);
    const found = slotOfKey(tag);
    if (!tags.has(found)) tags.set(found, tag);
  }
}

/** The `n`th key of a slot. */
export function keyIn(slot: number, n: number): string {
  return `{${tagOf(slot)}}${n}`;
}
