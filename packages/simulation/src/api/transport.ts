/** The way of one life to the API server: every request, and every delivery of events, is an effect. */
import type { Random, Transport, TransportRequest, TransportResponse } from '@reeve/kube';
import type { Incarnation } from '../incarnation.ts';
import { Feed } from './feed.ts';
import type { ApiWorld } from './world.ts';

/** How long a caller waits for an answer; the request may still be carried out afterwards. */
const TIMEOUT_MS = 10_000;

/** Late, lost, answered with an error although it happened, or the last thing that a process did. */
export function simulatedTransport(world: ApiWorld, life: Incarnation): Transport {
  return async (request) => {
    request.signal?.throwIfAborted();
    const { label, detail, plural } = contactOf(request);
    const carried = async () =>
      life.effect(label, {
        detail,
        latencyMs: 1,
        timeoutMs: TIMEOUT_MS,
        failure: (kind) => lost(kind, label, life.ports.random),
        // What it answers is there before the next effect: the server needs no time.
        apply: () => exchange(world, life, request),
      });
    const { response, feed, kept } = await orAborted(carried(), request.signal);
    if (response.status >= 400) life.say(`${label} ${detail}: ${response.status}`);
    if (!feed) return response;
    feed.isClaimed = true;
    return { ...response, body: deliveries(life, plural, feed, kept, request.signal) };
  };
}

interface Exchange {
  readonly response: TransportResponse;
  /** Of a watch. */
  readonly feed?: Feed;
  readonly kept?: Disposable;
}

async function exchange(world: ApiWorld, life: Incarnation, request: TransportRequest): Promise<Exchange> {
  const response = await world.serve(request);
  if (!request.streaming || response.body instanceof Uint8Array) return { response };
  const feed = new Feed(response.body, () => life.alive);
  return { response, feed, kept: world.keep(feed) };
}

async function* deliveries(
  life: Incarnation,
  plural: string,
  feed: Feed,
  kept: Disposable | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  using _kept = kept;
  const label = `watch ${plural}`;
  for (;;) {
    const delivered = life.effect(label, {
      when: () => feed.hasNews || signal?.aborted === true,
      apply: () => feed.take(),
      latencyMs: 1,
      failure: (kind) => lost(kind, label, life.ports.random),
    });
    const bytes = await orAborted(delivered, signal);
    if (bytes === undefined) return;
    yield bytes;
  }
}

interface Contact {
  /** Verb and collection: few different ones. */
  readonly label: string;
  readonly detail: string;
  readonly plural: string;
}

function contactOf({ method, path, streaming }: TransportRequest): Contact {
  const parts = (path.split('?', 1)[0] as string).split('/').slice(1);
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [plural = path, name, subresource] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  return { label: `${verbOf(method, name, subresource, streaming)} ${plural}`, detail: name ?? '', plural };
}

function verbOf(
  method: TransportRequest['method'],
  name: string | undefined,
  subresource: string | undefined,
  streaming: boolean | undefined,
): string {
  if (streaming) return 'open';
  if (method === 'GET') return name === undefined ? 'list' : 'get';
  const verb = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method];
  return subresource === undefined ? verb : `${verb} ${subresource}`;
}

/**
 * What the caller is told of a request that did not happen, or whose answer got lost, as the client tells it: a broken connection, a
 * time-out, or a 500. None but a refused connection says whether it happened.
 */
function lost(kind: 'fail-before' | 'fail-after' | 'timeout', label: string, random: Random): Error {
  const message = `${kind} at ${label}`;
  const throwOf = (code: string, more: object = {}) =>
    Object.assign(new Error(message), { code, subjects: [label], ...more });
  const third = kind === 'timeout' ? 0 : Math.floor(random.next() * 3);
  if (third === 0) return throwOf('KUBE_TIMEOUT');
  if (third === 1) return throwOf(kind === 'fail-before' ? 'KUBE_UNREACHABLE' : 'KUBE_CONNECTION_LOST');
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500, reason: 'InternalError', message };
  return throwOf('KUBE_SERVER_ERROR', { status });
}

/** The caller gives up; what it asked for is still on its way. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
