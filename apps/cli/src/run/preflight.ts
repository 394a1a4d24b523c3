/** What must be there before operators run, and who they must be. Asked once, so that what is missing has a name. */
import { discover, isKubeError, type KubeClient, type KubeObject, resource } from '@reeve/kube';
import type { Right } from '@reeve/redis';
import type { Clock } from '@reeve/runtime';
import { leases } from '@reeve/runtime/manager';
import { cliError } from '../errors.ts';
import { installAgentRules, installKinds, operatorKinds } from '../operators/operators.ts';
import { clusterRights, LEASE, leaseRights, namespaceOf } from './manifests.ts';

interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
  readonly status?: { readonly allowed?: boolean };
}

const reviews = resource<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
});
const namespaces = resource({ group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false });

const LOOK_AGAIN_MS = 200;
/** How long a kind may take from its definition to being served. */
const MOST_WAIT_MS = 30_000;

export interface Ground {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** `reeve up` has its operators with it: two at once would get in each other's way, and no lease is between them. */
export async function refuseOwnPlane({ client, signal }: Pick<Ground, 'client' | 'signal'>): Promise<void> {
  const { gitVersion } = (await client.read('/version', { signal })) as { readonly gitVersion?: unknown };
  if (typeof gitVersion !== 'string' || !gitVersion.endsWith('-reeve')) return;
  throw cliError('OPERATORS_RUN', 'this is the API of `reeve up`, which runs the operators itself');
}

/** Namespace, kinds and the rules for agents as this version needs them. @returns what this server cannot have. */
export async function install({ client, namespace, clock, signal }: Ground): Promise<readonly string[]> {
  // One that is there is somebody's: its labels say what else may run in it.
  if (!(await client.resource(namespaces).find(namespace, { signal }))) {
    await client.resource(namespaces).create(namespaceOf(namespace), { signal });
  }
  await installKinds(client, signal);
  const endsAt = clock.now() + MOST_WAIT_MS;
  while ((await missingKinds(client, signal)).length > 0 && clock.now() < endsAt) {
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
  return installAgentRules(client, signal);
}

export async function demandGround({ client, namespace, signal }: Ground): Promise<void> {
  const kinds = await missingKinds(client, signal);
  if (kinds.length > 0) throw cliError('KINDS_MISSING', `the server does not serve ${kinds.join(', ')}`, kinds);
  const rights = await missingRights(client, namespace, signal);
  if (rights.length > 0) throw cliError('RIGHTS_MISSING', `no right to ${rights.join(', ')}`, rights);
  await demandNamespace(client, namespace, signal);
}

async function missingKinds(client: KubeClient, signal: AbortSignal): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { group, version, kind, plural } of operatorKinds()) {
    if (!(await discover(client, { group, version, kind }, { signal }))) missing.push(`${plural}.${group}/${version}`);
  }
  return missing;
}

/** Nobody need be allowed to read namespaces: a lease that cannot be made tells as much. */
async function demandNamespace(client: KubeClient, namespace: string, signal: AbortSignal): Promise<void> {
  const own = client.resource(leases, namespace);
  if (await own.find(LEASE, { signal })) return;
  try {
    await own.create({ metadata: { name: LEASE } }, { dryRun: true, signal });
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    throw cliError('NAMESPACE_MISSING', `there is no namespace ${namespace}`, [namespace]);
  }
}

/** `patch redisclusters.redis.reeve.dev/status`. */
async function missingRights(client: KubeClient, namespace: string, signal: AbortSignal): Promise<readonly string[]> {
  const asked = [
    ...clusterRights.flatMap((right) => attributesOf(right, nameOf(right))),
    ...leaseRights.flatMap((right) => attributesOf(right, { namespace, ...nameOf(right) })),
  ];
  const missing: string[] = [];
  for (const resourceAttributes of asked) {
    const { status } = await client
      .resource(reviews)
      .create({ metadata: {}, spec: { resourceAttributes } }, { signal });
    if (status?.allowed !== true) missing.push(textOf(resourceAttributes));
  }
  return missing;
}

function nameOf({ resourceNames: [name] = [] }: Right): { name?: string } {
  return name === undefined ? {} : { name };
}

type Attributes = AccessReview['spec']['resourceAttributes'];

function attributesOf({ apiGroups, resources, verbs }: Right, more: Attributes = {}): readonly Attributes[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((path) => {
      const [plural = '', subresource] = path.split('/');
      const what = { group, resource: plural, ...(subresource !== undefined && { subresource }) };
      return verbs.map((verb) => ({ ...what, verb, ...more }));
    }),
  );
}

function textOf({ verb = '', resource: plural = '', group = '', subresource, name, namespace }: Attributes): string {
  const what = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
