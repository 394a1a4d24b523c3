/** `pods/log`: what a container wrote, as text, as long as it writes if so wished. */
import type { TransportResponse } from '@reeve/kube';
import { textOf } from '../object/draft.ts';
import { internalError } from '../status/refusal.ts';
import type { Found } from './find.ts';
import { containerOf, logRefusal } from './container.ts';
import { readLogQuery } from './log-options.ts';
import type { PodAccess } from './pod-access.ts';

const HEADERS = { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' };

export async function readPodLog(
  access: PodAccess,
  { pod, namespace, node }: Found,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<TransportResponse> {
  const name = textOf(pod.metadata.name);
  const { container: wanted, limitBytes, ...options } = readLogQuery(query, name);
  const container = containerOf(pod, wanted);
  // Nobody has it yet: there is nothing to read, and nothing wrong.
  if (node === '') return { status: 204, headers: HEADERS, body: new Uint8Array() };
  const refusal = logRefusal(pod, container, options.previous);
  if (refusal) throw refusal;
  const at = { namespace, name, uid: textOf(pod.metadata.uid), node, container };
  const read = await access.logs(at, options, signal).catch((error: unknown) => {
    throw internalError(error instanceof Error ? error.message : String(error));
  });
  return { status: 200, headers: HEADERS, body: withoutEndings(limited(read, limitBytes), signal) };
}

/** No more than so many bytes in all. */
async function* limited(
  read: AsyncIterable<Uint8Array>,
  most: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = most ?? Number.POSITIVE_INFINITY;
  for await (const chunk of read) {
    yield chunk.length <= left ? chunk : chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

/** Whoever went away, or a server that stops, ends the reading: that is no failure. */
async function* withoutEndings(
  read: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* read;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
