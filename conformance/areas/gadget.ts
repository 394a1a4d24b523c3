/** A custom kind of a case's own: `Gadget` of the case's group, with the schema that the case is about. */
import type { Json } from '@reeve/kube';
import { definitionOf } from '@reeve/rig';
import { type Call, type Case, get, merge, post, type Step } from '../case.ts';

type Fields = { [key: string]: Json };

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const GADGETS = '/apis/<group>/v1/namespaces/<ns>/gadgets';
export const GADGET_DEFINITION = `${DEFINITIONS}/gadgets.<group>`;

/** @param properties of the spec. */
export function schemaOf(properties: Fields, more: Fields = {}): Fields {
  const status = { type: 'object', properties: { phase: { type: 'string' }, count: { type: 'integer' } } };
  return { type: 'object', properties: { spec: { type: 'object', properties, ...more }, status } };
}

export function gadgetDefinition(schema: Json, version: Fields = {}, spec: Fields = {}): Fields {
  const more = { subresources: { status: {} }, ...version };
  const kind = { group: '<group>', kind: 'Gadget', schema: schema as Fields, version: more, spec };
  return definitionOf(kind) as unknown as Fields;
}

export const gadget = (name: string, spec?: Json, more: Fields = {}): Fields => ({
  apiVersion: '<group>/v1',
  kind: 'Gadget',
  metadata: { name },
  ...(spec === undefined ? {} : { spec }),
  ...more,
});

/** What is tried on a gadget called `a`: created with the first spec, then changed by merge patches. */
export type Try = readonly [spec: Json, code?: number];

export function specCase(name: string, schema: Json, tries: readonly Try[], options: Partial<Call> = {}): Case {
  const steps = tries.map(([spec, code], index): Step => {
    const more = code === undefined ? {} : { code };
    return post(GADGETS, gadget(`g${index}`, spec), { ...options, ...more });
  });
  return { name, definition: gadgetDefinition(schema), steps: [...steps, get(GADGETS)] };
}

/** The first is created, the others change it. */
export function changeCase(name: string, schema: Json, first: Json, changes: readonly Try[]): Case {
  const steps = changes.map(
    ([spec, code]): Step => merge(`${GADGETS}/a`, { spec }, code === undefined ? {} : { code }),
  );
  return {
    name,
    definition: gadgetDefinition(schema),
    steps: [post(GADGETS, gadget('a', first)), ...steps, get(`${GADGETS}/a`)],
  };
}
