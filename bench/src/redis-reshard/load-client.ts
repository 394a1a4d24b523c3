/**
 * The client whose latency is measured, in a process of its own. It writes at a fixed rate whether or not the servers
 * keep up (so that a stall is felt by every write that falls into it), follows redirections as the cluster
 * specification says, and remembers every acknowledged write for the final look.
 */
import { keySlot } from '@reeve/rig';
import { Wire, type WireReply } from './wire.ts';

export interface LoadOptions {
  readonly endpoints: readonly { readonly host: string; readonly port: number }[];
  readonly perSecond: number;
  readonly keys: number;
  readonly valueBytes: number;
}

export interface LoadReport {
  readonly writes: number;
  readonly p50: number;
  readonly p99: number;
  /** The median of the p99 of every half second: what a burst of noise of the machine itself does not move. */
  readonly steadyP99: number;
  readonly max: number;
  readonly moved: number;
  readonly ask: number;
  readonly tryAgain: number;
  /** What redirection handling does not explain. */
  readonly errors: readonly string[];
}

export interface VerifyReport {
  readonly checked: number;
  readonly wrong: number;
}

interface Latency {
  readonly began: number;
  readonly ms: number;
}

const SLICE_MS = 500;

function sortedMs(latencies: readonly Latency[]): Float64Array {
  return Float64Array.from(latencies, ({ ms }) => ms).sort();
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

class LoadClient {
  readonly #options: LoadOptions;
  readonly #wires = new Map<string, Wire>();
  readonly #owners = new Array<string>(16384);
  readonly #acknowledged = new Map<string, string>();
  #latencies: Latency[] = [];
  #moved = 0;
  #ask = 0;
  #tryAgain = 0;
  #errors: string[] = [];
  #number = 0;
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  #wire(address: string): Wire {
    let wire = this.#wires.get(address);
    if (!wire) {
      const colon = address.lastIndexOf(':');
      wire = new Wire(address.slice(0, colon), Number(address.slice(colon + 1)));
      this.#wires.set(address, wire);
    }
    return wire;
  }

  async start(): Promise<void> {
    const [first] = this.#options.endpoints;
    if (!first) throw new Error('no endpoint');
    for (const { host, port } of this.#options.endpoints) await this.#wire(`${host}:${port}`).call(['PING']);
    const ranges = (await this.#wire(`${first.host}:${first.port}`).call(['CLUSTER', 'SLOTS'])) as WireReply[][];
    for (const [from, to, owner] of ranges) {
      const [host, port] = owner as [string, number];
      for (let slot = Number(from); slot <= Number(to); slot++) this.#owners[slot] = `${host}:${port}`;
    }
    const began = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - began) * this.#options.perSecond) / 1000);
      // After a stall of our own process the missed writes are skipped, not sent as a burst.
      if (due - sent > 50) sent = due - 50;
      for (; sent < due; sent++) this.#write();
    }, 1);
  }

  #write(): void {
    const number = this.#number++;
    // A stride that is coprime to the number of keys visits all of them, spread over the slots.
    const key = `key:${(number * 7919) % this.#options.keys}`;
    const value = String(number).padEnd(this.#options.valueBytes, '.');
    const slot = keySlot(key);
    const began = performance.now();
    this.#inFlight++;
    const end = (reply: WireReply) => {
      this.#inFlight--;
      this.#latencies.push({ began, ms: performance.now() - began });
      if (reply instanceof Error) this.#errors.push(reply.message);
      else this.#acknowledged.set(key, value);
    };
    const attempt = (address: string, asking: boolean, tries: number): void => {
      const wire = this.#wire(address);
      if (asking) wire.send(['ASKING'], () => undefined);
      wire.send(['SET', key, value], (reply) => {
        if (!(reply instanceof Error) || tries >= 100) return end(reply);
        const [word, , to] = reply.message.split(' ');
        if (word === 'MOVED' && to) {
          this.#moved++;
          this.#owners[slot] = to;
          attempt(to, false, tries + 1);
        } else if (word === 'ASK' && to) {
          this.#ask++;
          attempt(to, true, tries + 1);
        } else if (word === 'TRYAGAIN') {
          this.#tryAgain++;
          setTimeout(() => attempt(this.#owners[slot] as string, false, tries + 1), 1);
        } else end(reply);
      });
    };
    attempt(this.#owners[slot] as string, false, 0);
  }

  /** What happened since the last report. */
  report(): LoadReport {
    const sorted = sortedMs(this.#latencies);
    const at = (share: number) => quantile(sorted, share);
    const slices = Map.groupBy(this.#latencies, ({ began }) => Math.floor(began / SLICE_MS));
    const tails = Float64Array.from([...slices.values()].map((slice) => quantile(sortedMs(slice), 0.99))).sort();
    const report = {
      writes: sorted.length,
      p50: at(0.5),
      p99: at(0.99),
      steadyP99: quantile(tails, 0.5),
      max: at(1),
      moved: this.#moved,
      ask: this.#ask,
      tryAgain: this.#tryAgain,
      errors: this.#errors,
    };
    this.#latencies = [];
    this.#errors = [];
    this.#moved = 0;
    this.#ask = 0;
    this.#tryAgain = 0;
    return report;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const deadline = performance.now() + 10_000;
    while (this.#inFlight > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async verify(): Promise<VerifyReport> {
    let wrong = 0;
    const read = async (key: string, address: string, tries: number): Promise<WireReply> => {
      const reply = await this.#wire(address).call(['GET', key]);
      const to = reply instanceof Error && reply.message.startsWith('MOVED') ? reply.message.split(' ')[2] : undefined;
      return to && tries < 5 ? read(key, to, tries + 1) : reply;
    };
    const entries = [...this.#acknowledged];
    for (let from = 0; from < entries.length; from += 1000) {
      const replies = await Promise.all(
        entries.slice(from, from + 1000).map(([key]) => read(key, this.#owners[keySlot(key)] as string, 0)),
      );
      for (const [index, reply] of replies.entries()) if (reply !== entries[from + index]?.[1]) wrong++;
    }
    return { checked: entries.length, wrong };
  }

  close(): void {
    for (const wire of this.#wires.values()) wire.close();
  }
}

let client: LoadClient | undefined;

type Order = { order: 'start'; options: LoadOptions } | { order: 'report' } | { order: 'finish' };

async function obey(order: Order): Promise<unknown> {
  if (order.order === 'start') {
    client = new LoadClient(order.options);
    await client.start();
    return {};
  }
  if (!client) throw new Error('not started');
  if (order.order === 'report') return client.report();
  await client.stop();
  const report = client.report();
  const verified = await client.verify();
  client.close();
  return { report, verified };
}

process.on('message', (order: Order) => {
  void obey(order).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
