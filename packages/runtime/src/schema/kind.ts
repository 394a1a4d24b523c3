/** A kind of ours as one value: the descriptor for clients, the static type, the CustomResourceDefinition. */
import type { KubeResource } from '../resource/objects.ts';
import type { About, Infer, OpenApiSchema, Schema } from './schema.ts';

export interface KindDescription<Spec, Status> extends About {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly namespaced: boolean;
  readonly spec: Schema<Spec>;
  readonly status: Schema<Status>;
  readonly columns?: readonly Column[];
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
}

export interface ObjectOf<Spec, Status> extends KubeResource {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly spec: Spec;
  readonly status?: Status;
}

export interface Kind<Spec, Status> extends KindDescription<Spec, Status> {
  /** Never there at run time: as in the client's descriptors, it carries the type of the objects. */
  readonly object?: ObjectOf<Spec, Status>;
}

/** The static type of the objects of a kind. */
export type KindObject<K> = K extends Kind<infer Spec, infer Status> ? ObjectOf<Spec, Status> : never;

export function kind<const S extends Schema<unknown>, const T extends Schema<unknown>>(
  description: Omit<KindDescription<unknown, unknown>, 'spec' | 'status'> & { readonly spec: S; readonly status: T },
): Kind<Infer<S>, Infer<T>> {
  return description as Kind<Infer<S>, Infer<T>>;
}

/** What is applied to a server so that it serves the kind. */
export function crdOf(of: KindDescription<unknown, unknown>): OpenApiSchema {
  const { group, version, kind: name, plural, shortNames, namespaced, spec, status, columns, description, rules } = of;
  const openAPIV3Schema = {
    ...(description !== undefined && { description }),
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: spec.openApi,
      status: status.openApi,
    },
    ...(rules && { 'x-kubernetes-validations': rules }),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: name,
        listKind: `${name}List`,
        plural,
        singular: name.toLowerCase(),
        ...(shortNames && { shortNames }),
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema },
          subresources: { status: {} },
          ...(columns && { additionalPrinterColumns: columns }),
        },
      ],
    },
  };
}
