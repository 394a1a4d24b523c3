/** What a server refuses, as an error with the Status inside. */
import { KubeError, type KubeErrorCode } from '../errors/errors.ts';
import { parseJson } from '../json/parse.ts';
import { isStatus, type Status } from '../object/status.ts';

/**
 * What kube-apiserver answers with a bare 500 when an applied object does not fit its schema: an unknown field, a wrong type.
 * Nothing was done, and nothing will be until the object is mended.
 */
const NOT_APPLICABLE = /^failed to create typed patch object /;

/** How much of an answer that is no Status goes into a message. */
const MOST_TEXT = 300;

export function failure(
  what: string,
  http: number,
  text: string,
  headers: Readonly<Record<string, string | undefined>>,
) {
  return statusError(what, readStatus(http, text), retryAfter(headers['retry-after']));
}

/** @param what was asked: method and path. */
export function statusError(what: string, status: Status, retryAfterMs?: number): KubeError {
  const seconds = status.details?.retryAfterSeconds;
  const wait = retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  return new KubeError(codeOf(status), `${what}: ${status.message ?? status.reason ?? `status ${status.code}`}`, {
    subjects: [what],
    status,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

function readStatus(code: number, text: string): Status {
  try {
    const value: unknown = parseJson(text);
    if (isStatus(value)) return { ...value, code: value.code ?? code };
  } catch {
    // A proxy's page, not a Status.
  }
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    message: text.trim().slice(0, MOST_TEXT) || `status ${code}`,
  };
}

function codeOf({ code = 0, reason, message = '', details }: Status): KubeErrorCode {
  if (details?.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge')) return 'KUBE_VERSION_TOO_LARGE';
  switch (code) {
    case 400:
    case 413:
    case 415:
    case 422:
      return 'KUBE_INVALID';
    case 401:
      return 'KUBE_UNAUTHORIZED';
    case 403:
      return 'KUBE_FORBIDDEN';
    case 404:
      return 'KUBE_NOT_FOUND';
    case 409:
      return reason === 'AlreadyExists' ? 'KUBE_ALREADY_EXISTS' : 'KUBE_CONFLICT';
    case 410:
      return 'KUBE_GONE';
    case 429:
      return 'KUBE_TOO_MANY_REQUESTS';
    default:
      if (code === 500 && reason === undefined && NOT_APPLICABLE.test(message)) return 'KUBE_INVALID';
      return code >= 500 ? 'KUBE_SERVER_ERROR' : 'KUBE_REFUSED';
  }
}

/** Kubernetes sends seconds; the form with a date is not used there, and would compare two clocks. */
function retryAfter(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}
