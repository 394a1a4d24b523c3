/** The pods of a StatefulSet and their claims: everything in them that follows from the ordinal. */
import type { Stored } from '@reeve/kube';
import type { Pod, PodSpec, Volume } from '../../kinds/pod.ts';
import { type StatefulSet, statefulSets } from '../../kinds/statefulset.ts';
import type { PodTemplate } from '../../kinds/template.ts';
import type { VolumeClaim } from '../../kinds/volumeclaim.ts';
import { controllerReference } from '../owned/claim.ts';
import { REVISION_LABEL } from '../revision/history.ts';

export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
export const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';

type Set_ = Stored<StatefulSet>;

/** `web-2` → `web` and 2. Undefined: no name that a set gives. */
export function parseName(name: string): { readonly parent: string; readonly ordinal: number } | undefined {
  const match = /^(.+)-(0|[1-9]\d*)$/.exec(name);
  if (!match) return undefined;
  return { parent: match[1] ?? '', ordinal: Number(match[2]) };
}

export function ordinalOf(pod: Pick<Pod, 'metadata'>): number {
  return parseName(pod.metadata.name ?? '')?.ordinal ?? -1;
}

export function podNameOf(set: Set_, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`;
}

export function claimNameOf(set: Set_, template: string, ordinal: number): string {
  return `${template}-${podNameOf(set, ordinal)}`;
}

export function newPod(set: Set_, template: PodTemplate, revision: string, ordinal: number): Pod {
  const name = podNameOf(set, ordinal);
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      name,
      ...(set.metadata.namespace !== undefined && { namespace: set.metadata.namespace }),
      labels: { ...labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: revision },
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference(statefulSets, set)],
    },
    spec: {
      ...(template.spec as PodSpec),
      hostname: name,
      ...((set.spec?.serviceName ?? '') !== '' && { subdomain: set.spec?.serviceName as string }),
      ...volumesOf(set, template, ordinal),
    },
  };
}

function identityLabels(name: string, ordinal: number): Readonly<Record<string, string>> {
  return { [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal) };
}

/** Volumes of the claims go before those of the template, and replace those of the same name. */
function volumesOf(set: Set_, { spec }: PodTemplate, ordinal: number): { readonly volumes?: readonly Volume[] } {
  const claims = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata: { name = '' } }) => ({
    name,
    persistentVolumeClaim: { claimName: claimNameOf(set, name, ordinal), readOnly: false },
  }));
  const others = (spec?.volumes ?? []).filter(({ name }) => !claims.some((claim) => claim.name === name));
  const volumes = [...claims, ...others];
  return volumes.length === 0 ? {} : { volumes };
}

export function newClaims(set: Set_, ordinal: number): readonly VolumeClaim[] {
  return (set.spec?.volumeClaimTemplates ?? []).map(({ metadata, spec }) => ({
    metadata: {
      name: claimNameOf(set, metadata.name ?? '', ordinal),
      ...(set.metadata.namespace !== undefined && { namespace: set.metadata.namespace }),
      labels: { ...metadata.labels, ...set.spec?.selector.matchLabels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
    },
    ...(spec && { spec }),
  }));
}

/** Labels that its ordinal gives it, if something took them off: others find the pod by them. */
export function missingLabels(pod: Pick<Pod, 'metadata'>): Readonly<Record<string, string>> | undefined {
  const wanted = identityLabels(pod.metadata.name ?? '', ordinalOf(pod));
  const isThere = Object.entries(wanted).every(([key, value]) => pod.metadata.labels?.[key] === value);
  return isThere ? undefined : wanted;
}
