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
  /** Fields that nobody knows. */
  readonly unknown: readonly string[];
  /** What else strict reading complains of, as texts. */
  readonly complaints?: readonly string[];
  /** Its managed fields are settled already: it comes from apply. */
  readonly isApplied?: boolean;
}

export function decodeObject(text: string, served: Served): Decoded {
  return completed(checkedObject(readText(text, served), served, text), served);
}

/** An apply: what is not said belongs to nobody, so it is not filled in. */
export function decodeApplied(value: Json, served: Served): Decoded {
  return checkedObject(value, served);
}

/** The same for what is JSON already: the result of a patch or an apply. */
export function decodeValue(value: Json, served: Served): Decoded {
  return completed(checkedObject(value, served), served);
}

function readText(text: string, { kind }: Served): Json {
  return parseText(text, (why) => {
    const shown = Buffer.from(text).subarray(0, SHOWN).toString('hex') + (text.length > SHOWN ? ' ...' : '');
    return badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${shown})`);
  });
}

/** Pruned and with its defaults. */
export function completed({ object, unknown }: Decoded, { kind, version }: Served): Decoded {
  kind.defaults?.(object);
  const decoding = version.rules?.decode(object);
  if (decoding?.error !== undefined) throw badRequest(`${decoding.error.field}: ${decoding.error.message}`);
  return { object, unknown: [...unknown, ...(decoding?.unknown ?? [])] };
}

function checkedObject(value: Json, served: Served, text = ''): Decoded {
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
