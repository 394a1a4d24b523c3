/** Kinds out of CustomResourceDefinitions. */
import { type Draft, objectOf, textOf, textsOf } from '../object/draft.ts';
import { dnsSubdomain } from '../object/names.ts';
import { isEstablished } from './crd.ts';
import { each, maybe } from './defaults/fill.ts';
import type { Kind, KindVersion, ObjectRules } from './kind.ts';

/** Makes the rules of one version of a custom kind: schema, defaults, CEL. Undefined: anything goes. */
export type CustomRules = (crd: Draft, version: string) => ObjectRules | undefined;

/** Undefined as long as its names are not accepted. */
export function customKind(crd: Draft, rulesOf: CustomRules): Kind | undefined {
  const spec = objectOf(crd.spec);
  const names = objectOf(objectOf(crd.status).acceptedNames);
  const group = textOf(spec.group);
  const plural = textOf(names.plural);
  if (!isEstablished(crd)) return undefined;
  const versions = each(spec, 'versions').filter(({ served }) => served === true);
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
          status: subresources.status !== undefined && subresources.status !== null,
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
          ...(version.deprecated === true ? { deprecated: true } : {}),
          ...(textOf(version.deprecationWarning) === ''
            ? {}
            : { deprecationWarning: textOf(version.deprecationWarning) }),
        };
      })
      .sort((a, b) => compareVersionNames(a.name, b.name)),
    stored: `${plural}.${group}`,
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
