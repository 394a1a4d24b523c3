/** All objects of a kind, and then every change, for as long as somebody looks on. */
import { type AnyObject, isKubeError, type ResourceClient, type Selection } from '@reeve/kube';
import type { Clock } from '@reeve/runtime';

export interface Looker {
  /** All there is; more than once if the server forgot what came in between. */
  all(objects: readonly AnyObject[]): void;
  changed(object: AnyObject, isDeleted: boolean): void;
  /** The connection broke; it is tried again. */
  lost(error: Error): void;
}

const PAUSE_MS = 1_000;

/** Ends when the signal does. */
export async function follow(
  client: ResourceClient<AnyObject>,
  selection: Selection,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  looker: Looker,
): Promise<void> {
  let version: string | undefined;
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const list = await client.listAll({ ...selection, signal });
        version = list.resourceVersion;
        looker.all(list.items);
      }
      for await (const event of client.watch({ ...selection, resourceVersion: version, signal })) {
        version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
        if (event.type !== 'BOOKMARK') looker.changed(event.object, event.type === 'DELETED');
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isKubeError(error, 'KUBE_GONE')) version = undefined;
      else if (version === undefined || !isKubeError(error, 'KUBE_CONNECTION_LOST', 'KUBE_UNREACHABLE')) throw error;
      else {
        looker.lost(error);
        await clock.sleep(PAUSE_MS, signal).catch(() => undefined); // Ctrl-C ends the wait
      }
    }
  }
}
