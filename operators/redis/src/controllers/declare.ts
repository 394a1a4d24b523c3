/** Brings a cluster's objects in Kubernetes to what they should be. Applies only; nothing is deleted here. */
import { digest, type DeepReadonly, ReeveError, type Waiting } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import {
  configMaps,
  disruptionBudgets,
  type RedisClusterObject,
  redisClusters,
  type Secret,
  secrets,
  services,
  type StatefulSet,
  statefulSets,
} from '../api/kinds.ts';
import type { ClusterView } from '../api/view.ts';
import {
  configMapOf,
  disruptionBudgetOf,
  namesOf,
  SERVER_CONTAINER,
  serverConfig,
  servicesOf,
  statefulSetOf,
} from '../plan/children.ts';
import type { Desired } from '../plan/desired.ts';
import { type HeldImage, heldImage } from '../plan/held-image.ts';
import { ordinalOf, type PodMember } from '../plan/pods.ts';
import { presentReplicas, safeReplicas } from '../plan/shrink.ts';
import { isUntouched } from './look.ts';
import { connectOptionsOf, secretOf } from './credentials.ts';
import { type DeclaredUsers, usersOf } from './users.ts';

type Work = Reconcile<RedisClusterObject>;
type Named = { readonly metadata?: { readonly name?: string } };

interface DeclaredAuth {
  readonly secret: DeepReadonly<Secret> | undefined;
  readonly waitingFor: readonly Waiting[];
  /** Undefined: nobody looked at the users. */
  readonly unproved?: DeclaredUsers['unproved'];
}

/** The Secret with the passwords. */
export async function declareAuth(work: Work, newPassword: () => string): Promise<DeclaredAuth> {
  const { object, api, signal } = work;
  const { name, namespace = '' } = object.metadata;
  const own = api.resource(secrets, namespace);
  const secretName = namesOf(name).secret;
  // Asked live if the cache does not have it: new passwords for servers that run with the old ones would lock everybody out.
  const cached = work.read(secrets, `${namespace}/${secretName}`);
  const present = cached ?? (await own.find(secretName, { signal }));
  if (connectOptionsOf(present) === undefined && (await hasServersToLose(work))) {
    // Its servers know the old one, and nobody else does: a new one would lock everybody out for good.
    const message = `secret ${secretName} has lost the password of the servers: bring it back from a copy`;
    return { secret: undefined, waitingFor: [{ reason: 'SecretLost', message, subjects: [secretName] }] };
  }
  // Live: a cache may not know yet what servers were given a moment ago.
  const given = () => own.find(secretName, { signal });
  const { users, unproved, waitingFor } = await usersOf(own, object.spec, given, signal);
  return { secret: await work.apply(secrets, secretOf(name, present, users, newPassword)), waitingFor, unproved };
}

/**
 * Whether a creation was ever begun, asked live: a cache may lag behind the leader that began it. Before that all servers are new: whoever
 * was started with a password that is lost is made anew with another one (plan/next.ts).
 */
async function hasServersToLose({ object, api, signal }: Work): Promise<boolean> {
  const { name, namespace, uid } = object.metadata;
  const live = await api.resource(redisClusters, namespace).find(name, { signal });
  // Of another, or of nobody: nothing is made for it.
  return live?.metadata.uid !== uid || !isUntouched(live.status);
}

export async function declareServices(work: Work, desired: Desired): Promise<void> {
  const { name } = work.object.metadata;
  await work.apply(configMaps, configMapOf(name, desired));
  for (const service of servicesOf(name)) await work.apply(services, service);
  await work.apply(disruptionBudgets, disruptionBudgetOf(name));
}

/** The set as it is: live if the cache does not have it. */
async function presentSet(work: Work): Promise<DeepReadonly<StatefulSet> | undefined> {
  const { name, namespace = '' } = work.object.metadata;
  const setName = namesOf(name).statefulSet;
  return (
    work.read(statefulSets, `${namespace}/${setName}`) ??
    (await work.api.resource(statefulSets, namespace).find(setName, { signal: work.signal }))
  );
}

/** What the spec asks for and servers must not be given. */
export async function heldBack(
  work: Work,
  desired: Desired,
  { members }: { readonly members: readonly PodMember[] },
): Promise<HeldImage | undefined> {
  const present = imageOfSet(await presentSet(work));
  return heldImage({ desired, members, present, isUntouched: isUntouched(work.object.status) });
}

export function imageOfSet(set: DeepReadonly<StatefulSet> | undefined): string | undefined {
  const { containers = [] } = (set?.spec?.template.spec ?? {}) as {
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
  };
  return containers.find((one) => one.name === SERVER_CONTAINER)?.image;
}

/** As many pods as asked for; fewer than there are only when nobody lives in those that go, and never while something runs. */
export async function replicasNow(
  work: Work,
  { desired, pods, isBusy }: { readonly desired: Desired; readonly pods: readonly Named[]; readonly isBusy: boolean },
  { members, view }: { readonly members: readonly PodMember[]; readonly view: ClusterView },
): Promise<number> {
  const setName = namesOf(work.object.metadata.name).statefulSet;
  const set = await presentSet(work);
  const ordinals = pods.map(({ metadata }) => ordinalOf(setName, metadata?.name ?? ''));
  const present = presentReplicas(set?.spec?.replicas, ordinals);
  return isBusy ? Math.max(present ?? 0, desired.size) : safeReplicas(desired.size, present, members, view);
}

interface SetTurn {
  readonly replicas: number;
  /** Who may do what. Servers read it at their start only, as they do their configuration: another one makes pods outdated. */
  readonly users: string;
  readonly held: HeldImage | undefined;
}

/** With an image that is held back the set is not what it should be, and this says so, once everything else of it is. */
export async function declareSet(work: Work, desired: Desired, { replicas, users, held }: SetTurn): Promise<void> {
  const { name } = work.object.metadata;
  const wanted = held ? { ...desired, image: held.image } : desired;
  const set = statefulSetOf(name, wanted, { replicas, configDigest: configDigest(desired, users) });
  await work.apply(statefulSets, set);
  if (held) throw new ReeveError(held.refused.code, held.refused.message, { subjects: held.refused.subjects });
}

export function heldWait({ image, refused }: HeldImage): Waiting {
  const message = `another image in the spec: pods stay with ${image}. ${refused.message}`;
  return { reason: 'ImageHeld', message, subjects: refused.subjects };
}

export function configDigest(desired: Desired, users: string): string {
  return digest({ config: serverConfig(desired), users });
}
