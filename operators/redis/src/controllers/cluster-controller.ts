/**
 * The operator of RedisClusters. A turn: declare its objects, look at every server, check, go on with the operation that runs or begin
 * the next, write the status. It rests on nothing but the resource, the caches and this turn's own look at the servers.
 */
import {
  type DeepReadonly,
  finished,
  localExecutor,
  MEMBER_LEASE_LABEL,
  type Ports,
  queueBackoff,
  requeueAfter,
  type Verdict,
  type Waiting,
} from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection, type Registry } from '@reeve/runtime/manager';
import type { BackupStore, SnapshotSource } from '../api/backup.ts';
import type { Certificates } from '../api/certificates.ts';
import { CLUSTER_LABEL } from '../api/cluster.ts';
import {
  configMaps,
  memberLeases,
  type MemberLeaseObject,
  type MemberObject,
  members,
  disruptionBudgets,
  type Pod,
  pods,
  type RedisClusterObject,
  redisClusters,
  type RedisTaskObject,
  redisTasks,
  secrets,
  services,
  statefulSets,
  type WorkerNode,
  workerNodes,
} from '../api/kinds.ts';
import type { RedisPort } from '../api/port.ts';
import type { ConnectOptions } from '../client/client.ts';
import { redisContext } from '../commands/context.ts';
import { redisHandlers } from '../commands/handlers.ts';
import { DraftSweep } from './backup/draft-sweep.ts';
import { Settling } from './choose.ts';
import { ClusterMetrics } from './cluster-metrics.ts';
import { ClusterTurn } from './cluster-turn.ts';
import { clusterKey, EnrolledMembers, type PodAgents } from './enrolled-members.ts';
import type { Environment } from './environment.ts';
import { OperationRuns } from './operation-runs.ts';
import { accessDigest } from './tls.ts';
import { Rehearsals } from './tls-rehearsals.ts';
import type { ShownCertificates } from './tls-reload.ts';
import { ToldFindings } from './told-findings.ts';

export interface RedisOperatorPorts extends Ports {
  /** A password that nobody can guess. */
  newPassword(): string;
  connect(options: ConnectOptions): RedisPort;
  /** Without it no cluster can have TLS. */
  readonly certificates?: Certificates;
  /** Without it there are no backups. */
  readonly backups?: { readonly store: BackupStore; snapshotsOf(options: ConnectOptions): SnapshotSource };
}

export interface RedisOperatorOptions {
  /** How often a cluster is looked at when nothing is to be done. Default 10 s; at most 30 s. */
  readonly lookEveryMs?: number;
  /** Where its metrics are put: those of the manager. Default: nowhere. */
  readonly metrics?: Pick<Registry, 'read'>;
}

/** What this process keeps of a cluster between turns. Losing it loses nothing. */
interface Kept {
  readonly redis: RedisPort;
  /** Of how it is reached. */
  readonly access: string;
  readonly environment: Omit<Environment, 'seeds' | 'annotations' | 'signal'>;
}

const GATHER_MS = 1_000;
const BY_CLUSTER = 'redis-cluster';
const LOOK_EVERY_MS = 10_000;
/** Whatever a cluster waits for, and however often its turns failed: what is amiss is told no later than this. */
const LONGEST_LOOK_MS = 30_000;
/** A look at a large cluster of which many are silent takes its time. */
const TURN_MS = 600_000;
export const FINALIZER = 'redis.reeve.dev/cluster';

export class RedisClusterController extends Controller<RedisClusterObject> {
  readonly #ports: RedisOperatorPorts;
  readonly #lookEveryMs: number;
  readonly #metrics: ClusterMetrics;
  readonly #kept = new Map<string, Kept>();
  readonly #settling = new Map<string, Settling>();
  readonly #toldFindings = new Map<string, ToldFindings>();
  readonly #shownCertificates = new Map<string, ShownCertificates>();
  readonly #rehearsals = new Map<string, Rehearsals>();
  /** Connections that were replaced while something may still run on them. */
  readonly #retired = new Map<string, readonly RedisPort[]>();
  #runs: OperationRuns = new OperationRuns(() => undefined);
  #pods: Reflection<Pod> | undefined;
  #tasks: Reflection<RedisTaskObject> | undefined;
  #workerNodes: Reflection<WorkerNode> | undefined;
  /** Of the term. */
  #enrolled: EnrolledMembers | undefined;
  /** Of the term, where there are backups. */
  #drafts: DraftSweep | undefined;

  constructor(ports: RedisOperatorPorts, { lookEveryMs = LOOK_EVERY_MS, metrics }: RedisOperatorOptions = {}) {
    super({ name: 'redis' });
    this.#ports = ports;
    this.#lookEveryMs = Math.min(lookEveryMs, LONGEST_LOOK_MS);
    this.#metrics = new ClusterMetrics(metrics);
  }

  override setUp(parts: Parts): void {
    const queue = parts.queue('clusters', { backoff: { ...queueBackoff, capMs: LONGEST_LOOK_MS } });
    const labelled = { labelSelector: CLUSTER_LABEL };
    const own = parts.reflect(redisClusters, { route: () => queue });
    parts.own(statefulSets, own, labelled);
    parts.own(services, own, labelled);
    parts.own(disruptionBudgets, own, labelled);
    parts.own(configMaps, own, labelled);
    parts.own(secrets, own, labelled);
    const clusterOf = ({ metadata }: DeepReadonly<Pod>) =>
      `${metadata?.namespace ?? ''}/${metadata?.labels?.[CLUSTER_LABEL] ?? ''}`;
    this.#pods = parts.wake(pods, own, (pod) => [clusterOf(pod)], {
      ...labelled,
      indexes: { [BY_CLUSTER]: (pod) => [clusterOf(pod)] },
    });
    const askedOf = ({ metadata, spec }: DeepReadonly<RedisTaskObject>) =>
      `${metadata.namespace ?? ''}/${spec.cluster}`;
    this.#tasks = parts.wake(redisTasks, own, (task) => [askedOf(task)], {
      indexes: { [BY_CLUSTER]: (task) => [askedOf(task)] },
    });
    this.#workerNodes = parts.reflect(workerNodes);
    this.#followMembers(parts, queue);
    parts.duringTerm(({ queues }) => {
      const runs = new OperationRuns((key) => queues[queue]?.add(key), this.#ports.clock);
      this.#runs = runs;
      return {
        [Symbol.asyncDispose]: async () => {
          await runs[Symbol.asyncDispose]();
          this.#metrics.clear();
          // Servers go on without us: a connection that stays open would keep this process from ending.
          for (const key of new Set([...this.#kept.keys(), ...this.#retired.keys()])) this.#disconnect(key);
        },
      };
    });
    const { backups } = this.#ports;
    if (backups) {
      parts.duringTerm(({ api }) => {
        this.#drafts = new DraftSweep(backups.store, api);
        this.#drafts.start();
        return this.#drafts;
      });
    }
    parts.work({
      of: own,
      queues: [queue],
      concurrency: 4,
      timeoutMs: TURN_MS,
      reconcile: (work) => this.#turn(work),
      finalizer: { name: FINALIZER, finalize: (work) => this.#finalize(work) },
      gone: async ({ key }) => {
        await this.#runs.stop(key, 'deleted');
        this.#forget(key);
      },
    });
  }

  /** Members of bare servers, and that their agents live. */
  #followMembers(parts: Parts, queue: string): void {
    // Many agents tell the same at once, and each a little later: one look will do.
    const to = (key: string | undefined) => (key === undefined ? undefined : { queue, key, afterMs: GATHER_MS });
    const reflection = parts.reflect<MemberObject>(members, {
      labelSelector: CLUSTER_LABEL,
      indexes: { [BY_CLUSTER]: (member) => [clusterKey(member)] },
      route: (_member, event) => to(this.#enrolled?.told(event)),
    });
    parts.reflect<MemberLeaseObject>(memberLeases, {
      labelSelector: MEMBER_LEASE_LABEL,
      route: (_lease, event) => {
        const back = this.#enrolled?.saw(event);
        const member = back === undefined ? undefined : reflection.cache.get(back);
        return to(member && clusterKey(member));
      },
    });
    parts.duringTerm(({ api, term, queues }) => {
      const membersOf = (cluster: string) => reflection.cache.byIndex(BY_CLUSTER, cluster);
      const wake = (cluster: string) => void queues[queue]?.add(cluster);
      const given = { api, lease: term.transitions, membersOf, wake };
      this.#enrolled = new EnrolledMembers(this.#ports, given);
      return this.#enrolled;
    });
  }

  async #turn(work: Reconcile<RedisClusterObject>): Promise<Verdict> {
    const { key } = work;
    const isExternal = work.object.spec.members === 'external';
    const enrollment = isExternal ? this.#enrolled?.of(key) : undefined;
    if (isExternal && !enrollment) return requeueAfter(this.#lookEveryMs);
    if (!this.#runs.of(key)) this.#closeRetired(key);
    this.#drafts?.start();
    const settling = this.#settling.get(key) ?? new Settling();
    this.#settling.set(key, settling);
    const toldFindings = this.#toldFindings.get(key) ?? new ToldFindings();
    this.#toldFindings.set(key, toldFindings);
    const shownCertificates = this.#shownCertificates.get(key) ?? new Map<string, string>();
    this.#shownCertificates.set(key, shownCertificates);
    const rehearsals = this.#rehearsals.get(key) ?? new Rehearsals();
    this.#rehearsals.set(key, rehearsals);
    const turn = new ClusterTurn({
      work,
      certificates: this.#ports.certificates,
      shownCertificates,
      rehearsals,
      runs: this.#runs,
      settling,
      toldFindings,
      pods: this.#pods?.cache.byIndex(BY_CLUSTER, key) ?? [],
      tasks: this.#tasks?.cache.byIndex(BY_CLUSTER, key) ?? [],
      enrollment,
      podAgents: work.object.spec.agents === 'sidecar' ? this.#podAgents(key) : undefined,
      takeBackOrders: (isPaused) => this.#takeBack(work, isPaused),
      draftLeft: () => this.#drafts?.due(),
      workerNode: (name) => this.#workerNodes?.cache.get(name),
      newPassword: () => this.#ports.newPassword(),
      environment: (options) => this.#environment(key, options),
      lookEveryMs: this.#lookEveryMs,
      saw: (seen) => this.#metrics.saw(key, seen),
    });
    return turn.run();
  }

  #podAgents(key: string): PodAgents | undefined {
    return this.#enrolled?.ofPods(key, () => this.#podUids(key));
  }

  #podUids(key: string): ReadonlySet<string> {
    const all = this.#pods?.cache.byIndex(BY_CLUSTER, key) ?? [];
    return new Set(all.map(({ metadata }) => metadata?.uid ?? ''));
  }

  /** Each operation takes back what was ordered before it. Where none comes by agents, this does: paused, or agents are to leave. */
  #takeBack({ key, object }: Reconcile<RedisClusterObject>, isPaused: boolean): readonly Waiting[] {
    const { members: whose, agents } = object.spec;
    const isExternal = whose === 'external';
    const areToLeave = agents !== 'sidecar';
    if (!isPaused && (isExternal || !areToLeave)) return [];
    const cluster = { key, uid: object.metadata.uid ?? '' };
    const left = isExternal
      ? this.#enrolled?.takeBack(cluster)
      : this.#enrolled?.takeBackOfPods(cluster, { pods: this.#podUids(key), areToLeave });
    return left ?? [];
  }

  /** One connection for each cluster, made anew when its password or its certificates changed. */
  #environment(key: string, options: ConnectOptions): Kept['environment'] {
    const access = accessDigest(options);
    const before = this.#kept.get(key);
    if (before?.access === access) return before.environment;
    // What still runs on the old one comes to its end there.
    if (before) this.#retired.set(key, [...(this.#retired.get(key) ?? []), before.redis]);
    const redis = this.#ports.connect(options);
    const executor = localExecutor(redisHandlers, redisContext(redis, this.#ports));
    const { backups: given } = this.#ports;
    const backups = given && { store: given.store, snapshots: given.snapshotsOf(options) };
    const environment = { redis, ports: this.#ports, executor, ...(backups && { backups }) };
    this.#kept.set(key, { redis, access, environment });
    return environment;
  }

  /** What is deleted must not be worked on. Its objects go with it; volumes stay, unless a person said otherwise before. */
  async #finalize(work: Reconcile<RedisClusterObject>): Promise<Verdict> {
    const { object, key } = work;
    if (!(await this.#runs.stop(key, 'deleted'))) return requeueAfter(this.#lookEveryMs);
    const { storage, deletionPolicy = 'Retain', members: whose } = object.spec;
    if (deletionPolicy === 'Retain' && !storage && whose !== 'external' && object.status?.configured) {
      work.events.warning(
        'DataWouldBeLost',
        'This cluster has no volumes: its data goes with its pods. Set deletionPolicy: Delete if that is meant.',
        'Finalize',
      );
      return requeueAfter(this.#lookEveryMs);
    }
    this.#forget(key);
    return finished;
  }

  #closeRetired(key: string): void {
    for (const redis of this.#retired.get(key) ?? []) void redis.close();
    this.#retired.delete(key);
  }

  #disconnect(key: string): void {
    this.#closeRetired(key);
    void this.#kept.get(key)?.redis.close();
    this.#kept.delete(key);
  }

  #forget(key: string): void {
    this.#disconnect(key);
    this.#settling.delete(key);
    this.#toldFindings.delete(key);
    this.#shownCertificates.delete(key);
    this.#rehearsals.delete(key);
    this.#enrolled?.forget(key);
    this.#metrics.forget(key);
  }
}
