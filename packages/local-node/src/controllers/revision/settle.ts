/** Makes sure that there is a revision for what an object wants now. */
import type { KubeObject, Stored } from '@reeve/kube';
import { canonicalJson } from '@reeve/runtime';
import type { Kind, Reflection } from '@reeve/runtime/manager';
import type { Revision } from '../../kinds/revision.ts';
import type { PodTemplate } from '../../kinds/template.ts';
import { controllerReference } from '../owned/claim.ts';
import { change, createIfAbsent, metaOf, type Writing } from '../owned/writes.ts';
import { HASH_LABEL, hashOf, nextRevision } from './history.ts';

export interface Wanted {
  readonly template: PodTemplate;
  readonly known: readonly Stored<Revision>[];
  readonly collisionCount: number;
  readonly isBeingDeleted: boolean;
}

export interface Settled {
  /** Undefined only of what is being deleted and has none. */
  readonly update: Stored<Revision> | undefined;
  readonly collisionCount: number;
}

export async function settleRevisions<O extends KubeObject>(
  writing: Writing,
  of: Reflection<Revision>,
  by: { readonly kind: Kind<O>; readonly owner: Stored<O> },
  { template, known, collisionCount, isBeingDeleted }: Wanted,
): Promise<Settled> {
  const step = nextRevision(known, template);
  if (step.type === 'keep') return { update: step.revision, collisionCount };
  if (isBeingDeleted) return { update: known.at(-1), collisionCount };
  if (step.type === 'renew') {
    return { update: await change(writing, of, step.revision, { revision: step.number }), collisionCount };
  }
  const { name, namespace, uid } = metaOf<O>(by.owner);
  for (let collisions = collisionCount; ; collisions++) {
    const hash = hashOf(step.data, collisions);
    const wanted: Revision = {
      metadata: {
        name: `${name}-${hash}`,
        ...(namespace !== undefined && { namespace }),
        labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
        ownerReferences: [controllerReference(by.kind, by.owner)],
      },
      revision: step.number,
      data: step.data,
    };
    const made = await createIfAbsent(writing, of, wanted);
    if (made) return { update: made, collisionCount: collisions };
    // The name is taken: by ourselves in a turn whose answer was lost, or by something else that only has the same hash.
    const there = await writing.api.resource(of.kind, namespace).find(`${name}-${hash}`, { signal: writing.signal });
    const isOurs = there?.metadata.ownerReferences?.some((one) => one.uid === uid) ?? false;
    if (there && isOurs && canonicalJson(there.data) === canonicalJson(step.data)) {
      return { update: there, collisionCount: collisions };
    }
  }
}
