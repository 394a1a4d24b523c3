/** A kind that every server has, and one that tests install, delete and install again. */
import { resource } from '@reeve/kube';
import { ANYTHING, definitionOf } from '@reeve/rig';
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

export const definition = definitionOf({ group: 'test.reeve.dev', kind: 'Thing', schema: ANYTHING });
