/** Definitions of custom kinds for tests, proofs and benchmarks: a namespaced kind with one version. */
export interface CustomKind {
  readonly group: string;
  readonly kind: string;
  /** Default: the kind in small letters, with an s. */
  readonly plural?: string;
  readonly schema: object;
  /** What else its version says: subresources, most often. */
  readonly version?: object;
  /** What else its definition says. */
  readonly spec?: object;
}

/** A schema that takes everything. */
export const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export function definitionOf({ group, kind, plural, schema, version = {}, spec = {} }: CustomKind) {
  const singular = kind.toLowerCase();
  const names = { plural: plural ?? `${singular}s`, singular, kind, listKind: `${kind}List` };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
      ...spec,
    },
  };
}
