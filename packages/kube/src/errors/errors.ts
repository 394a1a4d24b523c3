/**
 * Errors of the client. `KubeError` has the shape of the runtime's `ReeveError` (code, message, subjects) without
 * importing it: the client depends on nothing of ours (docs/designs/0004-kube-client.md).
 */
import type { Status } from '../object/status.ts';

interface ErrorDescription {
  readonly meaning: string;
  readonly remedy: string;
}
type ErrorCatalog = Readonly<Record<string, ErrorDescription>>;

export interface KubeErrorOptions {
  /** What the error is about: a file, a host, an object's path. Never a secret. */
  readonly subjects?: readonly string[];
  readonly cause?: unknown;
  /** What the server said, whole. */
  readonly status?: Status;
  /** When the server wants to be asked again, in milliseconds. */
  readonly retryAfterMs?: number;
}

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  readonly subjects: readonly string[];
  readonly status: Status | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, options: KubeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'KubeError';
    this.code = code;
    this.subjects = options.subjects ?? [];
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Whether `error` is one of ours with one of these codes. */
export function isKubeError(error: unknown, ...codes: readonly KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
}

export const kubeErrors = {
  KUBE_JSON: {
    meaning: 'Text that should be JSON is not, or holds what we refuse: a key twice, `__proto__`, too deep nesting.',
    remedy: 'The message names the place. If a server sent it, something between us and it changes its answers.',
  },
  KUBECONFIG_MISSING: {
    meaning: 'There is no kubeconfig, or none that says which cluster to use.',
    remedy:
      'Set KUBECONFIG, or write ~/.kube/config with a current-context; in a pod, let it have its service account.',
  },
  KUBECONFIG_INVALID: {
    meaning: 'A kubeconfig cannot be read or contradicts itself. The message names file and field.',
    remedy: 'Mend the field; `kubectl config view` shows what kubectl makes of the file.',
  },
  KUBECONFIG_UNSUPPORTED: {
    meaning: 'A kubeconfig asks for something this client does not do.',
    remedy: 'For old auth providers use an exec plugin; instead of proxy-url use an address that needs none.',
  },
  KUBE_CREDENTIALS: {
    meaning: 'There are no credentials to send: a file is missing, or a credential plugin failed.',
    remedy: 'The message names file or plugin. Log in again with the tool that made the kubeconfig.',
  },
  KUBE_UNREACHABLE: {
    meaning: 'No connection to the API server: nothing was sent.',
    remedy: 'Check the address in the kubeconfig, the network, and that the server runs.',
  },
  KUBE_TLS: {
    meaning: 'The API server and we do not trust each other’s certificates: nothing was sent.',
    remedy: 'Check the certificate authority, the name in the server’s certificate (tls-server-name) and their dates.',
  },
  KUBE_CONNECTION_LOST: {
    meaning: 'The connection broke before the answer was complete; whether the server acted is not known.',
    remedy: 'Read the object, then decide. A watch goes on from the last version it saw.',
  },
  KUBE_NO_HTTP2: {
    meaning: 'The server, or something before it, does not speak HTTP/2. The client goes on with HTTP/1.1.',
    remedy: 'Nothing, unless many watches are held: then look what stands between.',
  },
  KUBE_TOO_LARGE: {
    meaning: 'An answer was larger than the client is willing to hold.',
    remedy: 'Ask for less (selectors, smaller pages) or raise the limit.',
  },
  KUBE_TIMEOUT: {
    meaning: 'The server did not answer in time; whether it acted is not known.',
    remedy: 'Read the object, then decide.',
  },
  KUBE_UNAUTHORIZED: {
    meaning: 'The server does not know who we are (401), also after credentials were refreshed.',
    remedy: 'Log in again with the tool that made the kubeconfig.',
  },
  KUBE_FORBIDDEN: {
    meaning: 'The server knows us and does not let us do this (403).',
    remedy: 'The message names verb and resource: give the role or service account that right.',
  },
  KUBE_NOT_FOUND: {
    meaning: 'The object, or the whole kind, does not exist (404).',
    remedy: 'Check name and namespace; for a custom kind, that its CRD is installed in this version.',
  },
  KUBE_ALREADY_EXISTS: {
    meaning: 'An object of that name exists already (409).',
    remedy: 'Read it and decide, or use apply.',
  },
  KUBE_CONFLICT: {
    meaning:
      'The object changed since it was read, a precondition does not hold, or a field belongs to another manager (409).',
    remedy: 'Read it again and decide anew; for apply, take the field over with force or leave it alone.',
  },
  KUBE_GONE: {
    meaning: 'The version or page asked for is no longer kept (410).',
    remedy: 'List again from the beginning.',
  },
  KUBE_INVALID: {
    meaning:
      'The server does not accept what was sent (400, 413, 415, 422; for an apply that does not fit its schema a bare 500). The causes, or the message, name the fields.',
    remedy: 'Mend the object, or the question: the message names what is wrong with it.',
  },
  KUBE_TOO_MANY_REQUESTS: {
    meaning: 'The server is busy and said so again and again (429).',
    remedy: 'Ask less often; `retryAfterMs` says when.',
  },
  KUBE_VERSION_TOO_LARGE: {
    meaning: 'The server has not yet seen the version that was asked for.',
    remedy: 'Ask again shortly, or without a version.',
  },
  KUBE_SERVER_ERROR: {
    meaning: 'The server failed (5xx); whether it acted is not known.',
    remedy: 'Read the object, then decide. If it stays, look at the server’s log.',
  },
  KUBE_REFUSED: {
    meaning: 'The server refused the request for another reason; the message is its own.',
    remedy: 'Do what the message says.',
  },
} as const satisfies ErrorCatalog;

export type KubeErrorCode = keyof typeof kubeErrors;
