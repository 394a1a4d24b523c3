/** The TLS of one cluster in one turn: how its servers are reached, and whether they show what they should. */
import type { Refusal, Waiting } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { Certificates } from '../api/certificates.ts';
import type { RedisClusterObject } from '../api/kinds.ts';
import type { RedisPort } from '../api/port.ts';
import type { ConnectOptions } from '../client/client.ts';
import type { Desired } from '../plan/desired.ts';
import type { PodFacts, PodMember } from '../plan/pods.ts';
import { declareTls, type ServedTls } from './tls.ts';
import { reloadCertificates, type ShownCertificates } from './tls-reload.ts';

export interface TlsGiven {
  readonly work: Reconcile<RedisClusterObject>;
  /** Without it no cluster can have TLS. */
  readonly certificates: Certificates | undefined;
  readonly shownCertificates: ShownCertificates;
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
  #refused: Refusal | undefined;

  /** What is waited for is added to `waiting`. */
  constructor(given: TlsGiven, desired: Desired, waiting: Waiting[]) {
    this.#given = given;
    this.#desired = desired;
    this.#waiting = waiting;
  }

  /** Why servers are not given what somebody else wants them to have. */
  get refused(): Refusal | undefined {
    return this.#refused;
  }

  /** Undefined: there is no way in yet. */
  async reach(options: ConnectOptions | undefined, { pods, mayMake }: ReachTurn): Promise<ConnectOptions | undefined> {
    if (!options) return undefined;
    const { work, certificates, shownCertificates: shown } = this.#given;
    // Silent ones may live, too: only a pod without a process cannot be locked out.
    const isDead = ({ isReady, server }: PodFacts) => !isReady && (server === 'down' || server === 'unstarted');
    const isShown = (fingerprint: string) => pods.every((pod) => isDead(pod) || shown.get(pod.uid) === fingerprint);
    const tls = await declareTls(work, { desired: this.#desired, certificates, mayMake, isShown });
    if (tls.state === 'off') return options;
    if (tls.state === 'waiting') {
      this.#waiting.push(tls.waitingFor);
      return undefined;
    }
    this.#served = tls.served;
    this.#refused = tls.refused;
    return { ...options, tls: tls.served.access };
  }

  async reload(members: readonly PodMember[], redis: RedisPort): Promise<void> {
    const { certificates, shownCertificates: shown } = this.#given;
    if (!this.#served || !certificates) return;
    this.#waiting.push(...(await reloadCertificates({ members, redis, certificates, served: this.#served, shown })));
  }
}
