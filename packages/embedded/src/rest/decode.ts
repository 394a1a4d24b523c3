/** What a client sent, as an object of the kind that its path names. */
import { isKubeError, type Json, parseJson } from '@reeve/kube';
import type { Served } from '../kinds/registry.ts';
import { type Draft, isObject, objectOf, textOf } from '../object/draft.ts';
import { readMetadata } from '../object/metadata.ts';
import { duplicateFields, strictDecodingError } from '../schema/strict.ts';
import { invalid } from '../status/field-error.ts';
import { badRequest, invalidObject, invalidPatch, undecodable } from '../status/refusal.ts';
import { fitOf } from '../types/fit.ts';
import { typeOf } from '../types/kind-types.ts';

/** As much of a body as a complaint shows. */
const SHOWN = 30;

export function parseText(text: string, refuse: (why: string) => Error): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (isKubeError(error, 'KUBE_JSON')) throw refuse(error.message);
    throw error;
  }
}

export interface Decoded {
  readonly object: Draft;
  /** Fields that nobody knows. */
  readonly unknown: readonly string[];
  /** What else strict reading complains of, as texts. */
  readonly complaints?: readonly string[];
  /** Its managed fields are settled already: it comes from apply. */
  readonly isApplied?: boolean;
  /** It is what a patch made, not what a client sent. */
  readonly isPatched?: boolean;
  /** What its name was made from, if the server made it. */
  readonly generateName?: string;
  /** What complaints show of a patch of a built-in kind: what it made, or the patch itself. */
  shownPatch?(): string;
}

export function decodeObject(text: string, served: Served): Decoded {
  return completed(checkedObject(readText(text, served), served, text), served);
}

/** Of an apply: it has its defaults, which belong to nobody. */
export function decodeApplied(value: Json, served: Served): Decoded {
  return { ...checkedObject(value, served), isApplied: true, isPatched: true };
}

/** The same for what is JSON already: the result of a patch. */
export function decodeValue(value: Json, served: Served, shownPatch: () => string): Decoded {
  const refuse = (problem: string): Error => invalidPatch(shownPatch(), problem);
  const checked = checkedObject(value, served);
  return { ...completed(checked, served, served.kind.custom ? undefined : refuse), isPatched: true };
}

const NO_KIND = "couldn't get version/kind; json parse error: ";

function readText(text: string, served: Served): Json {
  const value = parseText(text, (why) => {
    const twice = why.includes(' is given twice') ? strictDecodingError(duplicateFields(text), []) : undefined;
    if (twice === undefined) return unrecognized(`${NO_KIND}${goProblem(why)}`, text, served);
    return served.kind.custom ? badRequest(twice) : undecodable(served.kind.kind, served.version.name, twice);
  });
  if (value === null && !served.kind.custom) return {};
  if (isObject(value)) return value;
  const type =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  throw unrecognized(`${NO_KIND}json: cannot unmarshal ${goKind(value)} into Go value of type ${type}`, text, served);
}

/** A text that breaks off is named as Go names it; what else is broken, in our parser's words. */
const goProblem = (why: string): string =>
  /the end at line|without an end/.test(why) ? 'unexpected end of JSON input' : why;

const goKind = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

function unrecognized(why: string, text: string, { kind }: Served): Error {
  const more = text.length > SHOWN ? ' ...' : '';
  const start = text.slice(0, SHOWN);
  const shown =
    text === '' ? '<empty>' : text.startsWith('{') ? start + more : Buffer.from(start).toString('hex') + more;
  return badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${shown})`);
}

/** Pruned, with its defaults, and in the form in which it is kept. */
export function completed(
  { object, unknown }: Decoded,
  { kind, version }: Served,
  refuse = (problem: string): Error => undecodable(kind.kind, version.name, problem),
): Decoded {
  const { types } = version;
  const type = kind.custom ? undefined : typeOf(types).map;
  const fit = type && fitOf(object, type);
  if (fit?.problem !== undefined) throw refuse(fit.problem);
  kind.defaults?.(object);
  const decoding = version.rules?.decode(object);
  if (decoding?.error !== undefined) {
    throw refuse(`${decoding.error.field}: ${decoding.error.message}`);
  }
  return {
    object: types.shaped(object) as Draft,
    unknown: [...unknown, ...(fit?.unknown ?? []), ...(decoding?.unknown ?? [])],
  };
}

function checkedObject(value: Json, served: Served, text = ''): Decoded {
  const { kind, apiVersion } = served;
  if (!isObject(value))
    throw badRequest(`json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`);
  const givenKind = textOf(value.kind);
  const givenVersion = textOf(value.apiVersion);
  if (kind.custom) {
    if (givenKind === '') throw unrecognized(`Object 'Kind' is missing in '${text}'`, text, served);
    if (givenVersion !== apiVersion) {
      const problem = `the API version in the data (${givenVersion}) does not match the expected API version (${apiVersion})`;
      throw badRequest(problem);
    }
    if (givenKind !== kind.kind) {
      const name = textOf(objectOf(value.metadata).name);
      const error = invalid('kind', givenKind, `must be ${kind.kind}`);
      throw invalidObject({ group: kind.group, kind: givenKind }, name, [error]);
    }
  } else refuseOther(givenKind || kind.kind, givenVersion || apiVersion, served);
  const unknown: string[] = [];
  const metadata = readMetadata(value.metadata, served, unknown);
  // An empty list of managed fields is a wish to forget them, which custom kinds cannot have.
  const { managedFields } = objectOf(value.metadata);
  if (!kind.custom && Array.isArray(managedFields) && managedFields.length === 0) metadata.managedFields = [];
  return { object: { ...value, apiVersion, kind: kind.kind, metadata }, unknown };
}

/** In the words of a server that has Go types for its kinds. */
function refuseOther(givenKind: string, givenVersion: string, { kind, version, apiVersion }: Served): void {
  if (givenKind === kind.kind && givenVersion === apiVersion) return;
  const packageOf = (group: string): string => (group === '' ? 'core' : (group.split('.', 1)[0] as string));
  const why =
    givenVersion === apiVersion
      ? `converting (${version.name}.${givenKind}) to (${packageOf(kind.group)}.${kind.kind}): unknown conversion`
      : `no kind ${JSON.stringify(givenKind)} is registered for version ${JSON.stringify(givenVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  const name = givenVersion.slice(givenVersion.lastIndexOf('/') + 1);
  throw badRequest(`${givenKind} in version ${JSON.stringify(name)} cannot be handled as a ${kind.kind}: ${why}`);
}
