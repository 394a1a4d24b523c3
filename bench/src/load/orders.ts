/** What the load generator is asked for. */
import type { ResourceName } from '../kubernetes/objects.ts';

/** `isShared`: others write to these objects, too. */
interface Changes {
  readonly resource: ResourceName;
  readonly objects: number;
  readonly events: number;
  readonly revision: number;
}

export type LoadOrder =
  /** Creates what followers follow. */
  | { readonly do: 'fill'; readonly resource: ResourceName; readonly from: number; readonly to: number }
  /** Changes object after object below the server, in its etcd, at a rate if there is one. */
  | ({ readonly do: 'rewrite'; readonly perSecond?: number; readonly isShared?: boolean } & Changes)
  /** What is to be listed. */
  | { readonly do: 'stock'; readonly count: number }
  /** All of it, so many times. */
  | { readonly do: 'list'; readonly times: number }
  | { readonly do: 'watch'; readonly watchers: number }
  /** So many creates, of which all watchers must hear. */
  | { readonly do: 'fanOut'; readonly events: number };

export interface Timed {
  readonly count: number;
  readonly ms: number;
}

export interface LoadResult extends Timed {
  readonly bytes: number;
}
