/**
 * What a control plane can be asked for besides the Kubernetes API: to end with its pods, for a copy of its store, and for its metrics.
 * For whoever has the right to these paths; `system:masters` has.
 */
import { readBody, type TransportRequest, type TransportResponse } from '@reeve/kube';

export const DOWN_PATH = '/reeve/down';
export const BACKUP_PATH = '/reeve/backup';
/** As of a Kubernetes API server, so that whoever gathers metrics knows where to look: `kubectl get --raw /metrics`. */
export const METRICS_PATH = '/metrics';

export interface OwnPaths {
  /** Is answered before it is done. */
  down(): void;
  /** The bytes of a whole store. */
  backup(): AsyncIterable<Uint8Array>;
  /** Of controllers and operators, as Prometheus reads them. */
  metrics(): string;
}

type Handle = (request: TransportRequest) => Promise<TransportResponse>;

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const MOST_REVIEW = 1024 * 1024;
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const JSON_TYPE = { 'content-type': 'application/json' };

/** @param handle of the API server, which also knows who somebody is and what he may do. */
export function withOwnPaths(handle: Handle, paths: OwnPaths): Handle {
  return async (request) => {
    const [path = ''] = request.path.split('?', 1);
    const answer = answerTo(`${request.method} ${path}`, paths);
    return answer ? ((await refusal(handle, request, path)) ?? answer()) : handle(request);
  };
}

function answerTo(asked: string, { down, backup, metrics }: OwnPaths): (() => TransportResponse) | undefined {
  switch (asked) {
    case `POST ${DOWN_PATH}`:
      return () => {
        down();
        return { status: 202, headers: JSON_TYPE, body: Buffer.from('{}') };
      };
    case `GET ${BACKUP_PATH}`:
      return () => ({ status: 200, headers: { 'content-type': 'application/octet-stream' }, body: backup() });
    case `GET ${METRICS_PATH}`:
      return () => ({ status: 200, headers: { 'content-type': METRICS_TYPE }, body: Buffer.from(metrics()) });
    default:
      return undefined;
  }
}

/** The server is asked with the same credentials; what it says to strangers is said here, too. */
async function refusal(
  handle: Handle,
  { method, headers, signal }: TransportRequest,
  path: string,
): Promise<TransportResponse | undefined> {
  const body = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { nonResourceAttributes: { path, verb: method.toLowerCase() } },
  });
  const { 'content-length': _length, ...rest } = headers ?? {};
  const asked = { ...rest, ...JSON_TYPE, accept: 'application/json' };
  const review = await handle({ method: 'POST', path: REVIEWS, headers: asked, body, ...(signal && { signal }) });
  if (review.status !== 201) return review;
  const { status } = JSON.parse((await readBody(review.body, MOST_REVIEW)).toString()) as {
    readonly status?: { readonly allowed?: boolean };
  };
  if (status?.allowed === true) return undefined;
  const message = `forbidden: no right to ${method.toLowerCase()} ${path}`;
  const answer = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403, message };
  return { status: 403, headers: JSON_TYPE, body: Buffer.from(JSON.stringify(answer)) };
}
