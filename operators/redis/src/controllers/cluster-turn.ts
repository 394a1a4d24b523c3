/** One turn of one cluster. */
import {
  type DeepReadonly,
  ReeveError,
  type Refusal,
  requeueAfter,
  timestamp,
  type Verdict,
  type Waiting,
  wakeAt,
} from '@reeve/runtime';
import {
  APPROVE,
  type CurrentOperation,
  type PastOperation,
  type RedisClusterSpec,
  type RedisClusterStatus,
} from '../api/cluster.ts';
import {
  type Pod,
  pods,
  type RedisClusterObject,
  redisClusters,
  type RedisTaskObject,
  secrets,
  statefulSets,
  type WorkerNode,
  type Secret,
  redisTasks,
} from '../api/kinds.ts';
import type { NodeId } from '../api/view.ts';
import type { ConnectOptions } from '../client/client.ts';
import { isClean } from '../plan/check.ts';
import { namesOf } from '../plan/children.ts';
import { choicesAfter, standingChoices } from '../plan/chosen-primaries.ts';
import { conditionType, topologyOf } from '../plan/cluster-status.ts';
import { type Desired, desiredOf, specProblems } from '../plan/desired.ts';
import { type NextFacts, nextSteps, type OperationWish, type RestartWish } from '../plan/next.ts';
import { nextExternalSteps, silentWaits } from '../plan/next-external.ts';
import type { PodFacts } from '../plan/pods.ts';
import { storeStates } from '../plan/stored-states.ts';
import { taskWish } from '../plan/task-wish.ts';
import { BACKUP } from './backup/backup.ts';
import { isBrokenNow } from './broken-pod.ts';
import { checkTask } from './check-task.ts';
import { type Choice, choose, Settling } from './choose.ts';
import { podFacts } from './cluster-facts.ts';
import type { SeenCluster } from './cluster-metrics.ts';
import { ClusterTls, type TlsGiven } from './cluster-tls.ts';
import { connectOptionsOf } from './credentials.ts';
import { declareAuth, declareServices, declareSet, heldBack, heldWait, replicasNow } from './declare.ts';
import type { Enrollment, PodAgents } from './enrolled-members.ts';
import type { Environment } from './environment.ts';
import { externalAccess, tellAgents } from './external.ts';
import type { TakeBackOrders } from './left-orders.ts';
import { type Access, accessOf, isConfigured, isUntouched, isWhole, lookAt, memberSeeds, type Seen } from './look.ts';
import type { OperationRuns, RunEnd } from './operation-runs.ts';
import { agentWaits, externalPods, toldStates } from './roster.ts';
import { endedStatus, openTasks, refusedStatus, startedStatus, triggerOf, writeTask } from './tasks.ts';
import {
  hasSameGoal,
  MOST_TEXT,
  newFindings,
  refusalText,
  statusOf,
  type Undeclared,
  undeclaredBy,
} from './turn-status.ts';
import { advanceUpgrade } from './upgrade-task.ts';

export interface TurnGiven extends TlsGiven {
  readonly runs: OperationRuns;
  readonly settling: Settling;
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly tasks: readonly DeepReadonly<RedisTaskObject>[];
  /** Of a cluster with external members. */
  readonly enrollment: Enrollment | undefined;
  /** Of pods with agents. */
  readonly podAgents: PodAgents | undefined;
  readonly takeBackOrders: TakeBackOrders;
  /** A backup was given up: what is left of it is nobody's. */
  draftLeft(): void;
  workerNode(name: string): DeepReadonly<WorkerNode> | undefined;
  newPassword(): string;
  environment(options: ConnectOptions): Omit<Environment, 'seeds' | 'annotations' | 'signal'>;
  readonly lookEveryMs: number;
  saw(seen: SeenCluster): void;
}

/** While something is under way or amiss. */
const SOON_MS = 2_000;
const HISTORY = 10;

export class ClusterTurn {
  readonly #given: TurnGiven;
  readonly #desired: Desired;
  readonly #before: DeepReadonly<RedisClusterStatus>;
  readonly #waiting: Waiting[] = [];
  readonly #tls: ClusterTls;
  #current: CurrentOperation | undefined;
  #history: readonly PastOperation[];
  #chosen: readonly NodeId[];
  #problems: readonly Refusal[] = [];
  #refused: readonly Refusal[] = [];
  #proposed: Choice['proposed'];
  #wakeAt: number | undefined;
  #hasEnded = false;
  #hasLeftDraft = false;
  /** What was written of it is not in the cache yet. */
  #endedTask: string | undefined;
  /** Why an object of ours could not be made what it should be. */
  #undeclared: Undeclared | undefined;
  #users = '';
  #canDeclareSet = true;
  /** Agents may still be at something of a plan that is no more. */
  #isHeldUp = false;
  #isImageHeld = false;
  #allSeeds: Environment['seeds'] = [];

  constructor(given: TurnGiven) {
    this.#given = given;
    const { object } = given.work;
    this.#desired = desiredOf(object.spec);
    this.#tls = new ClusterTls(given, this.#desired, this.#waiting);
    this.#before = object.status ?? {};
    this.#current = this.#before.currentOperation as CurrentOperation | undefined;
    this.#history = (this.#before.operations ?? []) as readonly PastOperation[];
    this.#chosen = this.#before.chosenPrimaries ?? [];
  }

  async run(): Promise<Verdict> {
    const { work, runs } = this.#given;
    this.#problems = specProblems(work.object.spec as RedisClusterSpec);
    const isPaused = work.object.spec.paused === true || this.#problems.length > 0;
    if (isPaused) await runs.stop(work.key, 'superseded');
    // What runs here has its own orders, and takes them back itself.
    const left = runs.of(work.key) ? [] : this.#given.takeBackOrders(isPaused);
    this.#waiting.push(...left);
    this.#isHeldUp = left.length > 0;
    const isExternal = this.#given.enrollment !== undefined;
    const whole = await (isExternal ? this.#enter() : isPaused ? this.#asBefore() : this.#declare());
    const seen = await this.#look(whole);
    this.#chosen = standingChoices(this.#chosen, seen.view, isWhole(seen, this.#desired));
    this.#allSeeds = whole?.seeds ?? [];
    const environment = whole && { ...whole, seeds: memberSeeds(seen, whole.seeds) };
    // Whoever begins with `paused` looks here for what is amiss.
    if (isPaused && isExternal) this.#waiting.push(...silentWaits(seen.members, seen.view));
    if (!isPaused && environment) {
      await this.#tls.reload(seen.members, environment.redis);
      await this.#act(seen, environment);
    }
    await this.#write(seen, isPaused);
    // Written: only now may it be forgotten where it ran.
    if (this.#hasEnded) runs.forget(work.key);
    if (this.#hasLeftDraft) this.#given.draftLeft();
    work.signal.throwIfAborted();
    if (environment && this.#current && !isPaused && !this.#isHeldUp) await this.#goOn(this.#current, environment);
    if (!isPaused && environment) await advanceUpgrade({ ...this.#given, members: seen.members });
    return this.#verdict(seen, isPaused);
  }

  /** Secret, configuration and services first: pods cannot begin without them. The set follows when its size is known to be safe. */
  async #declare(): Promise<Access | undefined> {
    const { work, newPassword } = this.#given;
    const { secret, waitingFor } = await declareAuth(work, newPassword);
    this.#waiting.push(...waitingFor);
    this.#users = secret?.data?.['users.acl'] ?? '';
    await this.#tryTo(() => declareServices(work, this.#desired));
    // A pod without the account of its agent would not even be made.
    this.#canDeclareSet = await this.#tryTo(async () => this.#given.podAgents?.declare(work, this.#pods()));
    const options = connectOptionsOf(secret as Secret | undefined);
    let reached: ConnectOptions | undefined;
    const isMade = await this.#tryTo(async () => {
      reached = await this.#tls.reach(options, { pods: this.#pods(), mayMake: true });
    });
    return this.#letIn(isMade ? reached : await this.#tls.reach(options, { pods: this.#pods(), mayMake: false }));
  }

  /** Nothing is declared, but the servers that run are looked at. */
  async #asBefore(): Promise<Access | undefined> {
    const { work } = this.#given;
    const { name, namespace = '' } = work.object.metadata;
    const options = connectOptionsOf(work.read(secrets, `${namespace}/${namesOf(name).secret}`));
    return this.#letIn(await this.#tls.reach(options, { pods: this.#pods(), mayMake: false }));
  }

  /** Servers that are somebody's: nothing is declared, they are looked at as they are. */
  async #enter(): Promise<Access | undefined> {
    const { options, waitingFor } = await externalAccess(this.#given.work);
    this.#waiting.push(...waitingFor, ...agentWaits(this.#given.enrollment?.roster ?? []));
    return this.#letIn(options);
  }

  #letIn(options: ConnectOptions | undefined): Access | undefined {
    if (!options) return undefined;
    const { enrollment, podAgents } = this.#given;
    const access = accessOf(this.#pods(), this.#given.environment(options));
    const executor = enrollment?.executor() ?? podAgents?.executor(access.executor) ?? access.executor;
    return { ...access, executor };
  }

  #pods(): readonly PodFacts[] {
    const { work, workerNode, enrollment } = this.#given;
    if (enrollment) return externalPods(enrollment.roster);
    const { name, namespace = '' } = work.object.metadata;
    const setName = namesOf(name).statefulSet;
    const set = work.read(statefulSets, `${namespace}/${setName}`);
    return podFacts(this.#given.pods, { set, setName, spreadBy: this.#desired.spreadBy, workerNode });
  }

  #look(access: Access | undefined): Promise<Seen> {
    return lookAt(access, { pods: this.#pods(), desired: this.#desired, now: this.#given.work.now() });
  }

  async #act(seen: Seen, environment: Access): Promise<void> {
    const { work, runs } = this.#given;
    const found = runs.of(work.key);
    if (found && found.id !== this.#current?.id) await runs.stop(work.key, 'superseded');
    // What another one comes to is nothing to this one.
    const run = found?.id === this.#current?.id ? found : undefined;
    if (this.#current && run?.end) await this.#end(this.#current, run.end);
    else if (this.#current && (await this.#isCancelled(this.#current))) return;
    else if (run) this.#waiting.push(...run.waitingFor);
    if (!this.#given.enrollment) {
      const asked = { desired: this.#desired, pods: this.#given.pods, isBusy: this.#current !== undefined };
      const replicas = await replicasNow(work, asked, seen);
      const held = await heldBack(work, this.#desired, seen);
      if (held) this.#waiting.push(heldWait(held));
      this.#isImageHeld = held !== undefined;
      if (this.#canDeclareSet) {
        await this.#tryTo(() => declareSet(work, this.#desired, { replicas, users: this.#users, held }));
      }
    }
    if (!this.#current && !this.#isHeldUp) await this.#begin(seen, environment);
  }

  /** What the server refuses, or what must not be made as things are, is a condition; the cluster is looked after all the same. */
  async #tryTo(declare: () => Promise<unknown>): Promise<boolean> {
    try {
      await declare();
      return true;
    } catch (error) {
      const why = undeclaredBy(error);
      if (!why) throw error;
      this.#undeclared = why;
      return false;
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
          ? refusalText(end.refused)
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
    // What does not run here was begun by somebody else, who may have ended it and not come to write that here.
    if (task && !task.metadata.deletionTimestamp && runs.of(work.key)) return false;
    const { namespace } = work.object.metadata;
    const live = await work.api.resource(redisTasks, namespace).find(current.trigger.name, { signal: work.signal });
    const isThere = live?.metadata.uid === current.trigger.uid && !live.metadata.deletionTimestamp;
    const { phase, message } = live?.status ?? {};
    if (isThere && phase !== 'Succeeded' && phase !== 'Failed') return false;
    await runs.stop(work.key, 'deleted');
    if (isThere) this.#past(current, phase === 'Succeeded' ? 'done' : 'failed', message);
    else this.#past(current, 'cancelled', `task ${current.trigger.name} was deleted`);
    return true;
  }

  #past({ goal, ...operation }: CurrentOperation, outcome: PastOperation['outcome'], message?: string): void {
    const { kind, trigger } = operation;
    if (outcome === 'done') {
      this.#chosen = choicesAfter(this.#chosen, { kind, goal, isAsked: trigger.kind === 'RedisTask' });
    }
    const endedAt = timestamp(this.#given.work.now());
    const past = {
      ...operation,
      endedAt,
      outcome,
      ...(message !== undefined && { message: message.slice(0, MOST_TEXT) }),
    };
    this.#history = [past, ...this.#history].slice(0, HISTORY);
    this.#hasLeftDraft ||= kind === BACKUP && outcome !== 'done';
    this.#current = undefined;
  }

  async #begin(seen: Seen, given: Access): Promise<void> {
    const { work, settling } = this.#given;
    const environment: Environment = { ...given, signal: work.signal };
    const facts = this.#facts(seen);
    const next = this.#given.enrollment ? nextExternalSteps(facts) : nextSteps(facts);
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
    if (!task || !this.#isConfigured(seen) || task.spec.upgrade) return;
    const now = work.now();
    const facts = { desired: this.#desired, members: seen.members, stored: this.#before.members ?? [] };
    const wish = taskWish(task as RedisTaskObject, facts);
    if (!wish) return writeTask(work, task, await checkTask(task, this.#desired, environment, now));
    if ('refused' in wish) return writeTask(work, task, refusedStatus(wish.refused, now));
    const choice = await choose({ wishes: [wish], settling: new Settling(), approved: undefined, environment });
    if (choice.begin) {
      this.#take(wish, choice.begin.proposal.decided.goal, triggerOf(task), environment);
      await writeTask(work, task, startedStatus(now, this.#current?.id ?? ''));
    } else if (choice.refused.length > 0) await writeTask(work, task, refusedStatus(choice.refused, now));
    else
      await writeTask(work, task, { phase: 'Succeeded', endedAt: timestamp(now), message: 'there was nothing to do' });
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
  async #restart({ pod, why }: RestartWish, environment: Access): Promise<void> {
    const { work } = this.#given;
    // Proposals lie between the look of this turn and now: who was a replica then may be all that is left of its shard.
    const seen = await this.#look({ ...environment, seeds: this.#allSeeds });
    const { wishes } = nextSteps(this.#facts(seen));
    if (!wishes.some((wish) => wish.what === 'restart' && wish.pod.uid === pod.uid)) return;
    // A silent one is restarted for having nothing in it, or no life: that is not for a cache to say.
    if (!pod.node && !isUntouched((await this.#live()).status) && !(await isBrokenNow(work, pod))) return;
    const present = this.#given.pods.find(({ metadata }) => metadata?.uid === pod.uid);
    if (!present) return;
    work.events.normal('PodRestarted', why, 'restart');
    await work.remove(pods, present as never);
  }

  #facts(seen: Seen): NextFacts {
    const configured = this.#isConfigured(seen);
    const [chosen, isImageHeld] = [this.#chosen, this.#isImageHeld];
    return { desired: this.#desired, ...seen, configured, isUntouched: isUntouched(this.#before), isImageHeld, chosen };
  }

  #isConfigured(seen: Seen): boolean {
    return isConfigured(this.#before, this.#current?.kind, seen);
  }

  async #write(seen: Seen, isPaused: boolean): Promise<void> {
    const { work, runs } = this.#given;
    const { findings } = seen;
    const { enrollment, podAgents } = this.#given;
    const roster = (enrollment ?? podAgents)?.roster;
    const told = toldStates(roster ?? [], seen.view);
    const topology = storeStates(this.#before as RedisClusterStatus, topologyOf(seen.members, seen.view), {
      view: seen.view,
      told,
    });
    const run = runs.of(work.key);
    for (const { code, message } of newFindings(this.#before, findings)) {
      work.events.warning(conditionType(code), message.slice(0, 1_000), 'Check');
    }
    if (roster) tellAgents(work.events, this.#before.conditions as RedisClusterStatus['conditions'], roster);
    this.#given.saw({ findings, ...topology, operation: this.#current?.kind });
    const status = statusOf({
      before: this.#before,
      generation: work.object.metadata.generation,
      now: work.now(),
      isPaused,
      configured: this.#isConfigured(seen),
      desired: this.#desired,
      roster,
      seen,
      chosen: this.#chosen,
      topology,
      problems: this.#problems,
      refused: this.#refused,
      undeclared: this.#undeclared,
      offer: this.#tls.judged,
      taken: this.#tls.taken,
      waitingFor: this.#waiting,
      progress: run && run.id === this.#current?.id ? run.progress : undefined,
      proposed: this.#proposed,
      current: this.#current,
      history: this.#history,
    });
    await work.status(status, { onlyIf: (present) => hasSameGoal(this.#before, present) });
  }

  /** What runs already goes on. What does not is begun only if it is, at this moment, the goal that the server has: the cache may lag. */
  async #goOn(current: CurrentOperation, environment: Access): Promise<void> {
    const { work, runs } = this.#given;
    if (runs.of(work.key)) return;
    if ((await this.#live()).status?.currentOperation?.id !== current.id) return;
    work.signal.throwIfAborted();
    runs.start(work.key, current, environment);
  }

  /** The cluster as the server has it. Throws if it is gone: then nothing is done for it. */
  async #live(): Promise<RedisClusterObject> {
    const { work } = this.#given;
    const { name, namespace, uid } = work.object.metadata;
    const live = await work.api.resource(redisClusters, namespace).find(name, { signal: work.signal });
    if (live?.metadata.uid === uid) return live;
    throw new ReeveError('OBJECT_REPLACED', `RedisCluster ${work.key} is gone, or another one has its name`);
  }

  #verdict({ findings }: Seen, isPaused: boolean): Verdict {
    if (this.#wakeAt !== undefined && !this.#current) return wakeAt(this.#wakeAt);
    const isBusy = this.#current !== undefined || this.#waiting.length > 0 || !isClean(findings);
    return requeueAfter(isBusy && !isPaused ? SOON_MS : this.#given.lookEveryMs);
  }
}
