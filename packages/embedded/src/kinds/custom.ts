/** Kinds out of CustomResourceDefinitions. */
import { type Draft, isObject, isSame, type JsonObject, objectOf, textOf, textsOf } from '../object/draft.ts';
import { dnsSubdomain } from '../object/names.ts';
import { isEstablished } from './crd.ts';
import { CustomResourceSchema } from '../schema/custom-resource.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { type CustomDefinition, customTypes, type StructuralSchema } from '../types/custom.ts';
import { each, maybe } from './defaults/fill.ts';
import type { Conversion, Kind, KindVersion, ObjectRules } from './kind.ts';

/** Makes the rules of one version of a custom kind: schema, defaults, CEL. Undefined: anything goes. */
export type CustomRules = (crd: Draft, version: string) => ObjectRules | undefined;

const schemaOf = (version: JsonObject): JsonObject | undefined => {
  const schema = objectOf(version.schema).openAPIV3Schema;
  return isObject(schema) ? schema : undefined;
};

/** As the schema in the definition says. */
export const schemaRules: CustomRules = (crd, name) => {
  const version = each(objectOf(crd.spec), 'versions').find((one) => one.name === name);
  const schema = version && schemaOf(version);
  return schema && new CustomResourceSchema(schema as JsonSchema);
};

/** Undefined as long as its names are not accepted. */
export function customKind(crd: Draft, rulesOf: CustomRules): Kind | undefined {
  const spec = objectOf(crd.spec);
  const names = objectOf(objectOf(crd.status).acceptedNames);
  const group = textOf(spec.group);
  const plural = textOf(names.plural);
  if (!isEstablished(crd)) return undefined;
  const versions = each(spec, 'versions').filter(({ served }) => served === true);
  const storage = each(spec, 'versions').find((version) => version.storage === true) ?? {};
  const definition: CustomDefinition = {
    group,
    kind: textOf(names.kind),
    versions: versions.map((version) => {
      const schema = schemaOf(version) as StructuralSchema | undefined;
      return { name: textOf(version.name), hasStatus: hasStatus(version), ...(schema === undefined ? {} : { schema }) };
    }),
  };
  return {
    group,
    plural,
    kind: textOf(names.kind),
    listKind: textOf(names.listKind),
    singular: textOf(names.singular),
    namespaced: spec.scope === 'Namespaced',
    shortNames: textsOf(names.shortNames),
    categories: textsOf(names.categories),
    // In this order the real server tells them.
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    versions: versions
      .map((version): KindVersion => {
        const subresources = objectOf(version.subresources);
        const scale = maybe(subresources, 'scale')[0];
        const rules = rulesOf(crd, textOf(version.name));
        return {
          name: textOf(version.name),
          types: customTypes(definition, textOf(version.name)),
          status: hasStatus(version),
          fields: each(version, 'selectableFields').map(({ jsonPath }) => textOf(jsonPath).replace(/^\./, '')),
          ...(rules === undefined ? {} : { rules }),
          ...(scale === undefined
            ? {}
            : {
                scale: {
                  spec: textOf(scale.specReplicasPath),
                  status: textOf(scale.statusReplicasPath),
                  selector: textOf(scale.labelSelectorPath) || undefined,
                },
              }),
          ...(version.deprecated === true ? { deprecationWarning: deprecation(version, versions, group, names) } : {}),
          ...(rules === undefined || isSame(schemaOf(version), schemaOf(storage))
            ? {}
            : { conversion: pruning(rules) }),
        };
      })
      .sort((a, b) => compareVersionNames(a.name, b.name)),
    stored: `${plural}.${group}`,
    storageVersion: textOf(storage.name),
    registryPath: `${group}/${plural}`,
    custom: true,
    nameRule: dnsSubdomain,
    createOnUpdate: false,
    unconditionalUpdate: false,
    returnsDeleted: false,
    dependents: 'delete',
    generation: 'content',
    statusKeeps: 'all',
    fieldProblem: (field) => `field label not supported: ${field}`,
    terminating: crd.metadata.deletionTimestamp !== undefined,
  };
}

/** What another version does not know, it does not show. */
const pruning = (rules: ObjectRules): Conversion => ({
  toStored: (object) => object,
  fromStored(object) {
    rules.decode(object);
    return object;
  },
});

function deprecation(version: JsonObject, all: readonly JsonObject[], group: string, names: JsonObject): string {
  const told = textOf(version.deprecationWarning);
  if (told !== '') return told;
  const shown = (name: string): string => `${group}/${name} ${textOf(names.kind)}`;
  const own = textOf(version.name);
  const [better] = all
    .filter(({ deprecated }) => deprecated !== true)
    .map(({ name }) => textOf(name))
    .filter((name) => compareVersionNames(name, own) < 0)
    .sort(compareVersionNames);
  return `${shown(own)} is deprecated${better === undefined ? '' : `; use ${shown(better)}`}`;
}

const hasStatus = (version: JsonObject): boolean => isObject(objectOf(version.subresources).status);

/** Stable before beta before alpha, newer before older, anything else last by its letters. */
export function compareVersionNames(a: string, b: string): number {
  const [x, y] = [rank(a), rank(b)];
  if (x === undefined || y === undefined) return x ? -1 : y ? 1 : a < b ? -1 : 1;
  return y[0] - x[0] || y[1] - x[1] || y[2] - x[2];
}

function rank(name: string): readonly [number, number, number] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name);
  if (!match) return undefined;
  const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}
