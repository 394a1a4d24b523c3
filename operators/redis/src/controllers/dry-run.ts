/**
 * What the operator would do next with a cluster or a task, and why: the same decisions on live reads. Nothing is changed; the server is
 * asked what would become of objects without keeping them.
 */
import { apiVersionOf, isKubeError, type KubeClient, type KubeObject, type Resource } from '@reeve/kube';
import { canonicalJson, localExecutor, type Ports, type Refusal, type Waiting } from '@reeve/runtime';
import { APPROVE, CLUSTER_LABEL, type CurrentOperation } from '../api/cluster.ts';
import {
  configMaps,
  disruptionBudgets,
  pods,
  type RedisClusterObject,
  redisClusters,
  type RedisTaskObject,
  type Secret,
  secrets,
  services,
  type StatefulSet,
  statefulSets,
  workerNodes,
} from '../api/kinds.ts';
import type { RedisPort } from '../api/port.ts';
import type { ConnectOptions } from '../client/client.ts';
import { redisContext } from '../commands/context.ts';
import { redisHandlers } from '../commands/handlers.ts';
import { configMapOf, disruptionBudgetOf, namesOf, servicesOf, statefulSetOf, tlsSecretOf } from '../plan/children.ts';
import { serverNameOf } from '../plan/tls.ts';
import { type Desired, desiredOf, specProblems } from '../plan/desired.ts';
import { nextSteps, type Wish } from '../plan/next.ts';
import { ordinalOf } from '../plan/pods.ts';
import { printCommand } from '../plan/print.ts';
import { presentReplicas, safeReplicas } from '../plan/shrink.ts';
import { taskWish } from '../plan/task-wish.ts';
import { type Choice, choose, Settling } from './choose.ts';
import { podFacts } from './cluster-facts.ts';
import { connectOptionsOf, secretOf } from './credentials.ts';
import { configDigest, usersOf } from './declare.ts';
import type { Environment } from './environment.ts';
import { accessOf, isConfigured, isUntouched, lookAt, memberSeeds, type Seen } from './look.ts';
import { tlsAccessOf } from './tls.ts';
import { observeFor } from './observing.ts';
import { operationOfKind } from './operations.ts';

export interface DryRunPorts {
  readonly client: KubeClient;
  readonly ports: Ports;
  connect(options: ConnectOptions): RedisPort;
  readonly signal: AbortSignal;
}

export interface ObjectPlan {
  readonly kind: string;
  readonly name: string;
  /** `refused`: the server would not take it. `unknown`: whoever asks may not ask the server that. */
  readonly change: 'create' | 'change' | 'none' | 'refused' | 'unknown';
  /** Why it is refused. */
  readonly message?: string;
}

export interface StepPlan {
  readonly kind: string;
  readonly why: string;
  readonly steps: readonly string[];
  readonly reasons: readonly string[];
  /** The name of the plan, by which it is approved. */
  readonly digest?: string;
  /** It waits for a person's approval of that digest. */
  readonly needsApproval?: true;
  /** It was begun: these are the next commands. */
  readonly isUnderWay?: true;
}

export interface DryRun {
  readonly objects: readonly ObjectPlan[];
  /** Undefined: nothing is to be done, or not yet. */
  readonly next?: StepPlan;
  readonly refused: readonly Refusal[];
  readonly waitingFor: readonly Waiting[];
}

/** Everything that a turn would know. */
interface Surroundings {
  readonly cluster: RedisClusterObject;
  readonly desired: Desired;
  readonly set: StatefulSet | undefined;
  readonly secret: Secret | undefined;
  readonly users: string;
  readonly present: number | undefined;
  readonly seen: Seen;
  readonly environment: Environment | undefined;
  readonly waitingFor: readonly Waiting[];
}

/** @param cluster as it is, or as it would be if a file were applied. */
export async function planCluster(given: DryRunPorts, cluster: RedisClusterObject): Promise<DryRun> {
  const problems = specProblems(cluster.spec);
  if (problems.length > 0) return { objects: [], refused: problems, waitingFor: [] };
  return visit(given, cluster, async (around) => {
    const objects = await childrenOf(given, around);
    const paused: readonly Waiting[] = cluster.spec.paused
      ? [{ reason: 'Paused', message: 'spec.paused: nothing is begun before it is taken away', subjects: [] }]
      : [];
    const steps = await stepsOf(around);
    return { objects, ...steps, waitingFor: [...paused, ...around.waitingFor, ...steps.waitingFor] };
  });
}

/** What a task asks for, if its turn were now. */
export async function planTask(
  given: DryRunPorts,
  cluster: RedisClusterObject,
  task: RedisTaskObject,
): Promise<DryRun> {
  return visit(given, cluster, async ({ desired, seen, environment, waitingFor }) => {
    const none = { objects: [], refused: [], waitingFor };
    const running = cluster.status?.currentOperation;
    const isOwn = running?.trigger.uid !== undefined && running.trigger.uid === task.metadata.uid;
    if (running && isOwn && environment) return { ...none, ...(await underWay(running, environment)) };
    const busy: readonly Waiting[] = running
      ? [{ reason: 'Busy', message: `${running.kind} runs: ${running.why}`, subjects: [running.id] }]
      : [];
    const wish = taskWish(task, { desired, members: seen.members });
    const unborn: readonly Waiting[] = isConfigured(cluster.status ?? {}, running?.kind, seen)
      ? []
      : [{ reason: 'NotCreated', message: 'the cluster was not created yet: its tasks wait', subjects: [] }];
    const waiting = { ...none, waitingFor: [...waitingFor, ...busy, ...unborn] };
    if (unborn.length > 0) return waiting;
    if (!wish) return { ...waiting, next: { kind: 'check', why: 'the task asks for it', steps: [], reasons: [] } };
    if ('refused' in wish) return { ...waiting, refused: wish.refused };
    if (!environment) return waiting;
    const choice = await chooseAtOnce([wish], environment, undefined);
    return { ...waiting, ...stepOf(choice, [wish]), refused: choice.refused };
  });
}

async function visit(
  { client, ports, connect, signal }: DryRunPorts,
  cluster: RedisClusterObject,
  plan: (around: Surroundings) => Promise<DryRun>,
): Promise<DryRun> {
  const { name, namespace = '' } = cluster.metadata;
  if (cluster.spec.members === 'external') return externalMembers;
  const names = namesOf(name);
  const desired = desiredOf(cluster.spec);
  const labelSelector = `${CLUSTER_LABEL}=${name}`;
  const own = client.resource(secrets, namespace);
  const set = await client.resource(statefulSets, namespace).find(names.statefulSet, { signal });
  const secret = await own.find(names.secret, { signal });
  const { items } = await client.resource(pods, namespace).listAll({ labelSelector, signal });
  const nodes = new Map(
    (await client.resource(workerNodes).listAll({ signal })).items.map((one) => [one.metadata.name, one]),
  );
  const { users, waitingFor } = await usersOf(own, cluster.spec, signal);
  const facts = podFacts(items, {
    set,
    setName: names.statefulSet,
    spreadBy: desired.spreadBy,
    workerNode: (node) => nodes.get(node),
  });
  const options = connectOptionsOf(secret);
  const tlsSecret = tlsSecretOf(name, desired);
  const tls =
    tlsSecret === undefined
      ? undefined
      : tlsAccessOf(await own.find(tlsSecret, { signal }), serverNameOf(name, namespace, desired.tls));
  // Without its certificates nobody can be talked to.
  const isReachable = options !== undefined && (tlsSecret === undefined || tls !== undefined);
  const redis = isReachable ? connect({ ...options, ...(tls && { tls }) }) : undefined;
  try {
    const access =
      redis && accessOf(facts, { redis, ports, executor: localExecutor(redisHandlers, redisContext(redis, ports)) });
    const seen = await lookAt(access, { pods: facts, desired, now: ports.clock.now() });
    const ordinals = items.map(({ metadata }) => ordinalOf(names.statefulSet, metadata.name));
    return await plan({
      cluster,
      desired,
      set,
      secret,
      // Of a secret that is not there yet nobody knows the digest; nor is there a set to compare it with.
      users: secret ? (secretOf(name, secret, users, () => '').data?.['users.acl'] ?? '') : '',
      present: presentReplicas(set?.spec?.replicas, ordinals),
      seen,
      environment: access && { ...access, seeds: memberSeeds(seen, access.seeds), signal },
      waitingFor,
    });
  } finally {
    await redis?.close();
  }
}

/** What is done about them depends on agents that only the operator hears of. */
const externalMembers: DryRun = {
  objects: [],
  refused: [],
  waitingFor: [
    {
      reason: 'ExternalMembers',
      message: 'what comes next for external members is known to the operator only: see the status of the cluster',
      subjects: [],
    },
  ],
};

async function stepsOf({ cluster, desired, seen, environment }: Surroundings): Promise<Omit<DryRun, 'objects'>> {
  const status = cluster.status ?? {};
  const { currentOperation: running } = status;
  const nothing = { refused: [], waitingFor: [] };
  if (!environment) {
    const message = 'there is no password yet: the operator makes it, and pods begin with it';
    return {
      ...nothing,
      waitingFor: [{ reason: 'NoSecret', message, subjects: [namesOf(cluster.metadata.name).secret] }],
    };
  }
  if (running) return underWay(running, environment);
  const configured = isConfigured(status, undefined, seen);
  const { wishes, waitingFor } = nextSteps({ desired, ...seen, configured, isUntouched: isUntouched(status) });
  const choice = await chooseAtOnce(wishes, environment, cluster.metadata.annotations?.[APPROVE]);
  return {
    ...stepOf(choice, wishes),
    refused: choice.refused,
    waitingFor: [...waitingFor, ...silent(seen), ...choice.waitingFor],
  };
}

/** From here, that is: whoever plans may live elsewhere than the operator. */
function silent({ members, view }: Seen): readonly Waiting[] {
  if (members.length === 0 || members.some(({ node }) => node)) return [];
  const [first] = view.silent;
  if (!first) return [];
  const message = `no server could be reached from here (${first.why}): the operator may see more`;
  return [{ reason: 'NotReached', message, subjects: [] }];
}

/** As if everything had been so for long enough. */
function chooseAtOnce(
  wishes: readonly Wish[],
  environment: Environment,
  approved: string | undefined,
): Promise<Choice> {
  const settled = wishes.map((wish) => ({ ...wish, settleMs: 0 }));
  return choose({ wishes: settled, settling: new Settling(), approved, environment });
}

function stepOf(choice: Choice, wishes: readonly Wish[]): Pick<DryRun, 'next'> {
  const { begin, restart, proposed } = choice;
  if (restart) {
    const steps = [`pod ${restart.pod.name} is deleted, and made anew by its StatefulSet`];
    return { next: { kind: 'restart', why: restart.why, steps, reasons: [] } };
  }
  const proposal = begin?.proposal ?? proposed;
  if (!proposal) return {};
  const { kind, digest, decided } = proposal;
  const why = begin?.wish.why ?? wishes.find((wish) => wish.what === 'operation' && wish.kind === kind)?.why ?? '';
  const { steps, reasons } = decided;
  return { next: { kind, why, digest, steps, reasons, ...(!begin && { needsApproval: true as const }) } };
}

async function underWay(
  { kind, why, goal }: CurrentOperation,
  environment: Environment,
): Promise<Omit<DryRun, 'objects'>> {
  const operation = operationOfKind(kind);
  const begun = { kind, why, reasons: [], isUnderWay: true as const };
  if (!operation) {
    const message = `operation ${kind} is not known here: another version of Reeve began it`;
    return {
      next: { ...begun, steps: [] },
      refused: [{ code: 'OPERATION_UNKNOWN', message, subjects: [] }],
      waitingFor: [],
    };
  }
  const view = await observeFor(environment, (seen) => operation.goalNeeds(goal, seen));
  const plan = operation.plan(goal, view, environment.ports.clock.now(), []);
  const steps = plan.commands.map((command) => `${printCommand(command)}: ${command.why}`);
  return { next: { ...begun, steps }, refused: plan.refused ?? [], waitingFor: plan.waitingFor ?? [] };
}

type Named = KubeObject & { readonly metadata: { readonly name: string } };

async function childrenOf(given: DryRunPorts, around: Surroundings): Promise<readonly ObjectPlan[]> {
  const { cluster, desired, secret, seen, present, users } = around;
  const { name } = cluster.metadata;
  const replicas = cluster.status?.currentOperation
    ? Math.max(present ?? 0, desired.size)
    : safeReplicas(desired.size, present, seen.members, seen.view);
  const set = statefulSetOf(name, desired, { replicas, configDigest: configDigest(desired, users) });
  const children: readonly (readonly [Resource<never>, Named])[] = [
    [configMaps as never, configMapOf(name, desired)],
    ...servicesOf(name).map((service) => [services as never, service] as const),
    [disruptionBudgets as never, disruptionBudgetOf(name)],
    [statefulSets as never, set],
  ];
  const plans: ObjectPlan[] = [
    { kind: secrets.kind, name: namesOf(name).secret, change: connectOptionsOf(secret) ? 'none' : 'create' },
  ];
  for (const [kind, child] of children) plans.push(await changeOf(given, cluster, kind as Resource<KubeObject>, child));
  return plans;
}

/** By the server, which knows its own defaults: applied as the operator would, and not kept. */
async function changeOf(
  { client, signal }: DryRunPorts,
  { metadata: owner }: RedisClusterObject,
  kind: Resource<KubeObject>,
  child: Named,
): Promise<ObjectPlan> {
  const { name } = child.metadata;
  const api = client.resource(kind, owner.namespace);
  const plan = { kind: kind.kind, name };
  const before = await api.find(name, { signal });
  if (!before) return { ...plan, change: 'create' };
  const reference = {
    apiVersion: apiVersionOf(redisClusters),
    kind: redisClusters.kind,
    name: owner.name,
    uid: owner.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
  const wanted = { ...child, metadata: { ...child.metadata, ownerReferences: [reference] } };
  try {
    const after = await api.apply(wanted, { dryRun: true, force: true, fieldManager: 'redis', signal });
    return { ...plan, change: contentOf(before) === contentOf(after) ? 'none' : 'change' };
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return { ...plan, change: 'unknown' };
    if (isKubeError(error, 'KUBE_INVALID')) return { ...plan, change: 'refused', message: (error as Error).message };
    throw error;
  }
}

/** Without what the server counts by itself. */
function contentOf({ metadata, ...rest }: KubeObject): string {
  const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return canonicalJson({ ...rest, metadata: kept });
}
