/** A claim that pods use is not deleted under them: a finalizer holds it until the last of them is gone. */
import type { Stored } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';
import {
  addPatch,
  changeFinalizers,
  Controller,
  hasFinalizer,
  isBeingDeleted,
  type Parts,
  type Reconcile,
  removePatch,
} from '@reeve/runtime/manager';
import { type Pod, pods } from '../../kinds/pod.ts';
import { type VolumeClaim, volumeClaims } from '../../kinds/volumeclaim.ts';

export const PVC_PROTECTION = 'kubernetes.io/pvc-protection';
const PAGE = 500;

type Work = Reconcile<VolumeClaim>;
type Any = DeepReadonly<Pick<Pod, 'spec'>>;

/** A pod without a node does not count: it is not let onto one with a claim that is being deleted. */
export function uses(pod: Any, claimName: string): boolean {
  return (pod.spec?.nodeName ?? '') !== '' && claimNames(pod).includes(claimName);
}

function claimNames({ spec }: Any): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: from }) => (from ? [from.claimName] : []));
}

export class ClaimProtection extends Controller<VolumeClaim> {
  constructor() {
    super({
      name: 'claim-protection',
      kind: volumeClaims,
      cancelOn: false,
      reconcile: (work) => this.#reconcile(work),
    });
  }

  override setUp(parts: Parts): void {
    const claims = this.setUpKind(parts, volumeClaims);
    const namedBy = (pod: DeepReadonly<Stored<Pod>>) =>
      claimNames(pod).map((name) => `${pod.metadata.namespace}/${name}`);
    parts.wake(pods, claims, namedBy, { unscoped: true });
  }

  async #reconcile(work: Work): Promise<void> {
    const { object, api, signal } = work;
    const claims = api.resource(volumeClaims, object.metadata.namespace);
    if (!isBeingDeleted(object)) {
      await changeFinalizers(claims, object, addPatch, PVC_PROTECTION, signal);
      return;
    }
    if (!hasFinalizer(object, PVC_PROTECTION) || (await this.#isUsed(work))) return; // a pod that goes wakes it
    await changeFinalizers(claims, object, removePatch, PVC_PROTECTION, signal);
  }

  /** Asks the server: with this finalizer the data may go. */
  async #isUsed({ object, api, signal }: Work): Promise<boolean> {
    const { name, namespace } = object.metadata;
    let from: string | undefined;
    do {
      const more = from !== undefined && { continue: from };
      const page = await api.resource(pods, namespace).list({ limit: PAGE, signal, ...more });
      if (page.items.some((pod) => uses(pod, name))) return true;
      from = page.metadata.continue || undefined;
    } while (from !== undefined);
    return false;
  }
}
