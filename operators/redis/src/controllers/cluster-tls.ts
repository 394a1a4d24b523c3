/** The TLS of one cluster in one turn: how its servers are reached, and whether they show what they should. */
import type { Waiting } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { Certificates } from '../api/certificates.ts';
import type { RedisClusterObject } from '../api/kinds.ts';
import type { RedisPort } from '../api/port.ts';
import type { ConnectOptions } from '../client/client.ts';
import type { Desired } from '../plan/desired.ts';
import type { PodFacts, PodMember } from '../plan/pods.ts';
import { declareTls, type JudgedOffer, type ServedTls } from './tls.ts';
import type { Rehearsals } from './tls-rehearsals.ts';
import { reloadCertificates, type ShownCertificates } from './tls-reload.ts';

export interface TlsGiven {
  readonly work: Reconcile<RedisClusterObject>;
  /** Without it no cluster can have TLS. */
  readonly certificates: Certificates | undefined;
  readonly shownCertificates: ShownCertificates;
  readonly rehearsals: Rehearsals;
}

interface ReachTurn {
  readonly pods: readonly PodFacts[];
  /** Whether certificates may be made, renewed and given to servers. */
  readonly mayMake: boolean;
}

export class ClusterTls {
  readonly #given: TlsGiven;
  readonly #desired: Desired;
  readonly #waiting: Waiting[];
  #served: ServedTls | undefined;
  #judged: JudgedOffer | undefined;
  #taken: string | undefined;

  /** What is waited for is added to `waiting`. */
  constructor(given: TlsGiven, desired: Desired, waiting: Waiting[]) {
    this.#given = given;
    this.#desired = desired;
    this.#waiting = waiting;
  }

  /** What is said of certificates that somebody else keeps. Undefined: nobody looked at them in this turn, and what was said stands. */
  get judged(): JudgedOffer | undefined {
    return this.#judged;
  }

  /** What servers were given of these, as far as it is known by now. */
  get taken(): string | undefined {
    return this.#taken ?? this.#given.work.object.status?.tls?.taken;
  }

  /** Undefined: there is no way in yet. */
  async reach(options: ConnectOptions | undefined, { pods, mayMake }: ReachTurn): Promise<ConnectOptions | undefined> {
    if (!options) return undefined;
    const { work, certificates, shownCertificates: shown, rehearsals } = this.#given;
    const tls = await declareTls(work, { desired: this.#desired, certificates, mayMake, pods, shown, rehearsals });
    if (tls.state === 'off') return options;
    this.#judged = tls.judged;
    if (tls.waitingFor) this.#waiting.push(tls.waitingFor);
    if (tls.state === 'waiting') return undefined;
    this.#served = tls.served;
    this.#taken = tls.taken;
    return { ...options, tls: tls.served.access };
  }

  async reload(members: readonly PodMember[], redis: RedisPort): Promise<void> {
    const { certificates, shownCertificates: shown } = this.#given;
    if (!this.#served || !certificates) return;
    this.#waiting.push(...(await reloadCertificates({ members, redis, certificates, served: this.#served, shown })));
  }
}
