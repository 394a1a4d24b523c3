/** A kind that every server has, and one that tests install, delete and install again. */
import { resource } from '@reeve/kube';
import type { Thing } from './real-testing.ts';

export const maps = resource<Thing>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

export const things = resource<Thing>({
  group: 'test.reeve.dev',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.test.reeve.dev' },
  spec: {
    group: 'test.reeve.dev',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
