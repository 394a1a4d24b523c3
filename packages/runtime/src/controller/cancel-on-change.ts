/** Which changes of an object make the work that is being done for it pointless. */
import type { KubeObject } from '@reeve/kube';
import type { ResourceEvent } from '../resource/resource.ts';
import type { CancelReason } from '../worker/cancelled.ts';

export type CancelRule<P> = (event: ResourceEvent<P>) => CancelReason | undefined;

/** Gone or going: `deleted`; another spec: `superseded`. A change of status, labels or annotations cancels nothing. */
export function cancelOnChange(event: ResourceEvent<KubeObject>): CancelReason | undefined {
  // What runs for an object that is known to be going is its clean-up, and this is the end of it.
  if (event.change === 'removed') return event.object.metadata.deletionTimestamp === undefined ? 'deleted' : undefined;
  if (event.change === 'added' || !event.previous) return undefined;
  const { metadata: before } = event.previous;
  const { metadata: after } = event.object;
  if (after.deletionTimestamp !== undefined && before.deletionTimestamp === undefined) return 'deleted';
  return after.generation === before.generation ? undefined : 'superseded';
}
