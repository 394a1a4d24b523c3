/** One turn of one cluster. */
import { type DeepReadonly, type Refusal, type Verdict, type Waiting, wakeAt } from '@reeve/runtime';
import { APPROVE, type CurrentOperation, type RedisClusterSpec, type RedisClusterStatus } from '../api/cluster.ts';
import {
  type Pod,
  pods,
  type RedisTaskObject,
  secrets,
  statefulSets,
  type WorkerNode,
  type Secret,
  redisTasks,
} from '../api/kinds.ts';
import type { ConnectOptions } from '../client/client.ts';
import { isClean } from '../plan/check.ts';
import { namesOf } from '../plan/children.ts';
import { lastTopology, topologyOf } from '../plan/cluster-status.ts';
import { type Desired, desiredOf, specProblems } from '../plan/desired.ts';
import { type NextFacts, nextSteps, pausedWaits, type RestartWish } from '../plan/next.ts';
import { nextExternalSteps, silentWaits } from '../plan/next-external.ts';
import type { PodFacts } from '../plan/pods.ts';
import { choosingOf } from '../plan/setbacks.ts';
import { storeStates } from '../plan/stored-states.ts';
import { oldPodsWait } from '../plan/rolling.ts';
import { areStraysSaid, countedFindings, type StrayLook } from '../plan/stray-keys.ts';
import { type Unseen, unseenBy } from '../plan/unseen.ts';
import { isBrokenNow } from './broken-pod.ts';
import { countStrays } from './check-task.ts';
import { type Choice, choose, type Settling } from './choose.ts';
import { podFacts } from './cluster-facts.ts';
import type { SeenCluster } from './cluster-metrics.ts';
import { ClusterTls, type TlsGiven } from './cluster-tls.ts';
import { connectOptionsOf } from './credentials.ts';
import { declareAuth, declareServices, declareSet, heldBack, heldWait, replicasNow } from './declare.ts';
import type { Enrollment, PodAgents } from './enrolled-members.ts';
import type { Environment } from './environment.ts';
import { externalAccess } from './external.ts';
import type { TakeBackOrders } from './left-orders.ts';
import { liveCluster } from './live-cluster.ts';
import { type Access, accessOf, isConfigured, isUntouched, isWhole, lookAt, memberSeeds, type Seen } from './look.ts';
import { nextTask, type TaskStep } from './next-task.ts';
import type { OperationRuns, RunEnd } from './operation-runs.ts';
import { failuresOf, failureText } from './procedure.ts';
import { type Begun, OperationsRecord } from './operations-record.ts';
import { agentWaits, externalPods, toldStates } from './roster.ts';
import { endedStatus, startedStatus, triggerOf, writeTask } from './tasks.ts';
import { hasSameGoal, MOST_TEXT, statusOf, type Undeclared, undeclaredBy } from './turn-status.ts';
import { tellTurn } from './tell-turn.ts';
import type { ToldFindings } from './told-findings.ts';
import { advanceUpgrade } from './upgrade-task.ts';
import type { DeclaredUsers } from './users.ts';
import { tellWaiting, whyTasksWait } from './waiting-tasks.ts';

export interface TurnGiven extends TlsGiven {
  readonly runs: OperationRuns;
  readonly settling: Settling;
  readonly toldFindings: ToldFindings;
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

export class ClusterTurn {
  readonly #given: TurnGiven;
  readonly #desired: Desired;
  readonly #before: DeepReadonly<RedisClusterStatus>;
  readonly #waiting: Waiting[] = [];
  readonly #tls: ClusterTls;
  readonly #record: OperationsRecord;
  #problems: readonly Refusal[] = [];
  #proposed: Choice['proposed'];
  #settlesAt: number | undefined;
  #triesAt: number | undefined;
  /** A task that asked for a check, or for nothing that is to be done. It ends when the cluster says what was found: else one that dies in between would have told nobody. */
  #checked: Extract<TaskStep, { checked: unknown }> | undefined;
  #hasEnded = false;
  /** Of a fix that has ended. */
  #strays: StrayLook | undefined;
  /** What was written of it is not in the cache yet. */
  #endedTask: string | undefined;
  /** Why an object of ours could not be made what it should be. */
  #undeclared: Undeclared | undefined;
  #users = '';
  /** Users without a password to go by. Undefined: nobody looked. */
  #unproved: DeclaredUsers['unproved'] | undefined;
  #canDeclareSet = true;
  /** Agents may still be at something of a plan that is no more. */
  #isHeldUp = false;
  /** Why pods are not given the image that is asked for. */
  #held: Refusal | undefined;
  #allSeeds: Environment['seeds'] = [];
  /** Why nothing is known of the servers. */
  #unseen: Unseen | undefined;

  constructor(given: TurnGiven) {
    this.#given = given;
    const { object } = given.work;
    this.#desired = desiredOf(object.spec);
    this.#tls = new ClusterTls(given, this.#desired, this.#waiting);
    this.#before = object.status ?? {};
    this.#record = new OperationsRecord(this.#before);
  }

  async run(): Promise<Verdict> {
    const { work, runs } = this.#given;
    this.#problems = specProblems(work.object.spec as RedisClusterSpec);
    for (const { message, subjects } of this.#problems) {
      this.#waiting.push({ reason: 'SpecInvalid', message: `a spec that can be acted on: ${message}`, subjects });
    }
    this.#waiting.push(...pausedWaits(work.object.spec));
    const isPaused = work.object.spec.paused === true || this.#problems.length > 0;
    if (isPaused) await runs.stop(work.key, 'superseded');
    // What runs here has its own orders, and takes them back itself.
    const left = runs.of(work.key) ? [] : this.#given.takeBackOrders(isPaused);
    this.#waiting.push(...left);
    this.#isHeldUp = left.length > 0;
    const isExternal = this.#given.enrollment !== undefined;
    const whole = await (isExternal ? this.#enter() : isPaused ? this.#asBefore() : this.#declare());
    const seen = await this.#look(whole);
    this.#unseen = unseenBy({ hasAccess: whole !== undefined, view: seen.view, waitingFor: this.#waiting });
    this.#record.saw(seen.view, isWhole(seen, this.#desired));
    this.#allSeeds = whole?.seeds ?? [];
    const environment = whole && { ...whole, seeds: memberSeeds(seen, whole.seeds) };
    // Whoever begins with `paused` looks here for what is amiss.
    if (isPaused && isExternal) this.#waiting.push(...silentWaits(seen.members, seen.view));
    if (!isPaused && environment) {
      await this.#tls.reload(seen.members, environment.redis);
      await this.#act(seen, environment);
    }
    await this.#write(seen, isPaused);
    if (this.#checked) await writeTask(work, this.#checked.task, this.#checked.checked.status);
    // Written: only now may it be forgotten where it ran.
    if (this.#hasEnded) runs.forget(work.key);
    if (this.#record.hasLeftDraft) this.#given.draftLeft();
    work.signal.throwIfAborted();
    if (environment && this.#record.current && !isPaused && !this.#isHeldUp)
      await this.#goOn(this.#record.current, environment);
    const why = this.#whyTasksWait(seen);
    if (why === undefined) await advanceUpgrade({ ...this.#given, members: seen.members, held: this.#held });
    // What runs here goes on, also where nobody else can ask the servers.
    if (why === undefined || !runs.of(work.key))
      await tellWaiting({ ...this.#given, desired: this.#desired, seen }, why);
    return this.#verdict(seen, isPaused);
  }

  /** Secret, configuration and services first: pods cannot begin without them. The set follows when its size is known to be safe. */
  async #declare(): Promise<Access | undefined> {
    const { work, newPassword } = this.#given;
    const { secret, waitingFor, unproved } = await declareAuth(work, newPassword);
    this.#waiting.push(...waitingFor);
    this.#unproved = unproved;
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
    if (found && found.id !== this.#record.current?.id) await runs.stop(work.key, 'superseded');
    // What another one comes to is nothing to this one.
    const run = found?.id === this.#record.current?.id ? found : undefined;
    if (this.#record.current && run?.end) await this.#end(this.#record.current, run.end, environment);
    else if (this.#record.current && (await this.#isCancelled(this.#record.current, environment))) return;
    else if (run) this.#waiting.push(...run.waitingFor);
    if (!this.#given.enrollment) {
      const asked = { desired: this.#desired, pods: this.#given.pods, isBusy: this.#record.current !== undefined };
      const replicas = await replicasNow(work, asked, seen);
      const held = await heldBack(work, this.#desired, seen);
      // What is held back is not on its way.
      this.#waiting.push(...(held ? [heldWait(held)] : oldPodsWait(seen.members)));
      this.#held = held?.refused;
      if (this.#canDeclareSet) {
        await this.#tryTo(() => declareSet(work, this.#desired, { replicas, users: this.#users, held }));
      }
    }
    if (!this.#record.current && !this.#isHeldUp) await this.#begin(seen, environment);
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
  async #end(current: CurrentOperation, end: RunEnd, environment: Access): Promise<void> {
    const { work, tasks, settling } = this.#given;
    const task = tasks.find(({ metadata }) => metadata.uid === current.trigger.uid);
    if (task) await writeTask(work, task, endedStatus(task.status, end, work.now()));
    const { kind, why, trigger } = current;
    const failure = failureText(end);
    if (failure === undefined) work.events.normal('OperationDone', `${kind}: ${why}`, kind);
    else work.events.warning('OperationFailed', `${kind}: ${failure}`, kind);
    const code = failuresOf(end)?.map((one) => one.code)[0];
    // What a person asks for in vain does not keep the cluster from what it tries itself.
    if (failure === undefined || trigger.kind !== 'RedisTask') settling.ended(kind, code, work.now());
    if (failure === undefined) await this.#countStrays(kind, environment);
    this.#record.end(end, work.now());
    this.#hasEnded = true;
    this.#endedTask = task?.metadata.uid;
  }

  /** Of an operation that was done. */
  async #countStrays(kind: string, environment: Access): Promise<void> {
    if (kind === 'fix' && areStraysSaid(this.#before.conditions)) this.#strays = await countStrays(environment);
  }

  /** Deleting a task cancels what it asked for, also when nobody saw the deletion. */
  async #isCancelled(current: CurrentOperation, environment: Access): Promise<boolean> {
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
    // Whoever wrote its end died before the cluster said what came of it.
    if (isThere && phase === 'Succeeded') await this.#countStrays(current.kind, environment);
    if (isThere) this.#record.past(phase === 'Succeeded' ? 'done' : 'failed', work.now(), message);
    else this.#record.past('cancelled', work.now(), `task ${current.trigger.name} was deleted`);
    return true;
  }

  async #begin(seen: Seen, given: Access): Promise<void> {
    const { work, settling } = this.#given;
    const environment: Environment = { ...given, signal: work.signal };
    const facts = this.#facts(seen);
    const next = this.#given.enrollment ? nextExternalSteps(facts) : nextSteps(facts);
    this.#waiting.push(...next.waitingFor);
    const { approvals: taken, usedApprovals: used } = this.#record;
    const approval = { given: work.object.metadata.annotations?.[APPROVE], taken, used };
    const choice = await choose({ wishes: next.wishes, settling, approval, environment });
    this.#record.chose(choosingOf(next, choice.asked));
    this.#waiting.push(...choice.waitingFor);
    this.#proposed = choice.proposed;
    this.#settlesAt = choice.settlesAt;
    this.#triesAt = choice.triesAt;
    if (choice.restart) await this.#restart(choice.restart, given);
    else if (choice.begin) {
      const { name, uid } = work.object.metadata;
      const { wish, proposal, approval: by } = choice.begin;
      const trigger = { kind: 'RedisCluster', name, uid };
      this.#take({ ...wish, goal: proposal.decided.goal, trigger, approval: by }, environment);
    } else if (choice.settlesAt === undefined) await this.#nextTask(seen, environment);
  }

  async #nextTask(seen: Seen, environment: Environment): Promise<void> {
    if (this.#whyTasksWait(seen) !== undefined) return;
    const { work, tasks } = this.#given;
    const stored = this.#before.members ?? [];
    const open = tasks.filter(({ metadata }) => metadata.uid !== this.#endedTask);
    const next = await nextTask({ work, tasks: open, desired: this.#desired, seen, stored, environment });
    if (next && 'checked' in next) this.#checked = next;
    if (!next || 'checked' in next) return;
    this.#take({ ...next.begin.wish, goal: next.begin.goal, trigger: triggerOf(next.task) }, environment);
    await writeTask(work, next.task, startedStatus(work.now(), this.#record.current?.id ?? ''));
  }

  #whyTasksWait(seen: Seen): string | undefined {
    const problem = this.#problems[0]?.message;
    const isPaused = this.#given.work.object.spec.paused === true;
    const unseen = this.#unseen?.message;
    const isAnswering = seen.members.some(({ node }) => node);
    return whyTasksWait({ problem, isPaused, unseen, isConfigured: this.#isConfigured(seen), isAnswering });
  }

  /** Written with the status; begun only after that. */
  #take(begun: Omit<Begun, 'id'>, { ports }: Environment): void {
    const { work } = this.#given;
    this.#record.begin({ ...begun, id: ports.ids.next(begun.kind) }, work.now());
    work.events.normal('OperationBegun', `${begun.kind}: ${begun.why}`.slice(0, MOST_TEXT), begun.kind);
  }

  /** Exactly this pod: its successor has another uid. */
  async #restart({ pod, why }: RestartWish, environment: Access): Promise<void> {
    const { work } = this.#given;
    // Proposals lie between the look of this turn and now: who was a replica then may be all that is left of its shard.
    const seen = await this.#look({ ...environment, seeds: this.#allSeeds });
    const { wishes } = nextSteps(this.#facts(seen));
    if (!wishes.some((wish) => wish.what === 'restart' && wish.pod.uid === pod.uid)) return;
    // A silent one is restarted for having nothing in it, or no life: that is not for a cache to say.
    if (!pod.node && !isUntouched((await liveCluster(work)).status) && !(await isBrokenNow(work, pod))) return;
    const present = this.#given.pods.find(({ metadata }) => metadata?.uid === pod.uid);
    if (!present) return;
    work.events.normal('PodRestarted', why, 'restart');
    await work.remove(pods, present as never);
  }

  #facts(seen: Seen): NextFacts {
    const configured = this.#isConfigured(seen);
    const { chosen } = this.#record;
    const isImageHeld = this.#held !== undefined;
    return { desired: this.#desired, ...seen, configured, isUntouched: isUntouched(this.#before), isImageHeld, chosen };
  }

  #isConfigured(seen: Seen): boolean {
    return isConfigured(this.#before, this.#record.current?.kind, seen);
  }

  async #write(seen: Seen, isPaused: boolean): Promise<void> {
    const { work, runs, enrollment, podAgents, toldFindings } = this.#given;
    const roster = (enrollment ?? podAgents)?.roster;
    const told = toldStates(roster ?? [], seen.view);
    const unseen = this.#unseen;
    const before = this.#before as RedisClusterStatus;
    const fresh = unseen ? lastTopology(before) : topologyOf(seen.members, seen.view);
    const topology = storeStates(before, fresh, { view: seen.view, told });
    const run = runs.of(work.key);
    const strays = this.#checked?.checked.strays ?? this.#strays;
    const status = statusOf({
      before: this.#before,
      generation: work.object.metadata.generation,
      now: work.now(),
      isPaused,
      configured: this.#isConfigured(seen),
      desired: this.#desired,
      roster,
      seen,
      unseen,
      chosen: this.#record.chosen,
      approvals: this.#record.approvals,
      topology,
      strays,
      problems: this.#problems,
      setbacks: this.#record.setbacks,
      undeclared: this.#undeclared,
      unproved: this.#unproved,
      offer: this.#tls.judged,
      taken: this.#tls.taken,
      waitingFor: this.#waiting,
      progress: run && run.id === this.#record.current?.id ? run.progress : undefined,
      proposed: this.#proposed,
      current: this.#record.current,
      history: this.#record.history,
    });
    const looked = unseen ? undefined : { ...topology, findings: countedFindings(seen.findings, status.conditions) };
    this.#given.saw({ looked, operation: this.#record.current?.kind });
    const homes = { kind: enrollment ? 'Member' : 'Pod', namespace: work.object.metadata.namespace ?? '' } as const;
    const isUnseen = unseen !== undefined;
    tellTurn(work.events, { before, after: status, seen, isUnseen, toldFindings, strays, roster, homes });
    await work.status(status, { onlyIf: (present) => hasSameGoal(this.#before, present) });
  }

  /** What runs already goes on. What does not is begun only if it is, at this moment, the goal that the server has: the cache may lag. */
  async #goOn(current: CurrentOperation, environment: Access): Promise<void> {
    const { work, runs } = this.#given;
    if (runs.of(work.key)) return;
    if ((await liveCluster(work)).status?.currentOperation?.id !== current.id) return;
    work.signal.throwIfAborted();
    runs.start(work.key, current, environment);
  }

  /** What settles or failed has its own time, but never a later one than the next look: others may be amiss by then. */
  #verdict({ findings }: Seen, isPaused: boolean): Verdict {
    const { work, lookEveryMs, enrollment, podAgents } = this.#given;
    const now = work.now();
    const isBusy = this.#record.current !== undefined || this.#waiting.length > 0 || !isClean(findings);
    const expected = this.#record.current ? [] : [this.#settlesAt, this.#triesAt].filter((time) => time !== undefined);
    const soon = isBusy && !isPaused && expected.length === 0;
    const { nextLossAt = Number.POSITIVE_INFINITY } = enrollment ?? podAgents ?? {};
    return wakeAt(Math.min(now + (soon ? SOON_MS : lookEveryMs), ...expected, nextLossAt));
  }
}
