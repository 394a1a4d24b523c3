/**
 * The Lease of a member: who speaks for it, and that it lives. Held by one life of an agent at a time. Nobody compares the clocks of
 * two machines: whoever judges a lease counts, by its own clock, since it last saw it renewed.
 */
import type { Clock } from '../ports/ports.ts';
import { failureOf } from '../reflector/port.ts';
import { type KubeResource, type ObjectClient, type Written, written } from '../resource/objects.ts';

export interface LeaseObject extends KubeResource {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface LeaseClient extends ObjectClient<LeaseObject> {
  create(object: LeaseObject, options?: { readonly signal?: AbortSignal }): Promise<LeaseObject>;
  /** As a whole or not at all. Status 422 if something is not what it is tested for. */
  patch(
    name: string,
    patch: { readonly type: 'json'; readonly value: readonly LeaseStep[] },
    options?: { readonly signal?: AbortSignal },
  ): Promise<LeaseObject>;
}

/** A step of a JSON patch. */
export interface LeaseStep {
  readonly op: 'test' | 'replace';
  readonly path: string;
  readonly value: string;
}

/** The longest silence of an agent that lives. */
export const LEASE_SECONDS = 30;
export const RENEW_MS = 10_000;
/** So long an account that may not patch its lease is not asked to again. Its rights may be renewed while its agent runs. */
const NO_PATCH_MS = 600_000;

/** On the lease of every member, with its name: managers watch these, and no others. */
export const MEMBER_LEASE_LABEL = 'agents.reeve.dev/member';

export function leaseNameOf(member: string): string {
  return `member-${member}`;
}

/** Since when a lease has been as it is, by the clock of whoever watches it. */
export class LeaseWatch {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly mark: string; readonly at: number; readonly ms: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call with every state of a lease that is read or told. */
  told(lease: LeaseObject): void {
    const { holderIdentity = '', renewTime = '', leaseDurationSeconds = LEASE_SECONDS } = lease.spec ?? {};
    const mark = `${holderIdentity} ${renewTime}`;
    if (this.#seen.get(lease.metadata.name)?.mark === mark) return;
    this.#seen.set(lease.metadata.name, { mark, at: this.#clock.now(), ms: leaseDurationSeconds * 1_000 });
  }

  /** Undefined: never seen, which says nothing. */
  isAlive(name: string): boolean | undefined {
    const seen = this.#seen.get(name);
    return seen && this.#clock.now() - seen.at <= seen.ms;
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}

export interface MemberLeaseOptions {
  readonly member: string;
  /** The name of this life of the agent. */
  readonly life: string;
  /**
   * Where it lives, if only one agent can live there at a time (the uid of its pod). Then a lease that an earlier life in the same
   * place left behind is taken over at once: that life is dead. Danger: a place that two can share would be spoken for by two.
   */
  readonly place?: string;
}

export class MemberLease {
  readonly #clock: Clock;
  readonly #client: LeaseClient;
  readonly #name: string;
  readonly #member: string;
  readonly #holder: string;
  readonly #kin: string | undefined;
  readonly #watch: LeaseWatch;
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** As the server answered when we last wrote it. */
  #own: LeaseObject | undefined;
  #patchesFrom = Number.NEGATIVE_INFINITY;

  constructor(ports: { readonly clock: Clock }, client: LeaseClient, options: MemberLeaseOptions) {
    const { member, life, place } = options;
    this.#clock = ports.clock;
    this.#client = client;
    this.#name = leaseNameOf(member);
    this.#member = member;
    this.#holder = place === undefined ? life : `${place}_${life}`;
    this.#kin = place === undefined ? undefined : `${place}_`;
    this.#watch = new LeaseWatch(ports.clock);
  }

  /** Only while this is true may the agent begin anything. */
  get isHeld(): boolean {
    return this.#clock.now() < this.#heldUntil;
  }

  /** Takes or renews it. False: another one holds it. Throws what the API throws; what was held stays held until its time is up. */
  async renew(signal: AbortSignal): Promise<boolean> {
    const asked = this.#clock.now(); // not when the answer came: the others count from before that
    const result = (await this.#renewOwn(signal)) || (await this.#readAndRenew(signal));
    if (result) this.#heldUntil = asked + LEASE_SECONDS * 1_000;
    return result;
  }

  /**
   * Without reading it first, and only what changes: thousands of agents do this all day. All that it rests on is tested by the server:
   * that we are the holder. No other life has this name, so that nobody can have had the lease since, whatever else was written to it.
   * A version would say less: a store that was restored counts them a second time.
   */
  async #renewOwn(signal: AbortSignal): Promise<boolean> {
    const own = this.#own;
    // Whatever comes of it, it is read the next time, unless this is written.
    this.#own = undefined;
    if (!own) return false;
    if (this.#clock.now() < this.#patchesFrom) return this.#update(own, signal);
    const value: readonly LeaseStep[] = [
      { op: 'test', path: '/spec/holderIdentity', value: this.#holder },
      { op: 'replace', path: '/spec/renewTime', value: this.#renewTime() },
    ];
    try {
      return this.#keep(await written(this.#client.patch(this.#name, { type: 'json', value }, { signal })));
    } catch (error) {
      const { status } = failureOf(error);
      if (status === 422) return false;
      // Accounts that were made before agents did this may update their lease, and not patch it.
      if (status !== 403) throw error;
      this.#patchesFrom = this.#clock.now() + NO_PATCH_MS;
      return this.#update(own, signal);
    }
  }

  async #readAndRenew(signal: AbortSignal): Promise<boolean> {
    const lease = await this.#client.find(this.#name, { signal });
    return lease ? this.#update(lease, signal) : this.#create(signal);
  }

  async #create(signal: AbortSignal): Promise<boolean> {
    const metadata = { name: this.#name, labels: { [MEMBER_LEASE_LABEL]: this.#member } };
    return this.#keep(await written(this.#client.create({ metadata, spec: this.#spec(0) }, { signal })));
  }

  async #update(lease: LeaseObject, signal: AbortSignal): Promise<boolean> {
    this.#watch.told(lease);
    const { holderIdentity = '', leaseTransitions = 0 } = lease.spec ?? {};
    const isOurs = holderIdentity === this.#holder;
    const isFree = holderIdentity === '' || (this.#kin !== undefined && holderIdentity.startsWith(this.#kin));
    if (!isOurs && !isFree && this.#watch.isAlive(this.#name)) return false;
    const spec = this.#spec(isOurs ? leaseTransitions : leaseTransitions + 1);
    return this.#keep(await written(this.#client.update({ ...lease, spec }, { signal })));
  }

  #keep(result: Written<LeaseObject>): boolean {
    if (result.written) this.#own = result.object;
    return result.written;
  }

  #spec(leaseTransitions: number): NonNullable<LeaseObject['spec']> {
    return {
      holderIdentity: this.#holder,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: this.#renewTime(),
      leaseTransitions,
    };
  }

  /** The server wants microseconds. */
  #renewTime(): string {
    return new Date(this.#clock.now()).toISOString().replace('Z', '000Z');
  }
}
