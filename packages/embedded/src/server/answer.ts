/** Answers as the transport wants them. */
import { KubeError, type TransportResponse } from '@reeve/kube';
import { EmbeddedError } from '../errors/errors.ts';
import type { Outcome } from '../rest/context.ts';
import { internalError, Refusal } from '../status/refusal.ts';

/** Lists larger than this are sent in pieces of this size. */
const PIECE = 256 * 1024;

const headers = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  'content-type': 'application/json',
  'cache-control': 'no-cache, private',
  ...more,
});

export function answer(status: number, text: string, more: Readonly<Record<string, string>> = {}): TransportResponse {
  return { status, headers: headers(more), body: Buffer.from(text) };
}

export function answerOutcome({ code, text, warnings }: Outcome): TransportResponse {
  return answer(code, text, warningHeader(warnings));
}

const warningHeader = (warnings: readonly string[]): { readonly warning?: string } =>
  warnings.length === 0 ? {} : { warning: warnings.map(warningText).join(', ') };

export function withWarning({ headers: sent, ...rest }: TransportResponse, text: string): TransportResponse {
  const others = sent.warning === undefined ? '' : `, ${String(sent.warning)}`;
  return { ...rest, headers: { ...sent, warning: `${warningText(text)}${others}` } };
}

/** RFC 7234; a header holds no line breaks and no characters beyond Latin-1. */
function warningText(text: string): string {
  return `299 - ${JSON.stringify(text.replace(/[^\x20-\x7e]/g, '?').slice(0, 256))}`;
}

export const answerJson = (value: object): TransportResponse => answer(200, JSON.stringify(value));

export function answerTexts(texts: Iterable<string>): TransportResponse {
  const pieces = piecesOf(texts);
  const first = pieces.next();
  const second = pieces.next();
  if (second.done === true) return { status: 200, headers: headers(), body: first.value ?? Buffer.alloc(0) };
  async function* all(): AsyncGenerator<Uint8Array, void, undefined> {
    yield first.value as Buffer;
    yield second.value as Buffer;
    yield* pieces;
  }
  return { status: 200, headers: headers(), body: all() };
}

function* piecesOf(texts: Iterable<string>): Generator<Buffer, void, undefined> {
  let begun = '';
  for (const text of texts) {
    begun += text;
    if (begun.length < PIECE) continue;
    yield Buffer.from(begun);
    begun = '';
  }
  if (begun !== '') yield Buffer.from(begun);
}

export function answerStream(body: AsyncIterable<Uint8Array>): TransportResponse {
  return { status: 200, headers: headers(), body };
}

/** What went wrong, as a Status. What nobody foresaw is an internal error; its text stays with the server. */
export function answerError(error: unknown, onError: (error: unknown) => void): TransportResponse {
  const refusal = refusalOf(error);
  if (refusal.status.code === 500 && !(error instanceof Refusal)) onError(error);
  const seconds = refusal.status.details?.retryAfterSeconds;
  const more = {
    ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
    ...warningHeader(refusal.warnings),
  };
  return answer(refusal.status.code ?? 500, JSON.stringify(refusal.status), more);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof EmbeddedError) return internalError(`${error.code}: ${error.message}`);
  if (error instanceof KubeError) return internalError(error.code);
  return internalError('the server failed; its log has the reason');
}
