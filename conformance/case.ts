/**
 * What a case is: requests as data. Both servers get the same ones; what they answer is recorded and compared.
 *
 * Texts may name what differs from case to case and from server to server: `<ns>` the namespace of the case, `<id>` a
 * word that no other case has, `<group>` an API group of its own, and `<NAME.FIELD>` a field of an answer's metadata
 * that was saved under NAME (`<NAME.token>` of a token that was asked for).
 */
import type { Json } from '@reeve/kube';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type PatchType = 'merge' | 'json' | 'strategic' | 'apply';

/** Who asks. Without any it is an administrator. */
export interface Asker {
  /** Somebody else, impersonated by the administrator. */
  readonly as?: string;
  readonly groups?: readonly string[];
  /** By this token, with nothing else; an empty one is nobody. */
  readonly token?: string;
}

export interface Call extends Asker {
  readonly method: Method;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A text is sent as it is. */
  readonly body?: Json;
  readonly patch?: PatchType;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the real server must answer, so that no case is about nothing. Default: a success. */
  readonly code?: number;
  /** Whatever the real server answers is right. */
  readonly any?: true;
  readonly save?: string;
  /**
   * Asked again until the answer has `code` and, if given, a message with this text: for what a server does in the
   * background. Only the last answer counts.
   */
  readonly until?: string;
}

/** A PUT of what is there, changed by this merge patch. */
export interface Change extends Asker {
  readonly change: Json;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly subresource?: string;
  readonly code?: number;
  readonly any?: true;
  readonly save?: string;
}

/** Opens a watch; it goes on while other steps run. */
export interface Open extends Asker {
  readonly open: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code?: number;
}

/** Records the events of a watch up to this one. */
export interface Collect {
  readonly collect: string;
  /** An event of the object of this name; this many events; the mark after the initial ones; the end of the stream. */
  readonly until: { readonly name: string; readonly type?: string } | { readonly events: number } | 'initial' | 'end';
}

export type Step = Call | Change | Open | Collect;

export interface Case {
  readonly name: string;
  /** Created before the steps and waited for. `<group>` is its group. */
  readonly definition?: Json;
  readonly steps: readonly Step[];
}

export interface Area {
  readonly name: string;
  readonly cases: readonly Case[];
}

type CallOptions = Omit<Call, 'method' | 'path' | 'body'>;

export const get = (path: string, options: CallOptions = {}): Call => ({ method: 'GET', path, ...options });
export const post = (path: string, body: Json, options: CallOptions = {}): Call => ({
  method: 'POST',
  path,
  body,
  ...options,
});
export const put = (path: string, body: Json, options: CallOptions = {}): Call => ({
  method: 'PUT',
  path,
  body,
  ...options,
});
export const remove = (path: string, body?: Json, options: CallOptions = {}): Call => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
  ...options,
});
export const patch = (type: PatchType, path: string, body: Json, options: CallOptions = {}): Call => ({
  method: 'PATCH',
  path,
  body,
  patch: type,
  ...options,
});
export const merge = (path: string, body: Json, options: CallOptions = {}): Call => patch('merge', path, body, options);
export const apply = (by: string, path: string, body: Json, options: CallOptions & { force?: true } = {}): Call => {
  const { force, query, ...rest } = options;
  const wanted = { fieldManager: by, ...(force ? { force: 'true' } : {}), ...query };
  return patch('apply', path, body, { query: wanted, ...rest });
};
