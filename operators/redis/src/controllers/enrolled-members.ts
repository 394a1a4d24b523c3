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
} from '@reeve/runtime';
import type { Api } from '@reeve/runtime/manager';
import { CarefulExecutor } from '../agent/careful-executor.ts';
import { memberExecutor, orderSeconds } from '../agent/member-executor.ts';
import { type LeaseSight, presenceOf, seeLease } from '../agent/presence.ts';
import { CLUSTER_LABEL } from '../api/cluster.ts';
import type { RedisCommand } from '../api/commands.ts';
import { type MemberLeaseObject, type MemberObject, members } from '../api/kinds.ts';
import { type Enrolled, membersByNode, rosterOf } from './roster.ts';

interface EnrolledGiven {
  readonly api: Api;
  /** The transition number of the lease by which this process leads. */
  readonly lease: number;
  /** The members that name a cluster, from the cache. */
  membersOf(cluster: string): readonly DeepReadonly<MemberObject>[];
}

/** What a turn of a cluster with external members is given. */
export interface Enrollment {
  readonly roster: readonly Enrolled[];
  /** For one operation: the first command takes back what was ordered before. */
  executor(): Executor<RedisCommand>;
}

export class EnrolledMembers implements AsyncDisposable {
  readonly #ports: { readonly clock: Clock; readonly ids: Ids };
  readonly #given: EnrolledGiven;
  readonly #orders: MemberOrders;
  /** By namespace and name of the member. */
  readonly #sights = new Map<string, LeaseSight>();

  constructor(ports: { readonly clock: Clock; readonly ids: Ids }, given: EnrolledGiven) {
    this.#ports = ports;
    this.#given = given;
    this.#orders = new MemberOrders(ports, {
      members: (namespace) => given.api.resource(members, namespace) as never,
      lease: () => given.lease,
      deadlineSecondsOf: orderSeconds,
    });
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

  of(cluster: string): Enrollment {
    return { roster: this.#roster(cluster), executor: () => this.#executor(cluster) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sights.clear();
  }

  #roster(cluster: string): readonly Enrolled[] {
    const now = this.#ports.clock.now();
    return rosterOf(this.#given.membersOf(cluster), ({ metadata }) =>
      presenceOf(this.#sights.get(`${metadata.namespace ?? ''}/${metadata.name}`), now),
    );
  }

  #executor(cluster: string): Executor<RedisCommand> {
    const present = () => membersByNode(this.#roster(cluster));
    return new CarefulExecutor(this.#ports, memberExecutor(this.#ports, this.#orders, present), {
      sweep: (signal) => this.#sweep(cluster, signal),
      hasAgent: (node) => present().has(node),
    });
  }

  async #sweep(cluster: string, signal: AbortSignal): Promise<void> {
    const all = this.#roster(cluster);
    await Promise.all(all.map(({ namespace, name }) => this.#orders.sweep({ namespace, name }, () => false, signal)));
  }
}

export function clusterKey({ metadata }: DeepReadonly<MemberObject>): string {
  return `${metadata.namespace ?? ''}/${metadata.labels?.[CLUSTER_LABEL] ?? ''}`;
}

/** Whether a report is worth a look at the cluster: its server sees the cluster otherwise, or cannot be read, or the member itself changed. */
function isNews(before: DeepReadonly<MemberObject>, after: DeepReadonly<MemberObject>): boolean {
  const mark = ({ metadata, spec, status }: DeepReadonly<MemberObject>) =>
    JSON.stringify([
      metadata.labels?.[CLUSTER_LABEL],
      metadata.deletionTimestamp,
      spec.endpoint,
      status?.report?.digest,
      status?.report?.unknown,
    ]);
  return mark(before) !== mark(after);
}
