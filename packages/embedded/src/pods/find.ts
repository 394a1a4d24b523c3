/** The pod that a request is about. */
import { type Draft, draftOf, objectOf, textOf } from '../object/draft.ts';
import { type Context, keyOf, type Target } from '../rest/context.ts';
import { notFound } from '../status/refusal.ts';

export interface Found {
  readonly pod: Draft;
  readonly namespace: string;
  /** Empty: it is bound to none yet. */
  readonly node: string;
}

export function findPod({ store }: Pick<Context, 'store'>, target: Target): Found {
  const entry = store.get(keyOf(target));
  if (!entry) throw notFound(target.served.kind, target.name);
  const pod = draftOf(entry.body);
  return { pod, namespace: target.namespace, node: textOf(objectOf(pod.spec).nodeName) };
}
