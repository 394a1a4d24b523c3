/** One turn of one cluster. */
import {
  type DeepReadonly,
  type Refusal,
  requeueAfter,
  setConditions,
  timestamp,
  type Verdict,
  type Waiting,
  wakeAt,
} from '@reeve/runtime';
import { isKubeError } from '@reeve/kube';
import type { Reconcile } from '@reeve/runtime/manager';
import {
  APPROVE,
  type CurrentOperation,
  type PastOperation,
  type RedisClusterSpec,
  type RedisClusterStatus,
} from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';
import {
  type Pod,
  pods,
  type RedisClusterObject,
  type RedisTaskObject,
  secrets,
  statefulSets,
  type WorkerNode,
  type Secret,
  redisTasks,
} from '../api/kinds.ts';
import type { ClusterView } from '../api/view.ts';
import type { ConnectOptions } from '../client/client.ts';
import { observeCluster } from '../observe/observe.ts';
import { checkCluster, isClean } from '../plan/check.ts';
import { namesOf } from '../plan/children.ts';
import { conditionType, findingConditions, phaseOf, shownTopology, topologyOf } from '../plan/cluster-status.ts';
import { type Desired, desiredOf, specProblems } from '../plan/desired.ts';
import { nextSteps, type OperationWish, type RestartWish } from '../plan/next.ts';
import { endpointOf, ordinalOf, podMembers, type PodFacts, type PodMember } from '../plan/pods.ts';
import { safeReplicas } from '../plan/shrink.ts';
import { taskWish } from '../plan/task-wish.ts';
import { clusters, ownersBySlot, sameEndpoint } from '../plan/topology.ts';
import { type Choice, choose, Settling } from './choose.ts';
import { podFacts } from './cluster-facts.ts';
import type { SeenCluster } from './cluster-metrics.ts';
import { connectOptionsOf } from './credentials.ts';
import { declareAuth, declareServices, declareSet } from './declare.ts';
import type { Environment } from './environment.ts';
import type { OperationRuns, RunEnd } from './operation-runs.ts';
import { checkedStatus, endedStatus, openTasks, refusedStatus, startedStatus, triggerOf, writeTask } from './tasks.ts';

export interface TurnGiven {
  readonly work: Reconcile<RedisClusterObject>;
  readonly runs: OperationRuns;
  readonly settling: Settling;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly tasks: readonly DeepReadonly<RedisTaskObject>[];
  workerNode(name: string): DeepReadonly<WorkerNode> | undefined;
  newPassword(): string;
  environment(options: ConnectOptions): Omit<Environment, 'seeds' | 'annotations' | 'signal'>;
  readonly lookEveryMs: number;
  saw(seen: SeenCluster): void;
}

/** While something is under way or amiss. */
const SOON_MS = 2_000;
const HISTORY = 10;
const MOST_STEPS = 32;
const MOST_TEXT = 2_000;

interface Seen {
  readonly members: readonly PodMember[];
  readonly view: ClusterView;
  readonly findings: readonly Finding[];
}

export class ClusterTurn {
  readonly #given: TurnGiven;
  readonly #desired: Desired;
  readonly #before: DeepReadonly<RedisClusterStatus>;
  readonly #waiting: Waiting[] = [];
  #current: CurrentOperation | undefined;
  #history: readonly PastOperation[];
  #problems: readonly Refusal[] = [];
  #refused: readonly Refusal[] = [];
  #proposed: Choice['proposed'];
  #wakeAt: number | undefined;
  #hasEnded = false;
  /** What was written of it is not in the cache yet. */
  #endedTask: string | undefined;
  /** Why an object of ours could not be made what it should be. */
  #undeclared: string | undefined;
  #users = '';
  #allSeeds: Environment['seeds'] = [];

  constructor(given: TurnGiven) {
    this.#given = given;
    const { object } = given.work;
    this.#desired = desiredOf(object.spec);
    this.#before = object.status ?? {};
    this.#current = this.#before.currentOperation as CurrentOperation | undefined;
    this.#history = (this.#before.operations ?? []) as readonly PastOperation[];
  }

  async run(): Promise<Verdict> {
    const { work, runs } = this.#given;
    this.#problems = specProblems(work.object.spec as RedisClusterSpec);
    const isPaused = work.object.spec.paused === true || this.#problems.length > 0;
    if (isPaused) await runs.stop(work.key, 'superseded');
    const whole = isPaused ? this.#asBefore() : await this.#declare();
    const seen = await this.#look(whole);
    this.#allSeeds = whole?.seeds ?? [];
    const environment = whole && { ...whole, seeds: memberSeeds(seen, whole.seeds) };
    if (!isPaused && environment) await this.#act(seen, environment);
    await this.#write(seen, isPaused);
    // Written: only now may it be forgotten where it ran.
    if (this.#hasEnded) runs.forget(work.key);
    work.signal.throwIfAborted();
    if (environment && this.#current && !isPaused) runs.start(work.key, this.#current, environment);
    return this.#verdict(seen, isPaused);
  }

  /** Secret, configuration and services first: pods cannot begin without them. The set follows when its size is known to be safe. */
  async #declare(): Promise<Omit<Environment, 'signal'> | undefined> {
    const { work, newPassword } = this.#given;
    const { secret, waitingFor } = await declareAuth(work, newPassword);
    this.#waiting.push(...waitingFor);
    this.#users = secret?.data?.['users.acl'] ?? '';
    await this.#tryTo(() => declareServices(work, this.#desired));
    return this.#letIn(connectOptionsOf(secret as Secret | undefined));
  }

  /** Nothing is declared, but the servers that run are looked at. */
  #asBefore(): Omit<Environment, 'signal'> | undefined {
    const { work } = this.#given;
    const { name, namespace = '' } = work.object.metadata;
    return this.#letIn(connectOptionsOf(work.read(secrets, `${namespace}/${namesOf(name).secret}`)));
  }

  #letIn(options: ConnectOptions | undefined): Omit<Environment, 'signal'> | undefined {
    if (!options) return undefined;
    const facts = this.#pods();
    const annotated = facts.flatMap((pod) => {
      const endpoint = endpointOf(pod);
      return endpoint ? [{ endpoint, annotations: pod.annotations }] : [];
    });
    return {
      ...this.#given.environment(options),
      seeds: annotated.map(({ endpoint }) => endpoint),
      annotations: (endpoint) => annotated.find((one) => sameEndpoint(one.endpoint, endpoint))?.annotations ?? {},
    };
  }

  #pods(): readonly PodFacts[] {
    const { work, workerNode } = this.#given;
    const { name, namespace = '' } = work.object.metadata;
    const setName = namesOf(name).statefulSet;
    const set = work.read(statefulSets, `${namespace}/${setName}`);
    return podFacts(this.#given.pods, { set, setName, spreadBy: this.#desired.spreadBy, workerNode });
  }

  async #look(environment: Omit<Environment, 'signal'> | undefined): Promise<Seen> {
    const nothing: ClusterView = { observedAt: this.#given.work.now(), nodes: [], silent: [] };
    const view =
      environment && environment.seeds.length > 0
        ? await observeCluster(environment.redis, environment.ports, environment.seeds, {
            ...(environment.annotations && { annotations: environment.annotations }),
          })
        : nothing;
    const { replicasPerPrimary, spreadBy } = this.#desired;
    const findings = clusters(view).length > 0 ? checkCluster(view, { replicasPerPrimary, spreadBy }) : [];
    return { members: podMembers(this.#pods(), view), view, findings };
  }

  async #act(seen: Seen, environment: Omit<Environment, 'signal'>): Promise<void> {
    const { work, runs } = this.#given;
    const { name, namespace = '' } = work.object.metadata;
    const run = runs.of(work.key);
    if (run && run.id !== this.#current?.id) await runs.stop(work.key, 'superseded');
    if (this.#current && run?.end) await this.#end(this.#current, run.end);
    else if (this.#current && (await this.#isCancelled(this.#current))) return;
    else if (run) this.#waiting.push(...run.waitingFor);
    const setName = namesOf(name).statefulSet;
    const set =
      work.read(statefulSets, `${namespace}/${setName}`) ??
      (await work.api.resource(statefulSets, namespace).find(setName, { signal: work.signal }));
    // Without a set its pods say how many there were: fewer may be asked for than live in them.
    const last = Math.max(
      -1,
      ...this.#given.pods.map(({ metadata }) => ordinalOf(setName, metadata?.name ?? '') ?? -1),
    );
    const present = set?.spec?.replicas ?? (last >= 0 ? last + 1 : undefined);
    const replicas = this.#current
      ? Math.max(present ?? 0, this.#desired.size)
      : safeReplicas(this.#desired.size, present, seen.members, seen.view);
    await this.#tryTo(() => declareSet(work, this.#desired, { replicas, users: this.#users }));
    if (!this.#current) await this.#begin(seen, environment);
  }

  /** What the server refuses is a condition; the cluster is looked after all the same. */
  async #tryTo(declare: () => Promise<unknown>): Promise<void> {
    try {
      await declare();
    } catch (error) {
      if (!isKubeError(error, 'KUBE_INVALID') && !isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
      this.#undeclared = (error as Error).message.slice(0, MOST_TEXT);
    }
  }

  /** The end of an operation, to be written with the next status: until then it is remembered where it ran. */
  async #end(current: CurrentOperation, end: RunEnd): Promise<void> {
    const { work, tasks } = this.#given;
    const task = tasks.find(({ metadata }) => metadata.uid === current.trigger.uid);
    if (task) await writeTask(work, task, endedStatus(task.status, end, work.now()));
    const message =
      end.outcome === 'failed'
        ? `${end.code}: ${end.message}`
        : end.outcome === 'refused'
          ? textOf(end.refused)
          : undefined;
    if (end.outcome === 'done') work.events.normal('OperationDone', `${current.kind}: ${current.why}`, current.kind);
    else work.events.warning('OperationFailed', `${current.kind}: ${message ?? end.outcome}`, current.kind);
    this.#given.settling.ended(current.kind, end.outcome === 'done', work.now());
    this.#past(current, end.outcome, message);
    this.#hasEnded = true;
    this.#endedTask = task?.metadata.uid;
  }

  /** Deleting a task cancels what it asked for, also when nobody saw the deletion. */
  async #isCancelled(current: CurrentOperation): Promise<boolean> {
    const { work, runs, tasks } = this.#given;
    if (current.trigger.kind !== 'RedisTask') return false;
    const task = tasks.find(({ metadata }) => metadata.uid === current.trigger.uid);
    if (task && !task.metadata.deletionTimestamp) return false;
    const { namespace } = work.object.metadata;
    const live = await work.api.resource(redisTasks, namespace).find(current.trigger.name, { signal: work.signal });
    if (live?.metadata.uid === current.trigger.uid && !live.metadata.deletionTimestamp) return false;
    await runs.stop(work.key, 'deleted');
    this.#past(current, 'cancelled', `task ${current.trigger.name} was deleted`);
    return true;
  }

  #past({ goal: _goal, ...operation }: CurrentOperation, outcome: PastOperation['outcome'], message?: string): void {
    const endedAt = timestamp(this.#given.work.now());
    const past = {
      ...operation,
      endedAt,
      outcome,
      ...(message !== undefined && { message: message.slice(0, MOST_TEXT) }),
    };
    this.#history = [past, ...this.#history].slice(0, HISTORY);
    this.#current = undefined;
  }

  async #begin(seen: Seen, given: Omit<Environment, 'signal'>): Promise<void> {
    const { work, settling } = this.#given;
    const environment: Environment = { ...given, signal: work.signal };
    const facts = { desired: this.#desired, ...seen, configured: this.#isConfigured(seen) };
    const next = nextSteps(facts);
    this.#waiting.push(...next.waitingFor);
    const approved = work.object.metadata.annotations?.[APPROVE];
    const choice = await choose({ wishes: next.wishes, settling, approved, environment });
    this.#refused = choice.refused;
    this.#waiting.push(...choice.waitingFor);
    this.#proposed = choice.proposed;
    this.#wakeAt = choice.wakeAt;
    if (choice.restart) await this.#restart(choice.restart, given);
    else if (choice.begin) {
      const { name, uid } = work.object.metadata;
      const trigger = { kind: 'RedisCluster', name, uid };
      this.#take(choice.begin.wish, choice.begin.proposal.decided.goal, trigger, environment);
    } else if (choice.wakeAt === undefined) await this.#nextTask(seen, environment);
  }

  async #nextTask(seen: Seen, environment: Environment): Promise<void> {
    const { work } = this.#given;
    const [task] = openTasks(this.#given.tasks.filter(({ metadata }) => metadata.uid !== this.#endedTask));
    if (!task || !this.#isConfigured(seen)) return;
    const now = work.now();
    const wish = taskWish(task as RedisTaskObject, { desired: this.#desired, members: seen.members });
    if (!wish) return writeTask(work, task, await this.#check(task, environment, now));
    if ('refused' in wish) return writeTask(work, task, refusedStatus(wish.refused, now));
    const choice = await choose({ wishes: [wish], settling: new Settling(), approved: undefined, environment });
    if (choice.begin) {
      this.#take(wish, choice.begin.proposal.decided.goal, triggerOf(task), environment);
      await writeTask(work, task, startedStatus(now, this.#current?.id ?? ''));
    } else if (choice.refused.length > 0) await writeTask(work, task, refusedStatus(choice.refused, now));
    else
      await writeTask(work, task, { phase: 'Succeeded', endedAt: timestamp(now), message: 'there was nothing to do' });
  }

  async #check(task: DeepReadonly<RedisTaskObject>, environment: Environment, now: number) {
    const { replicasPerPrimary, spreadBy } = this.#desired;
    const strayKeys = task.spec.check?.strayKeys ?? false;
    const view = await observeCluster(environment.redis, environment.ports, environment.seeds, {
      strayKeys,
      ...(environment.annotations && { annotations: environment.annotations }),
    });
    const findings = checkCluster(view, { replicasPerPrimary, spreadBy });
    return checkedStatus(findings, isClean(findings), now);
  }

  /** Written with the status; begun only after that. */
  #take(wish: OperationWish, goal: unknown, trigger: CurrentOperation['trigger'], { ports }: Environment): void {
    const { work } = this.#given;
    const startedAt = timestamp(work.now());
    const id = ports.ids.next(wish.kind);
    const why = wish.why.slice(0, MOST_TEXT);
    this.#current = { id, kind: wish.kind, why, trigger, startedAt, goal: goal as CurrentOperation['goal'] };
    work.events.normal('OperationBegun', `${wish.kind}: ${why}`, wish.kind);
  }

  /** Exactly this pod: its successor has another uid. */
  async #restart({ pod, why }: RestartWish, environment: Omit<Environment, 'signal'>): Promise<void> {
    const { work } = this.#given;
    // Proposals lie between the look of this turn and now: who was a replica then may be all that is left of its shard.
    const seen = await this.#look({ ...environment, seeds: this.#allSeeds });
    const { wishes } = nextSteps({ desired: this.#desired, ...seen, configured: this.#isConfigured(seen) });
    if (!wishes.some((wish) => wish.what === 'restart' && wish.pod.uid === pod.uid)) return;
    const present = this.#given.pods.find(({ metadata }) => metadata?.uid === pod.uid);
    if (!present) return;
    work.events.normal('PodRestarted', why, 'restart');
    await work.remove(pods, present as never);
  }

  #isConfigured({ view }: Seen): boolean {
    if (this.#before.configured === true) return true;
    // Whatever else is there, all of it must have been served once: a creation may be given up half way.
    return (
      this.#current?.kind !== 'create' &&
      clusters(view).length === 1 &&
      ownersBySlot(view).every((owners) => owners.length > 0)
    );
  }

  async #write(seen: Seen, isPaused: boolean): Promise<void> {
    const { work, runs } = this.#given;
    const { members, view, findings } = seen;
    const topology = topologyOf(members, view);
    const configured = this.#isConfigured(seen);
    const isWhole = members.length >= this.#desired.size && members.every(({ node }) => node);
    const operation = this.#current?.kind;
    const generation = work.object.metadata.generation;
    const conditions = [
      ...findingConditions(this.#before.conditions as RedisClusterStatus['conditions'], findings, {
        ...topology,
        configured,
        isWhole,
      }),
      {
        type: 'Valid',
        status: this.#problems.length > 0 ? ('False' as const) : ('True' as const),
        reason: this.#problems[0] ? conditionType(this.#problems[0].code) : 'AsAsked',
        message: textOf(this.#problems),
      },
      {
        type: 'Declared',
        status: this.#undeclared === undefined ? ('True' as const) : ('False' as const),
        reason: this.#undeclared === undefined ? 'AsAsked' : 'RefusedByServer',
        message: this.#undeclared ?? '',
      },
      {
        type: 'Refused',
        status: this.#refused.length > 0 ? ('True' as const) : ('False' as const),
        reason: this.#refused[0] ? conditionType(this.#refused[0].code) : 'NothingRefused',
        message: textOf(this.#refused),
      },
    ].map((condition) => ({ ...condition, ...(generation !== undefined && { observedGeneration: generation }) }));
    const run = runs.of(work.key);
    const progress = run && run.id === this.#current?.id ? run.progress : undefined;
    this.#tell(findings);
    this.#given.saw({ findings, ...topology, operation });
    await work.status({
      ...(generation !== undefined && { observedGeneration: generation }),
      phase: phaseOf({ isPaused, configured, findings, isWhole, ...(operation !== undefined && { operation }) }),
      configured,
      ...shownTopology(topology, operation),
      conditions: setConditions(this.#before.conditions as RedisClusterStatus['conditions'], conditions, work.now()),
      waitingFor: this.#waiting
        .slice(0, 16)
        .map((one) => ({ ...one, message: one.message.slice(0, MOST_TEXT), subjects: one.subjects.slice(0, 16) })),
      ...(progress !== undefined && { progress: progress.slice(0, 512) }),
      ...(this.#proposed && {
        proposal: {
          kind: this.#proposed.kind,
          digest: this.#proposed.digest,
          steps: this.#proposed.decided.steps.slice(0, MOST_STEPS).map((step) => step.slice(0, 512)),
        },
      }),
      ...(this.#current && { currentOperation: this.#current }),
      operations: this.#history,
    });
  }

  /** An event for each kind of finding when it comes; its condition stays. */
  #tell(findings: readonly Finding[]): void {
    const { events } = this.#given.work;
    const before = new Set(
      (this.#before.conditions ?? []).filter(({ status }) => status === 'True').map(({ type }) => type),
    );
    for (const finding of findings) {
      if (finding.severity === 'info' || before.has(conditionType(finding.code))) continue;
      events.warning(conditionType(finding.code), finding.message.slice(0, 1_000), 'Check');
    }
  }

  #verdict({ findings }: Seen, isPaused: boolean): Verdict {
    if (this.#wakeAt !== undefined && !this.#current) return wakeAt(this.#wakeAt);
    const isBusy = this.#current !== undefined || this.#waiting.length > 0 || !isClean(findings);
    return requeueAfter(isBusy && !isPaused ? SOON_MS : this.#given.lookEveryMs);
  }
}

/**
 * Where an operation finds the cluster: at its members. Servers that are in no cluster yet are none of its business, unless it is about
 * them: whoever is asked is introduced to others.
 */
function memberSeeds({ members, view }: Seen, all: Environment['seeds']): Environment['seeds'] {
  const [main = []] = clusters(view);
  const inside = members.filter(({ node }) => node && main.includes(node.id)).flatMap((pod) => endpointOf(pod) ?? []);
  return inside.length > 0 ? inside : all;
}

function textOf(refused: readonly Refusal[]): string {
  return refused
    .map(({ code, message }) => `${code}: ${message}`)
    .join('; ')
    .slice(0, MOST_TEXT);
}
