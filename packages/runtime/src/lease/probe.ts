/**
 * Does the fence stand, and does the server know that we lead? Two writes that are not kept: one of our term must pass, one of a
 * term that never was must be refused. Only then may work begin: a server whose policy has not seen the new Lease yet would still let
 * writes of the leader before us through.
 */
import { type KubeObject, resource } from '@reeve/kube';
import type { ResourceApi } from '../client/api.ts';
import { failureOf } from '../reflector/port.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps = resource<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

export type FenceState =
  | { readonly stands: true }
  /** `waiting`: our own write is refused; the policy has not seen our Lease yet, or does not fit. `open`: any write passes. */
  | { readonly stands: false; readonly why: 'waiting' | 'open'; readonly message: string };

/** `ours` sends with the token of our term, `forged` with one that cannot be. */
export async function probeFence(
  ours: ResourceApi<ConfigMap>,
  forged: ResourceApi<ConfigMap>,
  name: string,
  signal: AbortSignal,
): Promise<FenceState> {
  const write = (api: ResourceApi<ConfigMap>) =>
    api.apply({ metadata: { name } }, { dryRun: true, fieldManager: 'reeve-fence-probe', signal });
  const refused = await refusal(() => write(ours));
  if (refused !== undefined) return { stands: false, why: 'waiting', message: refused };
  if ((await refusal(() => write(forged))) !== undefined) return { stands: true };
  return { stands: false, why: 'open', message: 'a write of a term that never was passed: the policy is not in force' };
}

/** Why the server refused; undefined if it did not. What is no refusal is thrown: not knowing is not standing. */
async function refusal(write: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await write();
    return undefined;
  } catch (error) {
    const { status, message } = failureOf(error);
    if (status === 403 || status === 422) return message;
    throw error;
  }
}
