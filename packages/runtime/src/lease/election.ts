/**
 * Who leads: whoever holds the Lease. It is taken when its holder gave it back, or has not renewed it for as long as it promised,
 * counted on our own clock from when we saw its last renewal: no decision compares the clocks of two machines.
 */
import type { Stored } from '@reeve/kube';
import type { ResourceApi } from '../client/api.ts';
import { microTimestamp } from '../conditions/conditions.ts';
import { ReeveError } from '../errors/errors.ts';
import { deadline, orAborted } from '../ports/deadline.ts';
import type { Clock, Random } from '../ports/ports.ts';
import { failureOf } from '../reflector/port.ts';
import type { Lease } from './lease.ts';
import { LeaseTerm } from './term.ts';

export interface ElectionOptions {
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process, not only to its host. */
  readonly identity: string;
  /** What the holder promises: after so long without renewal others may take it. Default 15 s. */
  readonly leaseMs?: number;
  /** How long the holder tries to renew before it gives up. Default 10 s; the rest is for clocks that run apart and writes on their way. */
  readonly renewMs?: number;
  /** Between two tries. Default 2 s. */
  readonly retryMs?: number;
  /** For logs: what went wrong; it is tried again. */
  failed?(error: unknown): void;
}

export class Election {
  readonly identity: string;
  readonly #ports: { readonly clock: Clock; readonly random: Random };
  readonly #api: ResourceApi<Lease>;
  readonly #options: Required<Omit<ElectionOptions, 'failed'>> & Pick<ElectionOptions, 'failed'>;
  /** The lease as last seen, and when that state was first seen. */
  #seen: { readonly lease: Stored<Lease>; readonly at: number } | undefined;

  constructor(
    ports: { readonly clock: Clock; readonly random: Random },
    api: ResourceApi<Lease>,
    options: ElectionOptions,
  ) {
    this.#ports = ports;
    this.#api = api;
    this.#options = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000, ...options };
    this.identity = options.identity;
    const { leaseMs, renewMs, retryMs } = this.#options;
    if (!(leaseMs > renewMs && renewMs > retryMs && retryMs > 0)) {
      throw new ReeveError(
        'ELECTION_OPTIONS',
        'a lease must last longer than renewing may, and that longer than a try',
      );
    }
  }

  /** Who holds the lease as far as we know. */
  get holder(): string | undefined {
    return this.#seen?.lease.spec?.holderIdentity || undefined;
  }

  /** Waits until this process holds the lease; rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<LeaseTerm> {
    for (;;) {
      signal.throwIfAborted();
      const term = await this.#try(signal, () => this.#take(signal));
      if (term) return term;
      // Jittered: those who wait for the same lease must not come at the same time.
      await this.#ports.clock.sleep(this.#options.retryMs * (1 + 0.2 * this.#ports.random.next()), signal);
    }
  }

  /** Renews until the term is lost or the signal aborts. True if it was lost; it is ended then. */
  async keep(term: LeaseTerm, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#ports;
    for (;;) {
      const pause = Math.min(this.#options.retryMs, Math.max(0, term.validUntil - clock.now()));
      await clock.sleep(pause, signal).catch(() => undefined);
      if (signal.aborted) return false;
      const isOurs = clock.now() < term.validUntil && (await this.#renew(term, signal));
      if (signal.aborted) return false;
      if (isOurs) continue;
      term.end('lost-lease');
      return true;
    }
  }

  /** Gives the lease back, so that others need not wait. The last thing a process does; nothing of the term may run any more. */
  async release(term: LeaseTerm, signal?: AbortSignal): Promise<boolean> {
    term.end('shutdown');
    const lease = this.#seen?.lease;
    if (!lease || !isHolder(lease, term)) return false;
    const renewTime = microTimestamp(this.#ports.clock.now());
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime };
    const released = await this.#try(signal, () => this.#write({ ...lease, spec }, signal));
    return released !== undefined;
  }

  async #take(signal: AbortSignal): Promise<LeaseTerm | undefined> {
    const { clock } = this.#ports;
    const { namespace, name, leaseMs } = this.#options;
    const found = await this.#api.find(name, { signal });
    if (found) this.#see(found);
    const record = found?.spec;
    if (found && record?.holderIdentity && record.holderIdentity !== this.identity) {
      const promisedMs = record.leaseDurationSeconds === undefined ? leaseMs : record.leaseDurationSeconds * 1_000;
      if (clock.now() < (this.#seen?.at ?? 0) + promisedMs) return undefined;
    }
    const renewedAt = clock.now();
    const now = microTimestamp(renewedAt);
    // A new number also for the same holder: writes of its earlier term must not pass for writes of this one.
    const transitions = (record?.leaseTransitions ?? 0) + 1;
    const spec = {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: transitions,
    };
    if (found) await this.#write({ ...found, spec }, signal);
    else this.#see(await this.#api.create({ metadata: { namespace, name }, spec }, { signal }));
    return new LeaseTerm(clock, { holder: this.identity, transitions, renewMs: this.#options.renewMs, renewedAt });
  }

  /** One try. False only if the lease is surely another's. */
  async #renew(term: LeaseTerm, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#ports;
    const tooLate = () => new ReeveError('LEASE_RENEWAL', 'the lease could not be renewed in time');
    using limit = deadline(clock, Math.max(0, term.validUntil - clock.now()), tooLate, signal);
    const lease = this.#seen?.lease;
    if (!lease) return false;
    const at = clock.now();
    try {
      const renewed = { ...lease, spec: { ...lease.spec, renewTime: microTimestamp(at) } };
      await orAborted(this.#write(renewed, limit.signal), limit.signal);
      term.renewed(at);
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      this.#options.failed?.(error);
      const { status } = failureOf(error);
      if (status !== 409 && status !== 404) return true; // it may still be ours: tried again until time is up
    }
    // Somebody wrote it since: perhaps we ourselves, with an answer that got lost.
    try {
      const { signal: inTime } = limit;
      const now = await orAborted(this.#api.find(this.#options.name, { signal: inTime }), inTime);
      if (!now) return false; // deleted: whoever creates it leads
      this.#see(now);
      return isHolder(now, term);
    } catch (error) {
      if (!signal.aborted) this.#options.failed?.(error);
      return true;
    }
  }

  async #write(lease: Stored<Lease>, signal: AbortSignal | undefined): Promise<Stored<Lease>> {
    const written = await this.#api.update(lease, signal ? { signal } : {});
    this.#see(written);
    return written;
  }

  #see(lease: Stored<Lease>): void {
    const isSame = this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
    if (!isSame) this.#seen = { lease, at: this.#ports.clock.now() };
  }

  async #try<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) return undefined;
      this.#options.failed?.(error);
      return undefined;
    }
  }
}

function isHolder({ spec }: Lease, term: LeaseTerm): boolean {
  return spec?.holderIdentity === term.holder && spec.leaseTransitions === term.transitions;
}
