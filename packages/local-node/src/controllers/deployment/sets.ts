/** The ReplicaSets of a deployment: which one is the new one, and how they are told apart. Pure. */
import type { Stored } from '@reeve/kube';
import { canonicalJson } from '@reeve/runtime';
import { type Deployment, deployments, type DeploymentSpec } from '../../kinds/deployment.ts';
import type { ReplicaSet } from '../../kinds/replicaset.ts';
import { type PodTemplate, scaled } from '../../kinds/template.ts';
import { controllerReference } from '../owned/claim.ts';
import { hashOf } from '../revision/history.ts';

export type StoredSet = Stored<ReplicaSet>;

const TEMPLATE_HASH = 'pod-template-hash';
export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED = 'deployment.kubernetes.io/desired-replicas';
export const MAX = 'deployment.kubernetes.io/max-replicas';
const own: readonly string[] = [
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MAX,
  'kubectl.kubernetes.io/last-applied-configuration',
];

/** The template alone: the hash is a label that we put there ourselves. */
function plain(template: PodTemplate | undefined): string {
  const { [TEMPLATE_HASH]: _hash, ...labels } = template?.metadata?.labels ?? {};
  return canonicalJson({ ...template, metadata: { ...template?.metadata, labels } });
}

export function findNew(spec: DeploymentSpec, sets: readonly StoredSet[]): StoredSet | undefined {
  const wanted = plain(spec.template);
  return byAge(sets).find((one) => plain(one.spec?.template) === wanted);
}

export function byAge(sets: readonly StoredSet[]): readonly StoredSet[] {
  const born = ({ metadata }: StoredSet) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return sets.toSorted((a, b) => born(a) - born(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
}

export function revisionOf({
  metadata,
}: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}): number {
  return Number(metadata.annotations?.[REVISION] ?? 0) || 0;
}

export function sizeOf({ spec }: Pick<ReplicaSet, 'spec'>): number {
  return spec?.replicas ?? 1;
}

export function sum(sets: readonly StoredSet[], value: (set: StoredSet) => number | undefined): number {
  return sets.reduce((all, set) => all + (value(set) ?? 0), 0);
}

/** Both at zero would stop every update: then one may be missing. */
export function limitsOf({ replicas = 1, strategy }: DeploymentSpec): {
  readonly surge: number;
  readonly unavailable: number;
} {
  if (strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 };
  const surge = scaled(strategy?.rollingUpdate?.maxSurge ?? '25%', replicas, 'up') ?? 0;
  const unavailable = Math.min(
    replicas,
    scaled(strategy?.rollingUpdate?.maxUnavailable ?? '25%', replicas, 'down') ?? 0,
  );
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

/** What the deployment says about itself is said of its sets, too; what we count with is not copied. */
export function annotationsOf(deployment: Stored<Deployment>, revision: number): Readonly<Record<string, string>> {
  const spec = deployment.spec as DeploymentSpec;
  const { replicas = 1 } = spec;
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !own.includes(key));
  return {
    ...Object.fromEntries(copied),
    [REVISION]: String(revision),
    [DESIRED]: String(replicas),
    [MAX]: String(replicas + limitsOf(spec).surge),
  };
}

export function newSet(
  deployment: Stored<Deployment>,
  replicas: number,
  revision: number,
  collisions: number,
): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec as DeploymentSpec;
  const hash = hashOf(template, collisions);
  const labels = { ...template.metadata?.labels, [TEMPLATE_HASH]: hash };
  const { name, namespace } = deployment.metadata;
  return {
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels,
      annotations: annotationsOf(deployment, revision),
      ownerReferences: [controllerReference(deployments, deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [TEMPLATE_HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}
