/**
 * Everything that the leaders wrote, as the server's own history tells it: by watches, in the order of resourceVersions, which is one
 * order for all kinds of one etcd. A stale write is one of an earlier term after one of a later term.
 */
import { type KubeClient, type KubeObject, type ResourceClient, type Stored } from '@reeve/kube';
import { type Lease, leases } from '@reeve/runtime/manager';
import { LEASE, type Mark, NOTE_LABEL, notes, things } from './kinds.ts';

interface Write {
  readonly version: bigint;
  readonly term: number;
  readonly what: string;
}

export interface Verdict {
  readonly writes: number;
  readonly terms: number;
  /** Of an earlier term, after a write of a later one. */
  readonly stale: readonly string[];
  /** Of an earlier term after the Lease had changed hands, but before the new leader's first write: see docs/designs/0010-manager.md. */
  readonly between: number;
  /** What the watches could not tell. */
  readonly problems: readonly string[];
}

export class Judge implements AsyncDisposable {
  readonly #writes: Write[] = [];
  /** Term → the version at which the Lease first named it. */
  readonly #begun = new Map<number, bigint>();
  readonly #problems: string[] = [];
  readonly #stop = new AbortController();
  readonly #watching: Promise<unknown>;
  readonly #marks = new Map<string, Mark>();
  #term = 0;
  #holder = '';

  private constructor(watches: readonly ((signal: AbortSignal) => Promise<void>)[], begin: (judge: Judge) => void) {
    begin(this);
    const { signal } = this.#stop;
    const failed = (error: unknown) => {
      if (!signal.aborted) this.problem(`a watch failed: ${String(error)}`);
    };
    this.#watching = Promise.all(watches.map((watch) => watch(signal).catch(failed)));
  }

  static async watch(client: KubeClient): Promise<Judge> {
    let judge: Judge | undefined;
    const ofThings = await following(client.resource(things, 'default'), {}, (event, object, version) => {
      if (event !== 'DELETED') judge?.hearThing(object, version);
    });
    const labelSelector = Object.entries(NOTE_LABEL).map((pair) => pair.join('='));
    const ofNotes = await following(
      client.resource(notes, 'default'),
      { labelSelector: labelSelector.join() },
      (event, { metadata, data }, version) => judge?.hear(data?.by, version, `${event} ${metadata.name}`),
    );
    const ofLease = await following(client.resource(leases, LEASE.namespace), {}, (_event, object, version) => {
      if (object.metadata.name === LEASE.name) judge?.hearLease(object, version);
    });
    return new Judge([ofThings, ofNotes, ofLease], (made) => {
      judge = made;
    });
  }

  /** Who the Lease names now, as far as was heard. */
  get holder(): string {
    return this.#holder;
  }

  get term(): number {
    return this.#term;
  }

  writesOf(term: number): number {
    return this.#writes.filter((write) => write.term === term).length;
  }

  get count(): number {
    return this.#writes.length;
  }

  problem(what: string): void {
    this.#problems.push(what);
  }

  hearThing(object: Stored<KubeObject & { readonly spec?: Mark; readonly status?: Mark }>, version: bigint): void {
    for (const part of ['spec', 'status'] as const) {
      const mark = object[part];
      const key = `${object.metadata.name} ${part}`;
      const before = this.#marks.get(key);
      if (mark?.by === undefined || (before?.by === mark.by && before.n === mark.n)) continue;
      this.#marks.set(key, mark);
      this.hear(mark.by, version, `${key} ${mark.n}`);
    }
  }

  hearLease({ spec }: Stored<Lease>, version: bigint): void {
    this.#term = spec?.leaseTransitions ?? 0;
    this.#holder = spec?.holderIdentity ?? '';
    if (this.#holder !== '' && !this.#begun.has(this.#term)) this.#begun.set(this.#term, version);
  }

  hear(by: string | undefined, version: bigint, what: string): void {
    if (by === undefined) return this.problem(`${what} does not say who wrote it`);
    this.#writes.push({ version, term: Number(by.split('/', 1)[0]), what: `${what} of term ${by}` });
  }

  verdict(): Verdict {
    const ordered = [...this.#writes].sort((one, other) => (one.version < other.version ? -1 : 1));
    const stale: string[] = [];
    let between = 0;
    let highest = 0;
    for (const { version, term, what } of ordered) {
      if (term < highest) stale.push(`${what} at ${version}, after a write of term ${highest}`);
      const next = this.#begun.get(term + 1);
      if (term >= highest && next !== undefined && version > next) between++;
      highest = Math.max(highest, term);
    }
    const terms = new Set(ordered.map(({ term }) => term)).size;
    return { writes: ordered.length, terms, stale, between, problems: this.#problems };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }
}

type Hear<T extends KubeObject> = (event: string, object: Stored<T>, version: bigint) => void;

/** A list now, and a function that tells everything from there on. A watch that ends is taken up at its last version: no gap. */
async function following<T extends KubeObject>(
  client: ResourceClient<T>,
  selection: { readonly labelSelector?: string },
  hear: Hear<T>,
): Promise<(signal: AbortSignal) => Promise<void>> {
  let { resourceVersion } = await client.listAll(selection);
  return async (signal) => {
    while (!signal.aborted) {
      for await (const event of client.watch({ ...selection, resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion;
        else {
          const stored = event.object as Stored<T>;
          resourceVersion = stored.metadata.resourceVersion;
          hear(event.type, stored, BigInt(resourceVersion));
        }
      }
    }
  };
}
