/** What the system sets is nobody's: the object's name and what the server writes into its metadata. */
import { fieldElement } from './element.ts';
import { FieldSet } from './field-set.ts';
import type { Owned } from './managed.ts';

const metadata = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

const systemFields: FieldSet = FieldSet.of(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...metadata.map((name) => [fieldElement('metadata'), fieldElement(name)]),
);

/** Undefined if nothing else was owned. */
export function stripped(owned: Owned | undefined): Owned | undefined {
  if (!owned) return undefined;
  const set = owned.set.difference(systemFields);
  return set.isEmpty ? undefined : { ...owned, set };
}
