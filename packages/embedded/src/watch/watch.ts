/** GET with watch=true: the changes of a collection, from a version on, or after everything that is there. */
import { expired, Refusal, tooLargeVersion } from '../status/refusal.ts';
import type { Entry, StoreEvent } from '../store/entry.ts';
import type { Context, Target } from '../rest/context.ts';
import { type ListOptions, versionNumber } from '../rest/list-options.ts';
import { isEverything, matches, type Selection } from '../rest/present.ts';
import { scopeOf } from '../rest/read.ts';
import { addedLine, bookmarkLine, errorLine, eventLine, type EventType, type View } from '../rest/view.ts';
import type { Line } from './line.ts';
import { WatchStream } from './stream.ts';

export interface WatchLimits {
  /** Bytes that may wait for one reader. Default 16 MB. */
  readonly maxBufferedBytes?: number;
  /** How often a watch that asked for them gets a bookmark. Default a minute. */
  readonly bookmarkMs?: number;
}

/** The server's own limit of a watch without one: this, and up to twice as long. */
const LEAST_TIMEOUT_S = 1800;
/** The last bookmark comes a little before the end, so that the next watch begins where this one ended. */
const BEFORE_END_MS = 2_000;

export function watchObjects(
  context: Context,
  target: Target,
  view: View,
  options: ListOptions,
  limits: WatchLimits,
  signal: AbortSignal | undefined,
): WatchStream {
  const { store } = context;
  const resource = target.served.kind.stored;
  const wanted = versionNumber(options.resourceVersion);
  const isNewest = wanted === 0n;
  const problem = refusal(context, wanted, options);
  if (problem !== undefined) return ended(problem);

  const scope = scopeOf(target);
  const stop = new AbortController();
  const { maxBufferedBytes = 16 * 1024 * 1024, bookmarkMs = 60_000 } = limits;
  const initial =
    options.initialEvents === true
      ? initialLines(store.range({ resource, namespace: scope }), store.revision)
      : undefined;
  const stream = new WatchStream(initial, maxBufferedBytes, () => stop.abort());

  function* initialLines(entries: readonly Entry[], revision: number): Generator<Line, void, undefined> {
    for (const entry of entries) if (matches(target.served, options.selection, entry)) yield addedLine(view, entry);
    if (options.bookmarks) yield bookmarkLine(view, revision, true);
  }

  const tell = (events: readonly StoreEvent[]): void => {
    for (const event of events) {
      if (scope !== undefined && event.entry.key.namespace !== scope) continue;
      // A version of the future: nothing before it is wanted.
      if (!isNewest && wanted > 0n && BigInt(event.revision) <= wanted) continue;
      const type = typeOf(event, target, options.selection);
      if (type !== undefined) stream.push(eventLine(view, event, type));
    }
  };
  if (initial === undefined && !isNewest) tell(store.since(resource, Number(wanted)));
  const listening = store.listen(resource, tell);
  stop.signal.addEventListener('abort', () => listening[Symbol.dispose](), { once: true });
  const onAbort = (): void => stream.fail(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  stop.signal.addEventListener('abort', () => signal?.removeEventListener('abort', onAbort), { once: true });
  void keepTime(context, stream, options, stop.signal, bookmarkMs, () => bookmarkLine(view, store.revision, false));
  return stream;
}

/** What cannot be told from the version that was asked for. */
function refusal({ store }: Context, wanted: bigint, { initialEvents }: ListOptions): Refusal | undefined {
  if (initialEvents === true) {
    return wanted > BigInt(store.revision) ? tooLargeVersion(wanted, store.revision) : undefined;
  }
  if (wanted === 0n || wanted >= BigInt(store.compacted)) return undefined;
  return expired(`too old resource version: ${wanted} (${store.compacted})`);
}

/** Once a watch is allowed, what goes wrong is told as its only event. */
function ended({ status }: Refusal): WatchStream {
  const stream = new WatchStream(undefined, Number.POSITIVE_INFINITY, () => undefined);
  stream.push(errorLine(status));
  stream.end();
  return stream;
}

function typeOf(event: StoreEvent, { served }: Target, selection: Selection): EventType | undefined {
  const { entry, previous, deleted } = event;
  const everything = isEverything(selection);
  const is = !deleted && (everything || matches(served, selection, entry));
  const was = previous !== undefined && (everything || matches(served, selection, previous));
  if (is) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}

async function keepTime(
  { clock, random }: Context,
  stream: WatchStream,
  { timeoutSeconds, bookmarks }: ListOptions,
  stopped: AbortSignal,
  bookmarkMs: number,
  bookmark: () => Line,
): Promise<void> {
  const seconds = timeoutSeconds ? timeoutSeconds : LEAST_TIMEOUT_S * (1 + random.next());
  const end = clock.now() + seconds * 1000;
  try {
    if (bookmarks) {
      for (;;) {
        const left = end - clock.now() - BEFORE_END_MS;
        if (left <= 0) break;
        await clock.sleep(Math.min(bookmarkMs, left), stopped);
        stream.push(bookmark());
      }
    }
    await clock.sleep(Math.max(0, end - clock.now()), stopped);
    stream.end();
  } catch {
    // The watch ended before its time.
  }
}
