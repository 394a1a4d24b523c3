/**
 * An agent: a small controller next to one data node. Its observer reports the node's state, its reflector brings the node's orders,
 * its handlers carry them out. It is the only writer of its member's status, one write at a time.
 */
import { ResourceCache } from '../cache/cache.ts';
import type { LocalExecutor } from '../command/executor.ts';
import { canonicalJson } from '../digest/digest.ts';
import { asReeveError } from '../errors/errors.ts';
import { Changes } from '../observer/changes.ts';
import { Observer } from '../observer/observer.ts';
import type { Clock, Ids, Random } from '../ports/ports.ts';
import type { ListWatch } from '../reflector/port.ts';
import { Reflector } from '../reflector/reflector.ts';
import { Newest } from '../resource/newest.ts';
import { type ObjectClient, written } from '../resource/objects.ts';
import { keyOf } from '../resource/resource.ts';
import { type LeaseClient, MemberLease, RENEW_MS } from './lease.ts';
import { type Member, type MemberStatus, memberKind } from './member.ts';
import { isOnlyProgress, judgeOrders, type OrdersTurn } from './orders.ts';
import { type NodeView, type Report, reportOf, unreadable } from './report.ts';
import { OrderRuns } from './runs.ts';

export interface AgentOptions {
  readonly namespace: string;
  /** Of the member that this agent speaks for. */
  readonly name: string;
  readonly version: string;
  /** The uid of the pod that it lives in, if it does: it speaks for no other pod of that name. */
  readonly podUid?: string;
  /** See `MemberLeaseOptions.place`. Default: the pod, which holds one agent at a time. */
  readonly place?: string;
  /** List and watch of this one member (by a field selector: it may see no other). */
  readonly source: ListWatch<Member>;
  readonly members: ObjectClient<Member>;
  readonly leases: LeaseClient;
  readonly executor: LocalExecutor;
  /** Looks at the node. Read only. What it throws is reported as unknown. `member`: as far as it is known, what the manager says of it. */
  observe(signal: AbortSignal, member: Member | undefined): Promise<NodeView>;
  /** How often the node is looked at. Default 1 s. */
  readonly everyMs?: number;
  /** How often progress alone is worth a write. Default 5 s. */
  readonly progressMs?: number;
  /** For logs: what went wrong and is tried again. */
  failed?(error: unknown): void;
}

export interface AgentPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
}

/** After a write that failed. */
const RETRY_MS = 1_000;

export class Agent {
  readonly life: string;
  readonly #ports: AgentPorts;
  readonly #options: AgentOptions;
  readonly #cache: ResourceCache<Member>;
  readonly #newest = new Newest<Member>();
  readonly #runs: OrderRuns;
  readonly #lease: MemberLease;
  #report: Report | undefined;
  /** The spec that was known when the last look at the node began. */
  #observedGeneration: number | undefined;
  #progressAt = Number.NEGATIVE_INFINITY;
  #wake: AbortController | undefined;
  #hasNews = true;

  constructor(ports: AgentPorts, options: AgentOptions) {
    this.#ports = ports;
    this.#options = options;
    this.life = ports.ids.next('agent');
    const { group, kind } = memberKind;
    const { namespace, name } = options;
    this.#cache = new ResourceCache<Member>({
      scope: { group, kind, namespace, fieldSelector: `metadata.name=${name}` },
    });
    this.#runs = new OrderRuns(ports.clock, options.executor, () => this.#nudge());
    const place = options.place ?? options.podUid;
    this.#lease = new MemberLease(ports, options.leases, {
      member: name,
      life: this.life,
      ...(place !== undefined && { place }),
    });
  }

  /** Runs until the signal aborts; then what it carries out is stopped and waited for, and the next life asks the world. */
  async run(signal: AbortSignal): Promise<void> {
    const observer = this.#observer();
    const reflector = new Reflector(this.#ports, { source: this.#options.source, cache: this.#cache });
    const reflecting = this.#reflect(reflector, signal);
    const renewing = this.#renew(signal);
    observer.start();
    while (!signal.aborted) {
      await this.#untilNews(signal);
      if (signal.aborted) break;
      try {
        await this.#turn(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#options.failed?.(error);
        this.#hasNews = true;
        await this.#ports.clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
    await Promise.all([observer[Symbol.asyncDispose](), reflecting, renewing, this.#runs.stop('shutdown')]);
  }

  /** One look at the member, one write at most, then what follows from it. */
  async #turn(signal: AbortSignal): Promise<void> {
    const member = this.#member();
    if (!member || !this.#lease.isHeld || !this.#isOurs(member)) return;
    this.#runs.collect();
    const { begun, ended, progress, checked } = this.#runs;
    const turn = judgeOrders(member, { life: this.life, begun, ended, progress, checked });
    const status = this.#statusOf(member, turn);
    if (!this.#isWorthWriting(member.status, status)) return this.#act(turn);
    const { members } = this.#options;
    const result = await written(members.update({ ...member, status }, { subresource: 'status', signal }));
    if (result.written) {
      this.#newest.keep(result.object);
      this.#runs.forget(turn.results); // what is in the status need not be remembered
      // Recorded: only now may anything begin.
      return this.#act(turn);
    }
    const live = result.why === 'absent' ? undefined : await members.find(this.#options.name, { signal });
    if (live) this.#newest.keep(live);
    this.#nudge();
  }

  #act({ begin, check, stop }: OrdersTurn): void {
    for (const key of stop) this.#runs.cancel(key);
    // A lease that ran out while the record was written may be another agent's by now.
    if (this.#lease.isHeld) for (const order of begin) this.#runs.begin(order);
    for (const order of check) this.#runs.check(order);
  }

  #statusOf(member: Member, { results, highestLease }: OrdersTurn): MemberStatus {
    const { version, executor } = this.#options;
    const generation = this.#observedGeneration ?? member.status?.observedGeneration;
    const report = this.#report ?? member.status?.report;
    return {
      agent: { version, capabilities: [...executor.types].sort() },
      ...(generation !== undefined && { observedGeneration: generation }),
      ...(report && { report }),
      highestLease,
      results,
    };
  }

  #isWorthWriting(before: MemberStatus | undefined, after: MemberStatus): boolean {
    if (canonicalJson(before ?? {}) === canonicalJson(after)) return false;
    if (!isOnlyProgress(before, after)) return true;
    const { progressMs = 5_000 } = this.#options;
    if (this.#ports.clock.now() - this.#progressAt < progressMs) return false;
    this.#progressAt = this.#ports.clock.now();
    return true;
  }

  #member(): Member | undefined {
    const { namespace, name } = this.#options;
    const cached = this.#cache.get(keyOf({ metadata: { namespace, name } })) as Member | undefined;
    return cached && this.#newest.of(cached);
  }

  /** The member of a pod that was replaced is not ours before the manager says so. */
  #isOurs({ spec }: Member): boolean {
    const { podUid } = this.#options;
    return podUid === undefined || spec.pod?.uid === podUid;
  }

  /** On a bare host the lease comes first; in a pod it is first asked whose the member is. */
  #mayHold(): boolean {
    if (this.#options.podUid === undefined) return true;
    const member = this.#member();
    return member !== undefined && this.#isOurs(member);
  }

  #observer(): Observer<NodeView> {
    let seen: number | undefined;
    return new Observer<NodeView>(this.#ports, new Changes(), this.#options.name, {
      everyMs: this.#options.everyMs ?? 1_000,
      observe: (_key, signal) => {
        const member = this.#member();
        seen = member?.metadata.generation;
        return this.#options.observe(signal, member && this.#isOurs(member) ? member : undefined);
      },
      report: (_key, view) => this.#seen(seen, () => reportOf(view)),
      failed: (_key, error) => this.#seen(seen, () => unreadable(this.#report, asReeveError(error).message)),
    });
  }

  #seen(generation: number | undefined, report: () => Report): void {
    try {
      this.#report = report();
    } catch (error) {
      this.#report = unreadable(undefined, asReeveError(error).message);
    }
    this.#observedGeneration = generation ?? this.#observedGeneration;
    this.#nudge();
  }

  async #reflect(reflector: Reflector<Member>, signal: AbortSignal): Promise<void> {
    for await (const event of reflector.events(signal)) {
      if (event.change === 'removed') {
        this.#newest.forget(event.uid);
        this.#runs.cancelAll(); // nobody wants it any more, and nobody could ever ask how it ended
      }
      this.#nudge();
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        // The lease of a member that is another pod's keeps that pod's agent from its work, for as long as this one lives.
        const isHeld = this.#mayHold() && (await this.#lease.renew(signal));
        // Another agent speaks for this member now, and has asked the world about what runs here: it must not go on.
        if (!isHeld && !this.#lease.isHeld) this.#runs.cancelAll();
        this.#nudge();
      } catch (error) {
        if (!signal.aborted) this.#options.failed?.(error);
      }
      const pauseMs = (this.#lease.isHeld ? RENEW_MS : RETRY_MS) * (0.9 + 0.2 * this.#ports.random.next());
      await this.#ports.clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  #nudge(): void {
    this.#hasNews = true;
    this.#wake?.abort('news'); // without a reason an exception is made for it
  }

  /** The observer brings news every second at the latest, so that progress is looked at, too. */
  async #untilNews(signal: AbortSignal): Promise<void> {
    if (!this.#hasNews) {
      const wake = new AbortController();
      this.#wake = wake;
      const onAbort = () => wake.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      await this.#ports.clock.sleep(RENEW_MS, wake.signal).catch(() => undefined);
      signal.removeEventListener('abort', onAbort);
      this.#wake = undefined;
    }
    this.#hasNews = false;
  }
}
