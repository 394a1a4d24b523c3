/** managedFields: who owns which fields, read into sets and written back in the server's order. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { asList, asMap } from '../types/type.ts';
import type { FieldSet } from './field-set.ts';
import { readFieldsV1, toFieldsV1 } from './fields-v1.ts';
import { compareText } from './value.ts';

export type Operation = 'Apply' | 'Update';

/** What makes an entry another one. For appliers the version does not: they keep their entry when they change it. */
export interface Manager {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion?: string;
  readonly subresource?: string;
}

export interface Owned {
  readonly set: FieldSet;
  readonly apiVersion: string;
  readonly applied: boolean;
  /** The set as it was read. It is written again, as long as the set is the same. */
  readonly fieldsV1?: JsonObject;
}

/** Manager's id → what it owns, and since when. */
export interface Managed {
  readonly owned: Map<string, Owned>;
  readonly times: Map<string, string>;
}

export const emptyManaged = (): Managed => ({ owned: new Map(), times: new Map() });

/** The id is text, because the server sorts by it: the entry's identity as JSON. */
export function managerId({ manager, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify({
    ...(manager === '' ? {} : { manager }),
    operation,
    ...(operation === 'Apply' || apiVersion === undefined ? {} : { apiVersion }),
    ...(subresource === undefined || subresource === '' ? {} : { subresource }),
  });
}

export function managerOf(id: string): Manager {
  const { manager = '', ...rest } = JSON.parse(id) as Partial<Manager>;
  return { manager, ...rest } as Manager;
}

/** Throws (with the server's message) for entries that no server wrote. */
export function decodeManaged(entries: readonly Json[]): Managed {
  const managed = emptyManaged();
  for (const [index, value] of entries.entries()) {
    const entry = asMap(value) ?? {};
    const { operation } = entry;
    if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
    const apiVersion = textOf(entry['apiVersion']);
    if (apiVersion === '') throw new Error('apiVersion must not be empty');
    const fieldsType = textOf(entry['fieldsType']);
    if (fieldsType === '') throw new Error(`missing fieldsType in managed fields entry ${index}`);
    if (fieldsType !== 'FieldsV1') {
      throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
    }
    const subresource = textOf(entry['subresource']);
    const id = managerId({ manager: textOf(entry['manager']), operation, apiVersion, subresource });
    const fieldsV1 = asMap(entry['fieldsV1']) ?? {};
    const { set, isCanonical } = readFieldsV1(fieldsV1);
    managed.owned.set(id, { set, apiVersion, applied: operation === 'Apply', ...(isCanonical ? { fieldsV1 } : {}) });
    if (typeof entry['time'] === 'string') managed.times.set(id, entry['time']);
  }
  return managed;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Appliers first, then by time, name, version and subresource. */
export function encodeManaged(managed: Managed): JsonObject[] {
  const entries = [...managed.owned].map(([id, { set, apiVersion, applied, fieldsV1 }]) => {
    const { manager, operation, subresource = '' } = managerOf(id);
    const time = managed.times.get(id);
    const fields = fieldsV1 ?? toFieldsV1(set);
    const entry = entryOf({ manager, operation: applied ? 'Apply' : operation, apiVersion, subresource }, time, fields);
    return { seconds: secondsOf(time), subresource, entry };
  });
  return entries
    .sort(
      (a, b) =>
        compareText(a.entry.operation, b.entry.operation) ||
        a.seconds - b.seconds ||
        compareText(a.entry.manager ?? '', b.entry.manager ?? '') ||
        compareText(a.entry.apiVersion, b.entry.apiVersion) ||
        compareText(a.subresource, b.subresource),
    )
    .map(({ entry }) => entry);
}

/** In the order in which the server writes it. */
export function entryOf(
  { manager, operation, apiVersion = '', subresource = '' }: Manager,
  time: string | undefined,
  fieldsV1: JsonObject,
) {
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource === '' ? {} : { subresource }),
  } satisfies JsonObject;
}

export function secondsOf(time: string | undefined): number {
  const ms = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

export function managedFieldsOf(object: JsonObject): readonly Json[] | undefined {
  return asList(asMap(object['metadata'])?.['managedFields']);
}

export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = asMap(object['metadata']);
  if (!metadata || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** No entries: the field is not there at all. */
export function withManagedFields(object: JsonObject, managed: Managed): JsonObject {
  if (managed.owned.size === 0) return withoutManagedFields(object);
  return { ...object, metadata: { ...asMap(object['metadata']), managedFields: encodeManaged(managed) } };
}
