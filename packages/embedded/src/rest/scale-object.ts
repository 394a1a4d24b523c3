/** The Scale of an object: one number of it, with where its pods are found. */
import { at, type Draft, isObject, type JsonObject, numberOf, setField } from '../object/draft.ts';
import { selectorText } from '../selector/labels.ts';
import { noSuchPath } from '../status/refusal.ts';
import type { Target } from './context.ts';

export function pathsOf({ served }: Target) {
  if (served.version.scale === undefined) throw noSuchPath();
  return served.version.scale;
}

export function scaleOf(parent: Draft, target: Target): JsonObject {
  const paths = pathsOf(target);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const metadata: JsonObject = {};
  for (const [field, value] of Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp })) {
    setField(metadata, field, value);
  }
  const selector = paths.selector === undefined ? undefined : at(parent, paths.selector);
  const status: JsonObject = { replicas: numberOf(at(parent, paths.status)) ?? 0 };
  const text = typeof selector === 'string' ? selector : isObject(selector) ? selectorText(selector) : '';
  if (text !== '') status.selector = text;
  const replicas = numberOf(at(parent, paths.spec));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status,
  };
}
