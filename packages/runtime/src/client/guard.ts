/**
 * The first line against a leader of the past: a client whose writes belong to one term. When the term is over, or its lease was
 * not renewed in time, nothing but reads leaves this process. It cannot help a process that was paused between this check and
 * the socket: that is what the policy in the server is for (docs/designs/0010-manager.md).
 */
import type { Transport, TransportRequest } from '@reeve/kube';
import { ReeveError } from '../errors/errors.ts';
import { isRead } from './traffic.ts';

/** A time of leadership, as a write sees it. */
export interface WriteTerm {
  /** True while a write may begin. */
  isValid(): boolean;
  /** Aborted when the term ends, for whatever reason. */
  readonly signal: AbortSignal;
  /** `transitions/holder`: what the server compares with its Lease. */
  readonly token: string;
}

/** Headers by which a write says in which term it was sent. */
export type TermHeaders = (token: string) => NonNullable<TransportRequest['headers']>;

export function guarded(transport: Transport, term: WriteTerm, headersOf?: TermHeaders): Transport {
  return async (request) => {
    if (isRead(request)) return transport(request);
    demand(term, request);
    const headers = { ...request.headers, ...headersOf?.(term.token) };
    // A write that waits for a connection when the term ends must not be sent afterwards.
    using both = eitherSignal(request.signal, term.signal);
    return await transport({ ...request, headers, signal: both.signal });
  };
}

function demand(term: WriteTerm, { method, path }: TransportRequest): void {
  if (term.isValid()) return;
  const what = `${method} ${path.split('?', 1)[0]}`;
  throw new ReeveError('NOT_LEADING', `${what}: the term in which this was decided is over`, { subjects: [what] });
}

/** Not AbortSignal.any: a term lives for weeks, and each request would leave something behind in it. */
function eitherSignal(one: AbortSignal | undefined, other: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const signals = one ? [one, other] : [other];
  const endings = signals.map((signal) => {
    const end = () => controller.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const remove of endings) remove();
    },
  };
}
