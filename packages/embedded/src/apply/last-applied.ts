/** The annotation of kubectl's client-side apply: read once when an object moves over, and kept up to date after that. */
import type { JsonObject } from '../object/draft.ts';
import { type Json, parseJson, stringifyJson } from '@reeve/kube';
import { type KindTypes, typeOf } from '../types/kind-types.ts';
import { asMap } from '../types/type.ts';
import { compare } from './compare.ts';
import { fieldsOf } from './extract.ts';
import type { FieldSet } from './field-set.ts';
import { invalidity } from './validate.ts';
import { compareText } from './value.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** The limit of all annotations of an object together, in bytes. */
const MOST_BYTES = 256 * 1024;

function annotationsOf(object: JsonObject): JsonObject {
  return asMap(asMap(object['metadata'])?.['annotations']) ?? {};
}

function lastAppliedOf(object: JsonObject): string | undefined {
  const value = annotationsOf(object)[ANNOTATION];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The fields that still have the value which kubectl applied last. */
export function allowedByLastApplied(live: JsonObject, types: KindTypes): FieldSet | undefined {
  const text = lastAppliedOf(live);
  if (text === undefined) return undefined;
  let last: JsonObject | undefined;
  try {
    last = asMap(parseJson(text));
  } catch {
    return undefined;
  }
  const type = typeOf(types);
  if (last?.['apiVersion'] !== types.apiVersion) return undefined;
  for (const object of [live, last]) {
    if (invalidity(object, type, { allowDuplicates: false }) !== undefined) return undefined;
  }
  const { modified, added, removed } = compare(last, live, type);
  return fieldsOf(last, type).difference(modified).difference(added).difference(removed);
}

/** Where the annotation is, it names the configuration of now. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const { [ANNOTATION]: _, ...rest } = annotationsOf(object);
  const { [ANNOTATION]: __, ...given } = annotationsOf(applied);
  const metadata = asMap(applied['metadata']) ?? {};
  const { annotations: ___, ...others } = metadata;
  const bare = { ...applied, metadata: Object.keys(given).length > 0 ? { ...others, annotations: given } : others };
  const value = `${stringifyJson(sorted(bare))}\n`;
  const annotations: JsonObject = { ...rest, [ANNOTATION]: value };
  const size = Object.entries(annotations).reduce((sum, [key, text]) => sum + bytes(key) + bytes(text), 0);
  return { ...object, metadata: { ...asMap(object['metadata']), annotations: size > MOST_BYTES ? rest : annotations } };
}

function bytes(text: Json): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0;
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  const map = asMap(value);
  if (!map) return value;
  return Object.fromEntries(
    Object.entries(map)
      .sort(([a], [b]) => compareText(a, b))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
