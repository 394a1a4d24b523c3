/** Which objects a pod is made of, besides its own. */
import { ROOT_CA } from '../kinds/config-map.ts';
import { referencesOf } from '../pod/environment.ts';
import type { StoredPod } from '../pod/view.ts';
import { accountVolume } from './service-account-volume.ts';

export type Uses = (pod: StoredPod, name: string) => boolean;

export function usesClaim({ spec }: StoredPod, name: string): boolean {
  return (spec?.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name);
}

export function usesConfigMap(pod: StoredPod, name: string): boolean {
  const { spec } = pod;
  if (name === ROOT_CA && accountVolume(pod, true)) return true;
  const isInVolume = (spec?.volumes ?? []).some(
    ({ configMap, projected }) =>
      configMap?.name === name || projected?.sources?.some((source) => source.configMap?.name === name) === true,
  );
  return isInVolume || referencesOf(containersOf(spec)).configMaps.includes(name);
}

export function usesSecret({ spec }: StoredPod, name: string): boolean {
  const isInVolume = (spec?.volumes ?? []).some(
    ({ secret, projected }) =>
      secret?.secretName === name || projected?.sources?.some((source) => source.secret?.name === name) === true,
  );
  return isInVolume || referencesOf(containersOf(spec)).secrets.includes(name);
}

function containersOf(spec: StoredPod['spec']) {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}
