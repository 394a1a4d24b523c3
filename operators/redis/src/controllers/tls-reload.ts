/**
 * A renewed certificate reaches servers without a restart: they read their files anew when they are told the same names again. Whether
 * they have is seen at what they show; a volume may be a minute behind its Secret.
 */
import type { Waiting } from '@reeve/runtime';
import type { Certificates } from '../api/certificates.ts';
import type { RedisPort } from '../api/port.ts';
import type { Endpoint } from '../api/view.ts';
import { endpointOf, type PodMember } from '../plan/pods.ts';
import type { ServedTls } from './tls.ts';

/** Fingerprints by the uid of the pod whose server was seen to show them. Losing it costs a look. */
export type ShownCertificates = Map<string, string>;

const FILES = ['tls-cert-file', 'tls-key-file', 'tls-ca-cert-file'];

export interface Reload {
  readonly members: readonly PodMember[];
  readonly redis: RedisPort;
  readonly certificates: Certificates;
  readonly served: ServedTls;
  readonly shown: ShownCertificates;
}

/** Who still shows another one is waited for. */
export async function reloadCertificates(reload: Reload): Promise<readonly Waiting[]> {
  const { members, shown, served } = reload;
  const living = new Set(members.map(({ uid }) => uid));
  for (const uid of shown.keys()) if (!living.has(uid)) shown.delete(uid);
  const unsure = members.filter(({ uid, node }) => node && shown.get(uid) !== served.fingerprint);
  const late = await Promise.all(unsure.map(async (pod) => ((await isCurrent(pod, reload)) ? [] : [pod.name])));
  const names = late.flat();
  if (names.length === 0) return [];
  const message = `${names.slice(0, 5).join(', ')} to show the new certificate: its files reach a pod with some delay`;
  return [{ reason: 'CertificateReload', message, subjects: names.slice(0, 16) }];
}

async function isCurrent(pod: PodMember, { redis, certificates, served, shown }: Reload): Promise<boolean> {
  const endpoint = endpointOf(pod);
  if (!endpoint) return true;
  const isShown = async () => (await certificates.presentedAt(endpoint, served.access)) === served.fingerprint;
  if (!(await isShown())) {
    await readAgain(redis, endpoint);
    if (!(await isShown())) return false;
  }
  shown.set(pod.uid, served.fingerprint);
  return true;
}

/** All in one: certificate and key must fit each other at every moment. What fails shows in what is presented. */
async function readAgain(redis: RedisPort, endpoint: Endpoint): Promise<void> {
  const replies = await redis.reads(
    endpoint,
    FILES.map((file) => ['CONFIG', 'GET', file]),
  );
  const values = replies.map((reply) => (Array.isArray(reply) ? String(reply[1] ?? '') : ''));
  if (values.some((value) => value === '')) return;
  const pairs = FILES.flatMap((file, index) => [file, values[index] ?? '']);
  await redis.reads(endpoint, [['CONFIG', 'SET', ...pairs]]);
}
