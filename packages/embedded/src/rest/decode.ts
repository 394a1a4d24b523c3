/** What a client sent, as an object of the kind that its path names. */
import { isKubeError, type Json, parseJson } from '@reeve/kube';
import type { Served } from '../kinds/registry.ts';
import { type Draft, isObject, textOf } from '../object/draft.ts';
import { readMetadata } from '../object/metadata.ts';
import { badRequest } from '../status/refusal.ts';

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
  /** Fields of the metadata that nobody knows. */
  readonly unknown: readonly string[];
}

export function decodeObject(text: string, served: Served): Decoded {
  const { kind } = served;
  const unrecognized = (why: string): Error =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${Buffer.from(text).subarray(0, SHOWN).toString('hex')}${text.length > SHOWN ? ' ...' : ''})`,
    );
  return checkedObject(parseText(text, unrecognized), served, text);
}

/** The same for what is JSON already: the result of a patch. */
export function checkedObject(value: Json, served: Served, text = ''): Decoded {
  const { kind, version, apiVersion } = served;
  if (!isObject(value)) {
    throw badRequest(
      `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type map`,
    );
  }
  const givenKind = textOf(value.kind);
  const givenVersion = textOf(value.apiVersion);
  if (kind.custom && givenKind === '') throw badRequest(`Object 'Kind' is missing in '${text.slice(0, 200)}'`);
  if (givenVersion !== '' && givenVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (givenKind !== '' && givenKind !== kind.kind) {
    throw badRequest(
      `${givenKind} in version ${JSON.stringify(version.name)} cannot be handled as a ${kind.kind}: the kind in the data (${givenKind}) does not match the expected kind (${kind.kind})`,
    );
  }
  const unknown: string[] = [];
  const metadata = readMetadata(value.metadata, kind.kind, version.name, unknown);
  return { object: { ...value, apiVersion, kind: kind.kind, metadata }, unknown };
}
