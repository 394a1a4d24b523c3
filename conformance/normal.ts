/**
 * The one normalisation: what must differ between two servers, and nothing else.
 *
 * - uids become `uid-1`, `uid-2` … in the order of their appearance: which ones are the same is still compared;
 * - resourceVersions of objects become `version-1` … in their own order: which write made a new one is still compared.
 *   Those of lists, bookmarks and messages are of the whole store, where other cases write, too: they only must be there;
 * - times of today become `time`, with as many digits as they have;
 * - generated names, continue tokens and signed tokens, if they look as they should;
 * - the order of managedFields (it is that of their times) and of several causes (Go's maps have none).
 */
import type { Json } from '@reeve/kube';

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z$/;
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;
const GENERATED = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;
/** Numbers of versions in the server's sentences. */
const VERSIONS: readonly RegExp[] = [/(?<=, current: )\d+/, /(?<=too old resource version: \d+ \()\d+(?=\))/];
const OBJECT_VERSION = /(?<=ResourceVersion in (?:the precondition|record) \()\d+/g;
const A_DAY = 24 * 60 * 60 * 1000;

type Fields = Readonly<Record<string, Json>>;

export function normalised(recorded: readonly unknown[], now: number): readonly Json[] {
  const versions = new Set<string>();
  findVersions(recorded as Json, versions);
  const ranks = [...versions].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const normaliser = new Normaliser(new Map(ranks.map((version, index) => [version, `version-${index + 1}`])), now);
  return recorded.map((one) => normaliser.value(one as Json));
}

class Normaliser {
  readonly #versions: ReadonlyMap<string, string>;
  readonly #uids = new Map<string, string>();
  readonly #now: number;

  constructor(versions: ReadonlyMap<string, string>, now: number) {
    this.#versions = versions;
    this.#now = now;
  }

  value(value: Json): Json {
    if (Array.isArray(value)) return value.map((one) => this.value(one));
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    return this.#object(value as Fields);
  }

  #object(object: Fields): Json {
    const result: Record<string, Json> = {};
    const isCollection = isOfStore(object);
    for (const name of Object.keys(object).sort()) {
      const value = object[name] as Json;
      if (name === 'metadata' && isCollection && isFields(value)) result[name] = this.#listMetadata(value);
      else if (name === 'metadata' && isFields(value)) result[name] = this.#metadata(value);
      else result[this.#withoutUids(name)] = this.value(value);
    }
    return withSortedCauses(result);
  }

  #listMetadata({ resourceVersion, continue: next, ...rest }: Fields): Json {
    return {
      ...(this.value(rest) as Fields),
      ...(resourceVersion === undefined
        ? {}
        : { resourceVersion: isVersion(resourceVersion) ? 'a version' : resourceVersion }),
      ...(next === undefined ? {} : { continue: typeof next === 'string' && next !== '' ? 'a token' : next }),
    };
  }

  #metadata({ resourceVersion, managedFields, name, ...rest }: Fields): Json {
    const version = typeof resourceVersion === 'string' ? this.#versions.get(resourceVersion) : undefined;
    return {
      ...(this.value(rest) as Fields),
      ...(name === undefined ? {} : { name: withoutSuffix(name, rest['generateName']) }),
      ...(resourceVersion === undefined ? {} : { resourceVersion: version ?? resourceVersion }),
      ...(Array.isArray(managedFields)
        ? { managedFields: sortedEntries(managedFields).map((one) => this.value(one)) }
        : {}),
    };
  }

  #text(text: string): string {
    const [, seconds, fraction = ''] = TIME.exec(text) ?? [];
    if (seconds !== undefined && Math.abs(Date.parse(`${seconds}Z`) - this.#now) < A_DAY) {
      return fraction === '' ? 'time' : `time with ${fraction.length - 1} digits`;
    }
    if (TOKEN.test(text)) return 'a signed token';
    const known = this.#withoutUids(text).replace(OBJECT_VERSION, (one) => this.#versions.get(one) ?? one);
    return VERSIONS.reduce((result, pattern) => result.replace(pattern, 'a version'), known);
  }

  #withoutUids(text: string): string {
    return text.replace(UID, (uid) => {
      const known = this.#uids.get(uid) ?? `uid-${this.#uids.size + 1}`;
      this.#uids.set(uid, known);
      return known;
    });
  }
}

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const isVersion = (value: Json | undefined): value is string => typeof value === 'string' && /^[1-9]\d*$/.test(value);

/** Lists, and bookmarks of watches: their version is one of the whole store. */
function isOfStore(object: Fields): boolean {
  if (Array.isArray(object['items']) || object['items'] === null) return true;
  const { metadata } = object;
  return (
    isFields(metadata) && isFields(metadata['annotations']) && 'k8s.io/initial-events-end' in metadata['annotations']
  );
}

function findVersions(value: Json, found: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) findVersions(one, found);
  if (!isFields(value)) return;
  const { metadata } = value;
  if (isFields(metadata) && !isOfStore(value) && isVersion(metadata['resourceVersion'])) {
    found.add(metadata['resourceVersion']);
  }
  for (const one of Object.values(value)) findVersions(one, found);
}

function withoutSuffix(name: Json, prefix: Json | undefined): Json {
  if (typeof name !== 'string' || typeof prefix !== 'string' || prefix === '' || !name.startsWith(prefix)) return name;
  return GENERATED.test(name.slice(prefix.length)) ? `${prefix}(generated)` : name;
}

function sortedEntries(entries: readonly Json[]): readonly Json[] {
  const keyOf = (entry: Json): string => {
    const { operation, manager, apiVersion, subresource } = isFields(entry) ? entry : {};
    return JSON.stringify([operation, manager, apiVersion, subresource]);
  };
  return entries.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Several causes, and the same ones in the message between brackets, in one order. */
function withSortedCauses(status: Record<string, Json>): Json {
  const details = isFields(status['details']) ? status['details'] : {};
  const { causes } = details;
  if (!Array.isArray(causes) || causes.length < 2) return status;
  const sorted = causes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const result = { ...status, details: { ...details, causes: sorted } };
  const { message } = status;
  if (typeof message !== 'string') return result;
  const part = (cause: Json): string => {
    const { field, message: text } = isFields(cause) ? cause : {};
    return `${textOf(field)}: ${textOf(text)}`;
  };
  // In whatever order they stand there, each must stand there once.
  let rest = message.slice(message.indexOf('[') + 1, message.lastIndexOf(']'));
  for (const cause of sorted.toSorted((a, b) => part(b).length - part(a).length)) {
    const at = rest.indexOf(part(cause));
    if (at < 0) return result;
    rest = rest.slice(0, at) + rest.slice(at + part(cause).length);
  }
  if (/[^, ]/.test(rest)) return result;
  const head = message.slice(0, message.indexOf('[') + 1);
  return { ...result, message: `${head}${sorted.map(part).join(', ')}${message.slice(message.lastIndexOf(']'))}` };
}
