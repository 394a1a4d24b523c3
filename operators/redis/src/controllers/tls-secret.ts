/** Secrets with certificates: `tls.crt`, `tls.key` and `ca.crt`. */
import type { DeepReadonly } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { TlsAccess } from '../api/certificates.ts';
import { type RedisClusterObject, type Secret, secrets } from '../api/kinds.ts';
import { labelsOf } from '../plan/children.ts';
import { textOf } from './credentials.ts';

type MaybeSecret = DeepReadonly<Secret> | undefined;

/** Asked live: it may have been written a moment ago, and its owner may be somebody else. */
export function findSecret(work: Reconcile<RedisClusterObject>, name: string): Promise<MaybeSecret> {
  return work.api.resource(secrets, work.object.metadata.namespace ?? '').find(name, { signal: work.signal });
}

/** How servers are reached with what is in their Secret; undefined if something of it is missing. */
export function tlsAccessOf(secret: MaybeSecret, servername: string): TlsAccess | undefined {
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((part) => textOf(secret as Secret | undefined, part));
  return cert && key && ca ? { ca, cert, key, servername } : undefined;
}

export function tlsSecret(name: string, cluster: string, parts: Readonly<Record<string, string>>) {
  const data = Object.entries(parts).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
  return { metadata: { name, labels: labelsOf(cluster) }, type: 'Opaque', data: Object.fromEntries(data) };
}
