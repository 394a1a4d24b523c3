/** What a pod asks for and this node does not do. Nothing of it keeps the pod from running, so its author must be told. Pure. */
import { initsOf, mainsOf, type PodContainer } from './progress.ts';
import type { StoredPod } from './view.ts';

/** Paths of fields, in the order of the pod. `hasMounts`: its containers see files of their own. */
export function notHonoured(pod: StoredPod, hasMounts: boolean): readonly string[] {
  const { spec } = pod;
  const hasOwnHosts = hasMounts && !spec?.hostNetwork;
  return [
    ...named(spec?.shareProcessNamespace, 'shareProcessNamespace'),
    ...named((spec?.hostAliases ?? []).length > 0 && !hasOwnHosts, 'hostAliases'),
    ...(spec?.volumes ?? []).flatMap(({ name, emptyDir, projected }) => [
      ...named(emptyDir?.sizeLimit, `volumes[${name}].emptyDir.sizeLimit`),
      ...named(emptyDir?.medium, `volumes[${name}].emptyDir.medium`),
      ...named(
        projected?.sources?.some(({ clusterTrustBundle }) => clusterTrustBundle),
        `volumes[${name}].projected.sources.clusterTrustBundle`,
      ),
    ]),
    ...initsOf(pod).flatMap((one) => ofContainer(one, `initContainers[${one.name}]`)),
    ...mainsOf(pod).flatMap((one) => ofContainer(one, `containers[${one.name}]`)),
  ].map((path) => `spec.${path}`);
}

function ofContainer({ env, restartPolicyRules, volumeDevices }: PodContainer, at: string): readonly string[] {
  return [
    ...(env ?? []).flatMap(({ name, valueFrom }) => named(valueFrom?.fileKeyRef, `${at}.env[${name}].fileKeyRef`)),
    ...named((restartPolicyRules ?? []).length > 0, `${at}.restartPolicyRules`),
    ...named((volumeDevices ?? []).length > 0, `${at}.volumeDevices`),
  ];
}

const named = (value: unknown, path: string): readonly string[] => (value ? [path] : []);
