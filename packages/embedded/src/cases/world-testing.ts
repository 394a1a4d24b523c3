/** The part of a server that a case needs: one object, and what happens to it around apply and patches. */
import type { JsonObject } from '../object/draft.ts';
import type { Json, Status } from '@reeve/kube';
import { applyPatch } from '../apply/apply.ts';
import { pathText } from '../apply/element.ts';
import { fromFieldsV1 } from '../apply/fields-v1.ts';
import { keepTimes } from '../apply/times.ts';
import { trackUpdate } from '../apply/track.ts';
import { equalValues } from '../apply/value.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import type { PatchResult } from '../patch/result.ts';
import { strategicMergePatch } from '../patch/strategic.ts';
import { builtinTypes } from '../types/builtin.ts';
import { customTypes, deducedTypes } from '../types/custom.ts';
import type { KindTypes } from '../types/kind-types.ts';
import { asList, asMap } from '../types/type.ts';
import type { Step } from './case-testing.ts';
import { thingDefinition } from './thing-testing.ts';

export type Outcome = { readonly object: JsonObject; readonly isChanged: boolean } | { readonly status: Status };

/** Replaceable, so that the reference implementation can run the same cases. */
export interface Functions {
  readonly apply: typeof applyPatch;
  readonly track: typeof trackUpdate;
}

export function typesFor(apiVersion: string, kind: string): KindTypes {
  if (apiVersion === 'example.com/v1') return customTypes(thingDefinition, 'v1');
  return builtinTypes(apiVersion, kind) ?? deducedTypes(apiVersion, kind);
}

export class World {
  object: JsonObject | undefined;
  readonly #functions: Functions;
  #time = Date.UTC(2026, 0, 1);

  constructor(functions: Functions = { apply: applyPatch, track: trackUpdate }) {
    this.#functions = functions;
  }

  run(step: Step): Outcome {
    this.#time += 1000;
    if (!('apply' in step) && !('create' in step) && !this.object) return { status: notFound };
    const given = 'apply' in step ? step.apply : 'create' in step ? step.create : (this.object as JsonObject);
    const types = typesFor(given['apiVersion'] as string, given['kind'] as string);
    const written = this.#written(step, types);
    if ('status' in written) return written;
    const { object } = this;
    const settled = object ? keepTimes(object, written.object) : written.object;
    const next = types.shaped(this.#stored(settled, step, types));
    const isChanged = !object || !equalValues(object, next);
    this.object = next;
    return { object: next, isChanged };
  }

  #written(step: Step, types: KindTypes): PatchResult | { readonly status: Status } | { readonly object: JsonObject } {
    const now = this.#time;
    const shared = { types, now, manager: step.by, subresource: step.via ?? '' };
    const live = this.object;
    if ('apply' in step) {
      return this.#functions.apply({
        ...shared,
        applied: step.apply,
        force: step.force === true,
        defaulted: thingDefaults,
        ...(live ? { live } : {}),
      });
    }
    if ('create' in step) {
      return { object: this.#functions.track({ ...shared, after: types.shaped(thingDefaults(step.create)) }) };
    }
    const patched = patchedBy(step, live as JsonObject, types);
    if ('status' in patched) return patched;
    const after = types.shaped(thingDefaults(patched.object));
    return { object: this.#functions.track({ ...shared, before: live as JsonObject, after }) };
  }

  /** What the strategies of kinds with a status do, and the fields that the system sets. */
  #stored(object: JsonObject, step: Step, types: KindTypes): JsonObject {
    const { object: live } = this;
    const metadata = asMap(object['metadata']) ?? {};
    const { uid = 'uid-1' } = asMap(live?.['metadata']) ?? {};
    if (step.via === 'status' && live) {
      const managedFields = metadata['managedFields'];
      const kept = { ...asMap(live['metadata']), ...(managedFields === undefined ? {} : { managedFields }) };
      const { status: _, ...rest } = live;
      return { ...rest, metadata: kept, ...(object['status'] === undefined ? {} : { status: object['status'] }) };
    }
    const whole = { ...object, metadata: { ...metadata, uid } };
    const isReset = [...types.resets('').values()].some((paths) => paths.some(([first]) => first === 'status'));
    if (!isReset) return whole;
    const { status: _, ...rest } = whole as JsonObject;
    return live?.['status'] === undefined ? rest : { ...rest, status: live['status'] };
  }
}

function patchedBy(step: Step, live: JsonObject, types: KindTypes): PatchResult {
  if ('update' in step) return mergePatch(live, step.update);
  if ('merge' in step) return mergePatch(live, step.merge);
  if ('json' in step) return jsonPatch(live, step.json);
  if ('strategic' in step) return strategicMergePatch(live, step.strategic, types);
  throw new Error('no such step');
}

const notFound: Status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };

/** The one default that the schema of things has. */
function thingDefaults(object: JsonObject): JsonObject {
  const spec = asMap(object['spec']);
  const ports = asList(spec?.['ports']);
  if (object['kind'] !== 'Thing' || !spec || !ports) return object;
  return { ...object, spec: { ...spec, ports: ports.map((port) => ({ protocol: 'TCP', ...asMap(port) })) } };
}

/** `manager Operation [subresource]` → the paths of its fields. */
export function ownersOf(object: JsonObject): Record<string, string[]> {
  const entries = asList(asMap(object['metadata'])?.['managedFields']) ?? [];
  return Object.fromEntries(
    entries.map((entry) => {
      const { manager, operation, subresource, fieldsV1 } = asMap(entry) ?? {};
      const name = [manager, operation, subresource].filter((part) => typeof part === 'string').join(' ');
      return [name, [...fromFieldsV1(fieldsV1 as Json).paths()].map(pathText).sort()];
    }),
  );
}

export function valueAt(object: JsonObject, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, name) => asMap(value)?.[name], object);
}
