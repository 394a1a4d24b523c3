/** JSON Patch (RFC 6902) as kube-apiserver does it. */
import type { JsonObject } from '../object/draft.ts';
import { type Json, stringifyJson } from '@reeve/kube';
import { asMap } from '../types/type.ts';
import { addAt, type Place, placeOf, removeAt, replaceAt, valueAt } from './pointer.ts';
import { attempted, jsonSort, PatchFailure, type PatchResult } from './result.ts';
import { Work } from './work.ts';

const MOST_OPERATIONS = 10_000;

/** All that `copy` operations of one patch add, in bytes. */
const MOST_COPIED = 3 * 1024 * 1024;

const known = ['op', 'path', 'from', 'value'];

/** The object is not changed; the result is new. */
export function jsonPatch(object: JsonObject, patch: Json): PatchResult {
  const strictErrors = unknownFields(patch);
  return attempted(() => {
    const operations = operationsOf(patch);
    const run = new Run(object);
    for (const operation of operations) run.carryOut(operation);
    return run.document;
  }, strictErrors);
}

function operationsOf(patch: Json): readonly JsonObject[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(patch, 'value of type []handlers.jsonPatchOp');
  for (const operation of patch) {
    if (operation === null) continue;
    const fields = asMap(operation);
    if (!fields) throw undecodable(operation, 'value of type handlers.jsonPatchOp');
    for (const name of ['op', 'path', 'from']) {
      const value = fields[name] ?? null;
      if (value !== null && typeof value !== 'string') {
        throw undecodable(value, `struct field jsonPatchOp.${name} of type string`);
      }
    }
  }
  if (patch.length > MOST_OPERATIONS) {
    throw new PatchFailure(
      413,
      `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`,
    );
  }
  return patch.map((operation) => asMap(operation) ?? {});
}

function undecodable(value: Json, target: string): PatchFailure {
  return new PatchFailure(400, `error decoding patch: json: cannot unmarshal ${jsonSort(value)} into Go ${target}`);
}

function unknownFields(patch: Json): string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((operation, index) =>
    Object.keys(asMap(operation) ?? {})
      .filter((name) => !known.includes(name))
      .map((name) => `json patch unknown field "[${index}].${name}"`),
  );
}

class Run {
  document: Json;
  readonly #work = new Work();
  #copied = 0;

  constructor(object: JsonObject) {
    this.document = this.#work.copy(object);
  }

  carryOut(operation: JsonObject): void {
    const name = operation['op'] ?? 'unknown';
    switch (name) {
      case 'add':
        this.#add(operation, this.#valueOf(operation));
        return;
      case 'remove':
        removeAt(this.#place(operation, 'path'));
        return;
      case 'replace':
        this.#replace(operation);
        return;
      case 'move':
        this.#move(operation);
        return;
      case 'copy':
        this.#copy(operation);
        return;
      case 'test':
        this.#test(operation);
        return;
      default:
        throw new PatchFailure(422, `Unexpected kind: ${typeof name === 'string' ? name : 'unknown'}`);
    }
  }

  /** A value that is not given is null. It is copied, since later operations may reach into it. */
  #valueOf(operation: JsonObject): Json {
    return this.#work.copy(operation['value'] ?? null);
  }

  #place(operation: JsonObject, field: 'path' | 'from'): Place {
    const path = operation[field] ?? null;
    if (typeof path !== 'string') throw new PatchFailure(422, `operation missing ${field} field`);
    const place = placeOf(this.document, path);
    if (!place) throw new PatchFailure(422, `operation does not apply: doc is missing ${field}: ${path}`);
    return place;
  }

  #add(operation: JsonObject, value: Json): void {
    const place = this.#place(operation, 'path');
    this.#work.measure(value, place.depth);
    addAt(place, value);
  }

  #replace(operation: JsonObject): void {
    const value = this.#valueOf(operation);
    if (operation['path'] === '') {
      this.document = value;
      return;
    }
    // A key that an object does not have is no error here, other than in the RFC.
    const place = this.#place(operation, 'path');
    this.#work.measure(value, place.depth);
    replaceAt(place, value);
  }

  #move(operation: JsonObject): void {
    const from = this.#place(operation, 'from');
    const value = valueAt(from.container, from.key);
    removeAt(from);
    this.#add(operation, value ?? null);
  }

  /** What is not there is copied as null. */
  #copy(operation: JsonObject): void {
    const from = this.#place(operation, 'from');
    const value = this.#work.copy(valueAt(from.container, from.key) ?? null);
    this.#copied += Buffer.byteLength(stringifyJson(value));
    if (this.#copied > MOST_COPIED) {
      throw new PatchFailure(
        422,
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${MOST_COPIED}`,
      );
    }
    this.#add(operation, value);
  }

  #test(operation: JsonObject): void {
    const expected = operation['value'] ?? null;
    const { path } = operation;
    let value: Json;
    if (path === '') {
      value = this.document;
    } else {
      const place = this.#place(operation, 'path');
      value = valueAt(place.container, place.key) ?? null;
    }
    if (!this.#work.equal(value, expected)) {
      throw new PatchFailure(422, `testing value ${typeof path === 'string' ? path : ''} failed: test failed`);
    }
  }
}
