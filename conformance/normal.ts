/**
 * The one normalisation: what must differ between two servers, and nothing else.
 *
 * - uids become `uid-1`, `uid-2` … in the order of their appearance: which ones are the same is still compared;
 * - resourceVersions of objects become `version-1` … in their own order: which write made a new one is still compared.
 *   Those of lists, bookmarks and messages are of the whole store, where other cases write, too: they only must be there;
 * - times become the step in which they were taken (timeline.ts), with as many digits as they have;
 * - addresses and ports that a server chose, if they are of the part of its range from which it chooses, are numbered like
 *   uids; what the case itself names stays;
 * - generated names, continue tokens and signed tokens, if they look as they should;
 * - the order of several causes (Go's maps have none), and diffs of Go structs at their ends.
 */
import { type Json, stringifyJson } from '@reeve/kube';
import type { Case } from './case.ts';
import type { Recording } from './record.ts';

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z$/;
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;
const GENERATED = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;
/** Numbers of versions in the server's sentences. */
const VERSIONS: readonly RegExp[] = [/(?<=, current: )\d+/, /(?<=too old resource version: \d+ \()\d+(?=\))/];
const OBJECT_VERSION = /(?<=ResourceVersion in (?:the precondition|record) \()\d+/g;
const PATCHED = /^((?: "" is invalid: patch: )?Invalid value: )("\{(?:[^"\\]|\\.)*\}")(: .*)$/s;
/** From 10.96.1.1 on, and from 30086 on: what lies before is for those who ask for it. */
const ADDRESS = /\b10\.96\.(?!0\.)\d{1,3}\.\d{1,3}\b/g;
const PORT_IN_TEXT = /(?<=Duplicate value: )3\d{4}(?=$|[,\]])/g;
const FIRST_PORT = 30_086;
const LAST_PORT = 32_767;

type Fields = Readonly<Record<string, Json>>;

export function normalised(
  { recorded, timeline }: Pick<Recording, 'timeline'> & { readonly recorded: readonly unknown[] },
  { steps }: Pick<Case, 'steps'>,
): readonly Json[] {
  const versions = new Set<string>();
  findVersions(recorded as Json, versions);
  const ranks = [...versions].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const numbered = new Map(ranks.map((version, index) => [version, `version-${index + 1}`]));
  const normaliser = new Normaliser(numbered, timeline, stringifyJson(steps));
  return recorded.map((one) => normaliser.value(one as Json));
}

class Normaliser {
  readonly #versions: ReadonlyMap<string, string>;
  readonly #uids = new Map<string, string>();
  readonly #addresses = new Map<string, string>();
  readonly #ports = new Map<string, string>();
  readonly #timeline: Recording['timeline'];
  /** All that the case sends. */
  readonly #sent: string;

  constructor(versions: ReadonlyMap<string, string>, timeline: Recording['timeline'], sent: string) {
    this.#versions = versions;
    this.#timeline = timeline;
    this.#sent = sent;
  }

  value(value: Json): Json {
    if (Array.isArray(value)) return value.map((one) => this.value(one));
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    return this.#object(value as Fields);
  }

  #object(given: Fields): Json {
    const object = withoutDiffs(given);
    const result: Record<string, Json> = {};
    const isCollection = isOfStore(object);
    for (const name of Object.keys(object).sort()) {
      const value = object[name] as Json;
      if (name === 'metadata' && isCollection && isFields(value)) result[name] = this.#listMetadata(value);
      else if (name === 'metadata' && isFields(value)) result[name] = this.#metadata(value);
      else if (/^(?:n|healthCheckN)odePort$/.test(name) && typeof value === 'number') result[name] = this.#port(value);
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

  #metadata({ resourceVersion, name, deletionTimestamp, ...rest }: Fields): Json {
    const version = typeof resourceVersion === 'string' ? this.#versions.get(resourceVersion) : undefined;
    return {
      ...(this.value(rest) as Fields),
      ...(name === undefined ? {} : { name: withoutSuffix(name, rest['generateName']) }),
      ...(resourceVersion === undefined ? {} : { resourceVersion: version ?? resourceVersion }),
      ...(deletionTimestamp === undefined
        ? {}
        : { deletionTimestamp: this.#text(textOf(deletionTimestamp), rest['deletionGracePeriodSeconds']) }),
    };
  }

  /** What a patch made, as complaints show it: compared as what it is, not as a text. */
  #complaint(text: string): string | undefined {
    const [, head = '', quoted, tail = ''] = PATCHED.exec(text) ?? [];
    if (quoted === undefined) return undefined;
    const shown = JSON.parse(JSON.parse(quoted) as string) as Json;
    return `${head}${JSON.stringify(this.value(shown))}${tail}`;
  }

  /** @param later seconds that a time lies after the step that it belongs to. */
  #text(text: string, later?: Json): string {
    const [, seconds, fraction = ''] = TIME.exec(text) ?? [];
    if (seconds !== undefined) {
      const told = this.#timeline.told(Date.parse(`${seconds}Z`) / 1000 - (typeof later === 'number' ? later : 0));
      if (told !== undefined) return fraction === '' ? told : `${told} with ${fraction.length - 1} digits`;
    }
    if (TOKEN.test(text)) return 'a signed token';
    const complaint = this.#complaint(text);
    if (complaint !== undefined) return complaint;
    const known = this.#withoutUids(text).replace(OBJECT_VERSION, (one) => this.#versions.get(one) ?? one);
    const named = known
      .replace(ADDRESS, (one) => (this.#sent.includes(one) ? one : `address-${numberOf(this.#addresses, one)}`))
      .replace(PORT_IN_TEXT, (one) => String(this.#port(Number(one))));
    return VERSIONS.reduce((result, pattern) => result.replace(pattern, 'a version'), named);
  }

  #port(port: number): string | number {
    if (port < FIRST_PORT || port > LAST_PORT || this.#sent.includes(String(port))) return port;
    return `port ${numberOf(this.#ports, String(port))}`;
  }

  #withoutUids(text: string): string {
    return text.replace(UID, (uid) => `uid-${numberOf(this.#uids, uid)}`);
  }
}

/** By the order of their appearance. */
function numberOf(known: Map<string, string>, one: string): string {
  const number = known.get(one) ?? String(known.size + 1);
  known.set(one, number);
  return number;
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

const DIFF =
  /^(.*(?:pod updates may not change fields other than|spec is immutable after creation|spec\.persistentvolumesource is immutable)[^\n]*)(\n.*)$/s;

/** Three complaints of the real server end with a diff of its Go structs. The rest of them is compared. */
function withoutDiffs(status: Fields): Fields {
  const details = isFields(status['details']) ? status['details'] : {};
  const { causes } = details;
  const { message } = status;
  if (!Array.isArray(causes) || typeof message !== 'string') return status;
  let text = message;
  const plain = causes.map((cause): Json => {
    const [, words, diff] = DIFF.exec(isFields(cause) ? textOf(cause['message']) : '') ?? [];
    if (words === undefined || diff === undefined) return cause as Json;
    text = text.replace(diff, () => '');
    return { ...(cause as Fields), message: words };
  });
  return { ...status, message: text, details: { ...details, causes: plain } };
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
