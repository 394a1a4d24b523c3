/** Everything that a turn would know of a cluster, by live reads. */
import type { KubeClient } from '@reeve/kube';
import { localExecutor, MEMBER_LEASE_LABEL, type LeaseObject, type Ports, type Waiting } from '@reeve/runtime';
import { presenceByClock } from '../../agent/presence.ts';
import { CLUSTER_LABEL } from '../../api/cluster.ts';
import {
  memberLeases,
  members,
  pods,
  type RedisClusterObject,
  type RedisTaskObject,
  redisTasks,
  type Secret,
  secrets,
  statefulSets,
  workerNodes,
} from '../../api/kinds.ts';
import type { RedisPort } from '../../api/port.ts';
import type { ConnectOptions } from '../../client/client.ts';
import { redisContext } from '../../commands/context.ts';
import { redisHandlers } from '../../commands/handlers.ts';
import { namesOf, serverNameOf, tlsSecretOf } from '../../plan/children.ts';
import { type Desired, desiredOf } from '../../plan/desired.ts';
import { type HeldImage, heldImage } from '../../plan/held-image.ts';
import { ordinalOf, type PodFacts } from '../../plan/pods.ts';
import { presentReplicas } from '../../plan/shrink.ts';
import { podFacts } from '../cluster-facts.ts';
import { connectOptionsOf, secretOf } from '../credentials.ts';
import { heldWait, imageOfSet } from '../declare.ts';
import type { Environment } from '../environment.ts';
import { externalAccess } from '../external.ts';
import { accessOf, isUntouched, lookAt, memberSeeds, type Seen } from '../look.ts';
import { agentWaits, externalPods, rosterOf } from '../roster.ts';
import { tlsAccessOf } from '../tls-secret.ts';
import { usersOf } from '../users.ts';

export interface DryRunPorts {
  readonly client: KubeClient;
  readonly ports: Ports;
  connect(options: ConnectOptions): RedisPort;
  readonly signal: AbortSignal;
}

export interface Around {
  readonly cluster: RedisClusterObject;
  readonly desired: Desired;
  readonly secret: Secret | undefined;
  readonly users: string;
  /** How many pods there are by its set. */
  readonly present: number | undefined;
  readonly tasks: readonly RedisTaskObject[];
  readonly seen: Seen;
  readonly environment: Environment | undefined;
  readonly waitingFor: readonly Waiting[];
  /** What the spec asks for and servers must not be given. */
  readonly held: HeldImage | undefined;
}

/** What is known before any server is asked. */
interface Roll extends Pick<Around, 'secret' | 'users' | 'present' | 'waitingFor'> {
  readonly members: readonly PodFacts[];
  /** What pods are made from now. */
  readonly image: string | undefined;
  /** Undefined: nobody can be talked to. */
  readonly options: ConnectOptions | undefined;
}

export async function visit<T>(
  given: DryRunPorts,
  cluster: RedisClusterObject,
  plan: (around: Around) => Promise<T>,
): Promise<T> {
  const { client, ports, connect, signal } = given;
  const { name, namespace = '' } = cluster.metadata;
  const desired = desiredOf(cluster.spec);
  const {
    members: facts,
    options,
    image,
    ...roll
  } = await (desired.members === 'external' ? enrolled(given, cluster) : housed(given, cluster, desired));
  const { items: tasks } = await client.resource(redisTasks, namespace).listAll({ signal });
  const redis = options && connect(options);
  try {
    const access =
      redis && accessOf(facts, { redis, ports, executor: localExecutor(redisHandlers, redisContext(redis, ports)) });
    const seen = await lookAt(access, { pods: facts, desired, now: ports.clock.now() });
    const { members: asked } = seen;
    const held = heldImage({ desired, members: asked, present: image, isUntouched: isUntouched(cluster.status) });
    return await plan({
      cluster,
      desired,
      ...roll,
      waitingFor: [...roll.waitingFor, ...(held ? [heldWait(held)] : [])],
      held,
      tasks: tasks.filter(({ spec }) => spec.cluster === name),
      seen,
      environment: access && { ...access, seeds: memberSeeds(seen, access.seeds), signal },
    });
  } finally {
    await redis?.close();
  }
}

/** The pods of a cluster. */
async function housed(
  { client, signal }: DryRunPorts,
  { metadata, spec }: RedisClusterObject,
  desired: Desired,
): Promise<Roll> {
  const { name, namespace = '' } = metadata;
  const names = namesOf(name);
  const labelSelector = `${CLUSTER_LABEL}=${name}`;
  const own = client.resource(secrets, namespace);
  const set = await client.resource(statefulSets, namespace).find(names.statefulSet, { signal });
  const secret = await own.find(names.secret, { signal });
  const { items } = await client.resource(pods, namespace).listAll({ labelSelector, signal });
  const nodes = new Map(
    (await client.resource(workerNodes).listAll({ signal })).items.map((one) => [one.metadata.name, one]),
  );
  const { users, waitingFor } = await usersOf(own, spec, async () => secret, signal);
  const facts = podFacts(items, {
    set,
    setName: names.statefulSet,
    spreadBy: desired.spreadBy,
    workerNode: (node) => nodes.get(node),
  });
  const options = connectOptionsOf(secret);
  const tlsSecret = tlsSecretOf(name, desired);
  const given = desired.tls?.secretName;
  // What servers were given, or what they are to be given first.
  const tlsGiven =
    (tlsSecret === undefined ? undefined : await own.find(tlsSecret, { signal })) ??
    (given === undefined ? undefined : await own.find(given, { signal }));
  const tls = tlsAccessOf(tlsGiven, serverNameOf(name, namespace, desired.tls));
  // Without its certificates nobody can be talked to.
  const isReachable = options !== undefined && (tlsSecret === undefined || tls !== undefined);
  const ordinals = items.map((pod) => ordinalOf(names.statefulSet, pod.metadata.name));
  return {
    members: facts,
    image: imageOfSet(set),
    options: isReachable ? { ...options, ...(tls && { tls }) } : undefined,
    secret,
    // Of a secret that is not there yet nobody knows the digest; nor is there a set to compare it with.
    users: secret ? (secretOf(name, secret, users, () => '').data?.['users.acl'] ?? '') : '',
    present: presentReplicas(set?.spec?.replicas, ordinals),
    waitingFor,
  };
}

/** Servers that somebody runs. Whether their agents live is judged by one look at their leases: nothing is ordered of them here. */
async function enrolled({ client, ports, signal }: DryRunPorts, cluster: RedisClusterObject): Promise<Roll> {
  const { name, namespace = '' } = cluster.metadata;
  const own = await client.resource(members, namespace).listAll({ labelSelector: `${CLUSTER_LABEL}=${name}`, signal });
  const held = await client.resource(memberLeases, namespace).listAll({ labelSelector: MEMBER_LEASE_LABEL, signal });
  const leases = new Map(held.items.map((lease) => [lease.metadata.labels?.[MEMBER_LEASE_LABEL], lease]));
  const now = ports.clock.now();
  const roster = rosterOf(own.items, ({ metadata }) =>
    presenceByClock(leases.get(metadata.name) as LeaseObject | undefined, now),
  );
  const { options, waitingFor } = await externalAccess({ object: cluster, api: client, signal });
  return {
    members: externalPods(roster),
    image: undefined,
    options,
    secret: undefined,
    users: '',
    present: undefined,
    waitingFor: [...waitingFor, ...agentWaits(roster)],
  };
}
