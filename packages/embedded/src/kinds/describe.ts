/** How a built-in kind is written down. */
import { dnsSubdomain } from '../object/names.ts';
import { builtinTypes } from '../types/builtin.ts';
import { deducedTypes } from '../types/custom.ts';
import type { Kind, KindVersion, Verb } from './kind.ts';

export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

type Description = Partial<Omit<Kind, 'versions'>> &
  Pick<Kind, 'plural' | 'kind'> & { readonly version?: Partial<KindVersion> };

/** A row of the table: what it does not say is what most kinds do. */
export function builtin(group: string, description: Description): Kind {
  const { version = {}, plural, kind, ...rest } = description;
  const apiVersion = group === '' ? 'v1' : `${group}/v1`;
  const types = builtinTypes(apiVersion, kind) ?? deducedTypes(apiVersion, kind);
  return {
    group,
    plural,
    kind,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    versions: [{ name: 'v1', types, status: false, fields: [], ...version }],
    stored: group === '' ? plural : `${plural}.${group}`,
    registryPath: plural,
    custom: false,
    nameRule: dnsSubdomain,
    createOnUpdate: false,
    unconditionalUpdate: true,
    returnsDeleted: false,
    dependents: 'delete',
    generation: undefined,
    statusKeeps: [],
    fieldProblem: (field) =>
      (version.fields?.length ?? 0) > 0
        ? `field label not supported: ${field}`
        : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    ...rest,
  };
}
