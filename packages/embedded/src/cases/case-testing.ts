/**
 * Cases of apply and patch as data, so that the same ones can run against these functions, against our server and
 * against kube-apiserver. A case works on one object; its steps are requests.
 */
import type { Json } from '@reeve/kube';
import type { JsonObject } from '../object/draft.ts';

interface Request {
  /** The field manager. */
  readonly by: string;
  readonly via?: 'status';
  /** The server refuses; nothing changes. */
  readonly fails?: { readonly code: number; readonly message?: string };
  /** Nothing is written: the version stays, and so do all times. */
  readonly unchanged?: true;
}

export type Step = Request &
  (
    | { readonly apply: JsonObject; readonly force?: true }
    | { readonly create: JsonObject }
    /** Read, changed by this merge patch, and written back whole. */
    | { readonly update: JsonObject }
    | { readonly merge: Json }
    | { readonly json: Json }
    | { readonly strategic: Json }
  );

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly expected: {
    /** Dotted path → the value there, exactly; `undefined` for none. */
    readonly values?: Readonly<Record<string, Json | undefined>>;
    /** All entries of managedFields: `manager Operation [subresource]` → the fields. */
    readonly owns?: Readonly<Record<string, readonly string[]>>;
  };
}
