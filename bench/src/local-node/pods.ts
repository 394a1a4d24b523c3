/** Pods that do nothing. */
import { type AnyObject, resource } from '@reeve/kube';

export interface Pod extends AnyObject {
  readonly status?: { readonly phase?: string };
}

export const pods = resource<Pod>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

export function trivialPod(name: string, command: readonly string[], more: object = {}): Pod {
  const containers = [{ name: 'main', image: 'host', command }];
  return {
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 1, containers, ...more },
  } as Pod;
}
