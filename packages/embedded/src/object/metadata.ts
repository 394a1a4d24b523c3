/** What all objects share: metadata read, checked and kept from changing. */
import { isInteger } from '../format/integer.ts';
import { forbidden, type FieldError, invalid, required, tooLong } from '../status/field-error.ts';
import { badRequest } from '../status/refusal.ts';
import { dnsLabel, labelValueProblems, type NameRule, qualifiedName } from './names.ts';
import { integerOf, isObject, isSame, type JsonObject, objectOf, textOf, textsOf } from './draft.ts';
import { ownerAsShown } from './owners.ts';

const MOST_ANNOTATIONS = 256 * 1024;
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];
const IMMUTABLE = 'field is immutable';

type Shape = 'string' | 'number' | 'map' | 'strings' | 'objects';

/** Go's names for what it wanted, in its complaint about a wrong type. */
const goTypes: Readonly<Record<Shape, string>> = {
  string: 'string',
  number: 'int64',
  map: 'map[string]string',
  strings: '[]string',
  objects: '[]v1.OwnerReference',
};

const shapes: Readonly<Record<string, Shape>> = {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  selfLink: 'string',
  uid: 'string',
  resourceVersion: 'string',
  generation: 'number',
  creationTimestamp: 'string',
  deletionTimestamp: 'string',
  deletionGracePeriodSeconds: 'number',
  labels: 'map',
  annotations: 'map',
  ownerReferences: 'objects',
  finalizers: 'strings',
  managedFields: 'objects',
};

interface Owner {
  readonly kind: { readonly kind: string; readonly custom: boolean };
  readonly version: { readonly name: string };
}

/** Known fields only, empty ones left out as the server does; `unknown` gets the others' names. */
export function readMetadata(value: unknown, { kind, version }: Owner, unknown: string[]): JsonObject {
  // Custom objects are read in two steps, of which the second does not know where it is.
  const before = kind.custom ? '' : 'metadata.';
  const refuse = (type: string, field: string, wanted: string, struct = 'ObjectMeta'): never => {
    throw badRequest(
      `${kind.kind} in version "${version.name}" cannot be handled as a ${kind.kind}: json: cannot unmarshal ${type} into Go struct field ${struct}.${field} of type ${wanted}`,
    );
  };
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return refuse(goKind(value), 'metadata', 'v1.ObjectMeta', kind.kind);
  const metadata: JsonObject = {};
  for (const [field, given] of Object.entries(value)) {
    const shape = Object.hasOwn(shapes, field) ? shapes[field] : undefined;
    if (shape === undefined) unknown.push(`metadata.${field}`);
    else if (given === null) continue;
    else if (!hasShape(given, shape)) refuse(...wrongPart(given, shape, `${before}${field}`));
    else if (given !== '' && !isEmpty(given))
      metadata[field] = shape === 'map' ? withoutNulls(given as JsonObject) : given;
  }
  return metadata;
}

/** Go complains of the value within a map or list, not of the whole. */
function wrongPart(value: unknown, shape: Shape, field: string): [string, string, string] {
  const parts = partsOf(value, shape);
  const wrong = parts?.find((one) => (shape === 'objects' ? !isObject(one) : typeof one !== 'string'));
  if (wrong === undefined) {
    const kind = goKind(value);
    return [shape === 'number' && kind === 'number' ? `number ${String(value)}` : kind, field, goTypes[shape]];
  }
  return [goKind(wrong), field, shape === 'objects' ? 'v1.OwnerReference' : 'string'];
}

function partsOf(value: unknown, shape: Shape): readonly unknown[] | undefined {
  if (shape === 'map') return isObject(value) ? Object.values(value) : undefined;
  return Array.isArray(value) && (shape === 'strings' || shape === 'objects')
    ? (value as readonly unknown[])
    : undefined;
}

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

/** Go reads a null in a map of texts as the empty text. */
function withoutNulls(map: JsonObject): JsonObject {
  if (!Object.values(map).includes(null)) return map;
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, value ?? '']));
}

function hasShape(value: unknown, shape: Shape): boolean {
  switch (shape) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return isInteger(value, 'int64');
    case 'map':
      return isObject(value) && Object.values(value).every((one) => typeof one === 'string' || one === null);
    case 'strings':
      return Array.isArray(value) && value.every((one) => typeof one === 'string');
    case 'objects':
      return Array.isArray(value) && value.every(isObject);
  }
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

export function validateMetadata(metadata: JsonObject, namespaced: boolean, nameRule: NameRule): readonly FieldError[] {
  const errors: FieldError[] = [];
  const generateName = textOf(metadata.generateName);
  const name = textOf(metadata.name);
  if (generateName !== '') {
    for (const problem of nameRule(generateName, true))
      errors.push(invalid('metadata.generateName', generateName, problem));
  }
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else for (const problem of nameRule(name, false)) errors.push(invalid('metadata.name', name, problem));
  const namespace = textOf(metadata.namespace);
  if (namespaced) {
    if (namespace === '') errors.push(required('metadata.namespace', ''));
    else
      for (const problem of dnsLabel(namespace, false)) errors.push(invalid('metadata.namespace', namespace, problem));
  } else if (namespace !== '') errors.push(forbidden('metadata.namespace', 'not allowed on this type'));
  errors.push(...validateMaps(metadata), ...validateOwners(metadata), ...validateFinalizers(metadata));
  return errors;
}

function validateMaps(metadata: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(objectOf(metadata.labels))) {
    for (const problem of qualifiedName(key)) errors.push(invalid('metadata.labels', key, problem));
    for (const problem of labelValueProblems(textOf(value))) errors.push(invalid('metadata.labels', value, problem));
  }
  let size = 0;
  for (const [key, value] of Object.entries(objectOf(metadata.annotations))) {
    for (const problem of qualifiedName(key.toLowerCase())) errors.push(invalid('metadata.annotations', key, problem));
    size += Buffer.byteLength(key) + Buffer.byteLength(textOf(value));
  }
  if (size > MOST_ANNOTATIONS) errors.push(tooLong('metadata.annotations', MOST_ANNOTATIONS));
  return errors;
}

function validateOwners(metadata: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const owners = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences.map(objectOf) : [];
  let controller: string | undefined;
  const field = 'metadata.ownerReferences';
  for (const owner of owners) {
    for (const part of ['apiVersion', 'kind', 'name', 'uid']) {
      const detail = part === 'apiVersion' ? 'version must not be empty' : 'must not be empty';
      if (textOf(owner[part]) === '') errors.push(invalid(`${field}.${part}`, '', detail));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.push(invalid(field, ownerAsShown(owner), '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner.controller !== true) continue;
    const name = `${textOf(owner.kind)}/${textOf(owner.name)}`;
    if (controller === undefined) controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(field, owners.map(ownerAsShown), detail));
    }
  }
  return errors;
}

/** Built-in kinds take no finalizers without a domain but these. */
export function validateFinalizerNames(metadata: JsonObject): readonly FieldError[] {
  const detail = 'name is neither a standard finalizer name nor is it fully qualified';
  return textsOf(metadata.finalizers).flatMap((one, index) =>
    one.includes('/') || STANDARD_FINALIZERS.includes(one)
      ? []
      : [invalid(`metadata.finalizers[${index}]`, one, detail)],
  );
}

/** Custom kinds take them, with a warning when they are new. */
export function finalizerWarnings(metadata: JsonObject, old: JsonObject): readonly string[] {
  const before = textsOf(old.finalizers);
  const added = [...new Set(textsOf(metadata.finalizers))].filter((one) => !before.includes(one)).sort();
  return added
    .filter((one) => !one.includes('/') && !STANDARD_FINALIZERS.includes(one))
    .map(
      (one) =>
        `metadata.finalizers: ${JSON.stringify(one)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
}

function validateFinalizers(metadata: JsonObject): readonly FieldError[] {
  const finalizers = textsOf(metadata.finalizers);
  const errors = finalizers.flatMap((finalizer) =>
    qualifiedName(finalizer).map((problem) => invalid('metadata.finalizers', finalizer, problem)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(invalid('metadata.finalizers', finalizers, detail));
  }
  return errors;
}

/** What of the metadata the server keeps whatever a client sends. */
export function keepMetadata(metadata: JsonObject, old: JsonObject): void {
  if (textOf(metadata.uid) === '' && old.uid !== undefined) metadata.uid = old.uid;
  for (const field of ['creationTimestamp', 'generation'] as const) {
    if (old[field] === undefined) delete metadata[field];
    else metadata[field] = old[field];
  }
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (old[field] !== undefined && (field === 'deletionTimestamp' || metadata[field] === undefined)) {
      metadata[field] = old[field];
    }
  }
  delete metadata.selfLink;
}

export function validateMetadataUpdate(metadata: JsonObject, old: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const before = textsOf(old.finalizers);
    const added = [...new Set(textsOf(metadata.finalizers))].filter((one) => !before.includes(one)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map((one) => JSON.stringify(one)).join(', ')}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      errors.push(forbidden('metadata.finalizers', detail));
    }
  }
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp']) {
    if (!isSame(metadata[field], old[field]))
      errors.push(invalid(`metadata.${field}`, metadata[field] ?? null, IMMUTABLE));
  }
  if (integerOf(metadata.deletionGracePeriodSeconds) !== integerOf(old.deletionGracePeriodSeconds)) {
    const value = metadata.deletionGracePeriodSeconds ?? null;
    errors.push(invalid('metadata.deletionGracePeriodSeconds', value, IMMUTABLE));
  }
  return errors;
}
