/** What a watch tells. ERROR events do not appear here: the client throws them as errors with the Status inside. */
import type { KubeObject } from './object.ts';

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      /** Nothing changed; the stream has reached this version. Its object has nothing else to tell. */
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** The mark that ends the initial events of a streaming list: everything that existed has been sent. */
      readonly initialEventsEnd: boolean;
    };

export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
