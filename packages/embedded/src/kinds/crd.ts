/** CustomResourceDefinitions as a kind of their own: defaults, names, what must hold of them, how they are deleted. */
import type { Json } from '@reeve/kube';
import { type Draft, isObject, isSame, type JsonObject, objectOf, textOf, textsOf } from '../object/draft.ts';
import { dns1035Label, dnsSubdomain } from '../object/names.ts';
import { type FieldError, invalid, notSupported, required } from '../status/field-error.ts';
import { readSchema, schemaErrors } from './crd-schema.ts';
import { each, fill, fillText, maybe, within } from './defaults/fill.ts';
import { builtin } from './describe.ts';
import type { Circumstances, Kind } from './kind.ts';

export const CRD_GROUP = 'apiextensions.k8s.io';
export const CRD_STORED = 'customresourcedefinitions.apiextensions.k8s.io';
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

export const customResourceDefinitions: Kind = builtin(CRD_GROUP, {
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  version: { status: true },
  registryPath: 'apiextensions.k8s.io/customresourcedefinitions',
  unconditionalUpdate: false,
  generation: 'spec',
  statusKeeps: 'all',
  defaults: defaultDefinition,
  prepareCreate(crd, at) {
    const storage = versionsOf(crd).find((version) => version.storage === true);
    crd.status = {
      conditions: [],
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storage === undefined ? [] : [textOf(storage.name)],
    };
    accept(crd, at);
  },
  prepareUpdate(crd, _old, at) {
    const status = within(crd, 'status');
    const storage = textOf(versionsOf(crd).find((version) => version.storage === true)?.name);
    const stored = textsOf(status.storedVersions);
    if (at.subresource === '' && !stored.includes(storage)) status.storedVersions = [...stored, storage];
    accept(crd, at);
  },
  validate: validateDefinition,
  beginDelete(crd, now) {
    const { metadata } = crd;
    metadata.deletionTimestamp = now;
    const finalizers = textsOf(metadata.finalizers);
    if (!finalizers.includes(CLEANUP)) metadata.finalizers = [...finalizers, CLEANUP];
    setCondition(crd, now, {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    });
  },
});

const versionsOf = (crd: Draft): readonly JsonObject[] => each(objectOf(crd.spec), 'versions');

function defaultDefinition(crd: Draft): void {
  const spec = within(crd, 'spec');
  const names = within(spec, 'names');
  fillText(names, { singular: textOf(names.kind).toLowerCase() });
  if (textOf(names.kind) !== '') fillText(names, { listKind: `${textOf(names.kind)}List` });
  fill(spec, { conversion: { strategy: 'None' } });
  for (const version of versionsOf(crd))
    maybe(objectOf(version.schema), 'openAPIV3Schema').forEach((schema) => readSchema(schema));
  if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields;
}

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

function setCondition(crd: Draft, now: string, condition: Condition): void {
  const status = within(crd, 'status');
  const conditions = each(status, 'conditions');
  const before = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = before?.status === condition.status ? ((before.lastTransitionTime ?? now) as string) : now;
  const { type, status: value, reason, message } = condition;
  const after: JsonObject = { type, status: value, lastTransitionTime, reason, message };
  status.conditions = before ? conditions.map((one) => (one === before ? after : one)) : [...conditions, after];
}

/**
 * The names are taken if no other definition of the group has them, and then the kind is served at once: the real server
 * does the same in two steps, a moment later.
 */
function accept(crd: Draft, { now, kinds }: Circumstances): void {
  const spec = objectOf(crd.spec);
  const names = objectOf(spec.names);
  const status = within(crd, 'status');
  const accepted = objectOf(status.acceptedNames);
  if (isSame(accepted, names)) return;
  const others = kinds.filter(
    (one) => one.custom && one.group === spec.group && one.stored !== textOf(crd.metadata.name),
  );
  const resources = new Set(others.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]));
  const kindNames = new Set(others.flatMap(({ kind, listKind }) => [kind, listKind]));
  let problem: Pick<Condition, 'reason' | 'message'> | undefined;
  const claim = (field: string, taken: ReadonlySet<string>, reason: string): void => {
    const wanted = Array.isArray(names[field]) ? textsOf(names[field]) : [textOf(names[field])];
    const lost = wanted.find((one) => taken.has(one) && one !== accepted[field]);
    if (lost !== undefined) problem = { reason, message: `"${lost}" is already in use` };
    else if (names[field] !== undefined) accepted[field] = names[field] as Json;
    else delete accepted[field];
  };
  claim('plural', resources, 'PluralConflict');
  claim('singular', resources, 'SingularConflict');
  claim('shortNames', resources, 'ShortNamesConflict');
  claim('kind', kindNames, 'KindConflict');
  claim('listKind', kindNames, 'ListKindConflict');
  if (names.categories !== undefined) accepted.categories = names.categories;
  status.acceptedNames = { ...accepted };
  if (problem !== undefined) {
    setCondition(crd, now, { type: 'NamesAccepted', status: 'False', ...problem });
    if (isEstablished(crd)) return;
    const message = 'not all names are accepted';
    return setCondition(crd, now, { type: 'Established', status: 'False', reason: 'NotAccepted', message });
  }
  const found = { reason: 'NoConflicts', message: 'no conflicts found' };
  setCondition(crd, now, { type: 'NamesAccepted', status: 'True', ...found });
  const initial = { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
  setCondition(crd, now, { type: 'Established', status: 'True', ...initial });
}

export function isEstablished(crd: Draft): boolean {
  return each(objectOf(crd.status), 'conditions').some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );
}

function validateDefinition(crd: Draft, old: Draft | undefined): readonly FieldError[] {
  const errors: FieldError[] = [];
  const spec = objectOf(crd.spec);
  const group = textOf(spec.group);
  if (group === '') errors.push(required('spec.group', ''));
  else if (dnsSubdomain(group, false).length > 0) {
    errors.push(invalid('spec.group', group, dnsSubdomain(group, false).join(',')));
  } else if (!group.includes('.')) {
    errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  }
  const scope = textOf(spec.scope);
  if (scope === '') errors.push(required('spec.scope', ''));
  else if (!['Cluster', 'Namespaced'].includes(scope)) {
    errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  errors.push(...validateVersions(crd), ...schemaErrors(crd, old), ...validateNames(objectOf(spec.names)));
  const name = textOf(crd.metadata.name);
  if (old === undefined && name !== `${textOf(objectOf(spec.names).plural)}.${group}`) {
    errors.unshift(invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (textOf(objectOf(spec.conversion).strategy) !== 'None') {
    const detail = 'conversion webhooks are not served by this server; versions must accept each other’s objects';
    errors.push(invalid('spec.conversion.strategy', objectOf(spec.conversion).strategy ?? null, detail));
  }
  errors.push(...validateStored(crd), ...validateSelectable(crd));
  if (old !== undefined) errors.push(...validateImmutable(spec, objectOf(old.spec)));
  return errors;
}

function validateVersions(crd: Draft): readonly FieldError[] {
  const errors: FieldError[] = [];
  const versions = versionsOf(crd);
  versions.forEach((version, index) => {
    const name = textOf(version.name);
    if (!isObject(objectOf(version.schema).openAPIV3Schema)) {
      errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`, ''));
    }
    const problems = dns1035Label(name, false);
    if (problems.length > 0) errors.push(invalid(`spec.versions[${index}].name`, name, problems.join(',')));
  });
  const whole = objectOf(crd.spec).versions ?? null;
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalid('spec.versions', whole, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(invalid('spec.versions', whole, 'must have exactly one version marked as storage version'));
  }
  return errors;
}

function validateNames(names: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular', 'kind', 'listKind']) {
    const value = textOf(names[field]);
    if (value === '') errors.push(required(`spec.names.${field}`, ''));
    else {
      const isKind = field === 'kind' || field === 'listKind';
      const problems = dns1035Label(isKind ? value.toLowerCase() : value, false).join(',');
      const before = isKind ? 'may have mixed case, but should otherwise match: ' : '';
      if (problems !== '') errors.push(invalid(`spec.names.${field}`, value, `${before}${problems}`));
    }
  }
  for (const field of ['shortNames', 'categories']) {
    textsOf(names[field]).forEach((name, index) => {
      const problems = dns1035Label(name, false);
      if (problems.length > 0) errors.push(invalid(`spec.names.${field}[${index}]`, name, problems.join(',')));
    });
  }
  if (textOf(names.kind) !== '' && names.kind === names.listKind) {
    errors.push(invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'));
  }
  return errors;
}

function validateStored(crd: Draft): readonly FieldError[] {
  const stored = textsOf(objectOf(crd.status).storedVersions);
  const field = 'status.storedVersions';
  // An empty list is none to Go.
  if (stored.length === 0) return [invalid(field, null, 'must have at least one stored version')];
  const storage = textOf(versionsOf(crd).findLast((version) => version.storage === true)?.name);
  if (storage !== '' && !stored.includes(storage)) {
    return [invalid(field, stored, `must have the storage version ${storage}`)];
  }
  const names = versionsOf(crd).map(({ name }) => textOf(name));
  return stored.flatMap((name, index) =>
    names.includes(name)
      ? []
      : [
          invalid(
            `${field}[${index}]`,
            name,
            `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          ),
        ],
  );
}

/** Fields that can be selected are texts, numbers and flags of the schema. */
function validateSelectable(crd: Draft): readonly FieldError[] {
  const versions = versionsOf(crd);
  const isShared = versions.every((one) => isSame(one.selectableFields, versions[0]?.selectableFields));
  return versions.slice(0, isShared ? 1 : undefined).flatMap((version, index) =>
    each(version, 'selectableFields').flatMap(({ jsonPath }, at) => {
      const path = textOf(jsonPath);
      const field = `spec.${isShared ? '' : `versions[${index}].`}selectableFields[${at}].jsonPath`;
      const steps = path.split('.').slice(1);
      const found = steps.reduce<JsonObject | undefined>(
        (schema, step) => (schema === undefined ? undefined : maybe(objectOf(schema.properties), step)[0]),
        objectOf(objectOf(version.schema).openAPIV3Schema),
      );
      if (found === undefined) return [invalid(field, path, 'is an invalid path: does not refer to a valid field')];
      if (['string', 'integer', 'boolean'].includes(textOf(found.type))) return [];
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      return [invalid(field, path, detail)];
    }),
  );
}

function validateImmutable(spec: JsonObject, old: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const same = (field: string, value: Json | undefined, before: Json | undefined): void => {
    if (!isSame(value, before)) errors.push(invalid(field, value ?? null, 'field is immutable'));
  };
  same('spec.group', spec.group, old.group);
  same('spec.scope', spec.scope, old.scope);
  same('spec.names.kind', objectOf(spec.names).kind, objectOf(old.names).kind);
  same('spec.names.plural', objectOf(spec.names).plural, objectOf(old.names).plural);
  return errors;
}
