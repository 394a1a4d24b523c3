/** Members and their agents as the manager follows them for a term: who is heard of, and orders for them. */
import {
  type Clock,
  type DeepReadonly,
  type Executor,
  type Ids,
  type LeaseObject,
  type Member,
  MEMBER_LEASE_LABEL,
  MemberOrders,
  type ResourceEvent,
  type Waiting,
} from '@reeve/runtime';
import type { Api, Reconcile } from '@reeve/runtime/manager';
import { CarefulExecutor } from '../agent/careful-executor.ts';
import type { RedisFacts } from '../agent/facts.ts';
import { memberExecutor, orderSeconds } from '../agent/member-executor.ts';
import { type LeaseSight, lostAt, presenceOf, seeLease } from '../agent/presence.ts';
import { CLUSTER_LABEL } from '../api/cluster.ts';
import type { RedisCommand } from '../api/commands.ts';
import { type MemberLeaseObject, type MemberObject, members, type RedisClusterObject } from '../api/kinds.ts';
import type { PodFacts } from '../plan/pods.ts';
import { demandAgentPolicy } from './agent-policy.ts';
import { isAgentGone } from './gone-agent.ts';
import { type ClusterRef, type IsGone, LeftOrders } from './left-orders.ts';
import { declareAgentRights, declarePodMembers } from './pod-agents.ts';
import { type Enrolled, membersByNode, refOf, rosterOf } from './roster.ts';

interface EnrolledGiven {
  readonly api: Api;
  /** The transition number of the lease by which this process leads. */
  readonly lease: number;
  /** The members that name a cluster, from the cache. */
  membersOf(cluster: string): readonly DeepReadonly<MemberObject>[];
  /** Looks at a cluster anew. */
  wake(cluster: string): void;
}

/** What a turn of a cluster with agents is given. */
export interface Enrollment {
  readonly roster: readonly Enrolled[];
  /** When the next of its agents will be lost, if it stays silent. */
  readonly nextLossAt: number | undefined;
  /** For one operation: the first command takes back what was ordered before. `otherwise`: where there is no agent. */
  executor(otherwise?: Executor<RedisCommand>): Executor<RedisCommand>;
}

/** What a turn of a cluster with agents in its pods is given. */
export interface PodAgents extends Enrollment {
  /** Their rights, and a Member for each pod; neither, and no pods, where nothing narrows agents. */
  declare(work: Reconcile<RedisClusterObject>, pods: readonly PodFacts[]): Promise<void>;
}

export class EnrolledMembers implements AsyncDisposable {
  readonly #ports: { readonly clock: Clock; readonly ids: Ids };
  readonly #given: EnrolledGiven;
  readonly #orders: MemberOrders;
  readonly #left: LeftOrders;
  /** By namespace and name of the member. */
  readonly #sights = new Map<string, LeaseSight>();
  /** Namespaces whose agents have their account. */
  readonly #rights = new Set<string>();

  constructor(ports: { readonly clock: Clock; readonly ids: Ids }, given: EnrolledGiven) {
    this.#ports = ports;
    this.#given = given;
    this.#orders = new MemberOrders(ports, {
      members: (namespace) => given.api.resource(members, namespace) as never,
      lease: () => given.lease,
      deadlineSecondsOf: orderSeconds,
    });
    this.#left = new LeftOrders(this.#orders, (cluster) => given.wake(cluster));
  }

  /** Call with every event of a member. The key of its cluster, if that must look at it. */
  told(event: ResourceEvent<MemberObject>): string | undefined {
    const { object, previous, change } = event;
    if (change === 'removed') this.#orders.gone(object as Member);
    else this.#orders.told(object as Member);
    return change === 'changed' && previous && !isNews(previous, object) ? undefined : clusterKey(object);
  }

  /** Call with every event of a member's lease. The key of the member whose agent is back, if it was lost. */
  saw({ object, change }: ResourceEvent<MemberLeaseObject>): string | undefined {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.labels?.[MEMBER_LEASE_LABEL] ?? ''}`;
    if (change === 'removed') {
      this.#sights.delete(key);
      return undefined;
    }
    const now = this.#ports.clock.now();
    const before = this.#sights.get(key);
    const after = seeLease(before, object as LeaseObject, now);
    this.#sights.set(key, after);
    return presenceOf(before, now).is === 'lost' && after !== before ? key : undefined;
  }

  /** Of bare servers. */
  of(cluster: string): Enrollment {
    return this.#enrollment(cluster, () => this.#roster(cluster));
  }

  /** Of pods, by their uids. */
  ofPods(cluster: string, pods: () => ReadonlySet<string>): PodAgents {
    return {
      ...this.#enrollment(cluster, () => this.#roster(cluster, pods())),
      declare: async (work, facts) => {
        // In every turn: what was there when the term began may be gone.
        await demandAgentPolicy(this.#given.api, work.signal);
        await this.#giveRights(work.object.metadata.namespace ?? '', work.signal);
        await declarePodMembers(work, facts);
      },
    };
  }

  /** What earlier managers ordered of bare servers. What is not taken back yet is told. */
  takeBack(cluster: ClusterRef): readonly Waiting[] {
    return this.#left.takeBack(cluster, this.#roster(cluster.key));
  }

  /** The same of these pods. `areToLeave`: there are to be no agents any more, so that nobody waits for one that is dead. */
  takeBackOfPods(
    cluster: ClusterRef,
    { pods, areToLeave }: { readonly pods: ReadonlySet<string>; readonly areToLeave: boolean },
  ): readonly Waiting[] {
    const isGone: IsGone = (one, signal) => {
      const { api } = this.#given;
      const sight = this.#sights.get(`${one.namespace}/${one.name}`);
      return isAgentGone(one, { api, sight, now: this.#ports.clock.now() }, signal);
    };
    return this.#left.takeBack(cluster, this.#roster(cluster.key, pods), areToLeave ? isGone : undefined);
  }

  /** The cluster is gone. */
  forget(cluster: string): void {
    this.#left.forget(cluster);
  }

  #enrollment(cluster: string, roster: () => readonly Enrolled[]): Enrollment {
    const now = this.#ports.clock.now();
    const present = roster();
    const losses = present.flatMap((one) => lostAt(this.#sights.get(`${one.namespace}/${one.name}`), now) ?? []);
    return {
      roster: present,
      nextLossAt: losses.length > 0 ? losses.reduce((a, b) => Math.min(a, b)) : undefined,
      executor: (otherwise) => this.#executor(cluster, roster, otherwise),
    };
  }

  /** Once in a term for each namespace: whoever takes them away meanwhile meant it. */
  async #giveRights(namespace: string, signal: AbortSignal): Promise<void> {
    if (this.#rights.has(namespace)) return;
    await declareAgentRights(this.#given.api, namespace, signal);
    this.#rights.add(namespace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sights.clear();
    await this.#left[Symbol.asyncDispose]();
  }

  #roster(cluster: string, pods?: ReadonlySet<string>): readonly Enrolled[] {
    const now = this.#ports.clock.now();
    const presence = ({ metadata }: DeepReadonly<MemberObject>) =>
      presenceOf(this.#sights.get(`${metadata.namespace ?? ''}/${metadata.name}`), now);
    return rosterOf(this.#given.membersOf(cluster), presence, pods);
  }

  #executor(
    cluster: string,
    roster: () => readonly Enrolled[],
    otherwise?: Executor<RedisCommand>,
  ): Executor<RedisCommand> {
    const present = () => membersByNode(roster());
    return new CarefulExecutor(this.#ports, memberExecutor(this.#ports, this.#orders, present), {
      sweep: async (signal) => {
        this.#left.forget(cluster);
        await Promise.all(roster().map((one) => this.#orders.sweep(refOf(one), () => false, signal)));
      },
      hasAgent: (node) => present().has(node),
      ...(otherwise && { otherwise }),
    });
  }
}

export function clusterKey({ metadata }: DeepReadonly<MemberObject>): string {
  return `${metadata.namespace ?? ''}/${metadata.labels?.[CLUSTER_LABEL] ?? ''}`;
}

/**
 * Whether a report is worth a look at the cluster: its server sees the cluster otherwise, or cannot be read; or the member itself changed.
 * What the check goes by and no digest has comes from the facts: what differs by who looks (slots that are open, who is missed or only met, links),
 * how the node itself is, and where it lives. How much it holds is none of it, but whether it holds anything is: a cluster may be made of those that do not.
 */
function isNews(before: DeepReadonly<MemberObject>, after: DeepReadonly<MemberObject>): boolean {
  const mark = ({ metadata, spec, status }: DeepReadonly<MemberObject>) => {
    const facts = status?.report?.facts as Partial<RedisFacts> | undefined;
    return JSON.stringify([
      metadata.labels?.[CLUSTER_LABEL],
      metadata.deletionTimestamp,
      spec.endpoint,
      status?.report?.digest,
      status?.report?.unknown,
      facts?.address,
      facts?.state,
      facts?.link,
      facts?.openSlots,
      facts?.others?.failed,
      facts?.others?.suspected,
      facts?.others?.handshakes,
      facts?.annotations,
      facts?.keys === 0,
      facts?.functions,
    ]);
  };
  return mark(before) !== mark(after);
}
