/** A declared Redis cluster whose certificates somebody else keeps, on `reeve up`: what the operator would not believe never reaches a server. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { type KubeObject, resource } from '@reeve/kube';
import { pods } from '@reeve/local-node';
import { type KeyPair, presentedCertificate, redisClusters } from '@reeve/redis';
import { until } from '@reeve/rig';
import { certificateMaker } from '../src/certificates/make.ts';
import { Machine } from '../src/up/plane-testing.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secrets = resource<Secret>({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });
const NAMESPACE = 'default';
const PATIENCE = { timeoutMs: 120_000 };
const NAME = 'c.default.svc';
const life = { from: Date.parse('2020-01-01T00:00:00Z'), until: Date.parse('2099-01-01T00:00:00Z') };

test('a certificate of another name, of one usage, or of an authority that has ended is refused; a good one reaches all', async (t) => {
  const machine = Machine.start(t);
  await machine.up();
  const client = await machine.client();
  const clusters = client.resource(redisClusters, NAMESPACE);
  const kept = client.resource(secrets, NAMESPACE);
  const authority = await certificateMaker.authority(life);
  const names = (name: string) => ({ dns: [name], ips: [] });
  const put = async ({ certificate, key }: KeyPair, ca = authority) => {
    const parts = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca.certificate };
    const coded = Object.entries(parts).map(([part, text]) => [part, Buffer.from(text).toString('base64')] as const);
    const secret = { metadata: { name: 'kept' }, type: 'Opaque', data: Object.fromEntries(coded) };
    await kept.apply(secret, { fieldManager: 'somebody', force: true });
  };
  const status = async () => (await clusters.get('c')).status ?? {};
  const refusal = async () => (await status()).conditions?.find(({ type }) => type === 'CertificateRefused');
  const refused = (reason: string) =>
    until(
      reason,
      async () => {
        const said = await refusal();
        return said?.status === 'True' && said.reason === reason;
      },
      PATIENCE,
    );
  const shown = async ({ certificate: cert, key }: KeyPair) => {
    const access = { ca: authority.certificate, cert, key, servername: NAME };
    const { items } = await client.resource(pods, NAMESPACE).list({ labelSelector: 'redis.reeve.dev/cluster=c' });
    const all = items.map((pod) => presentedCertificate({ host: pod.status?.podIP ?? '', port: 6379 }, access));
    return [...new Set(await Promise.all(all))];
  };
  const fingerprint = ({ certificate }: KeyPair) => new X509Certificate(certificate).fingerprint256;

  const first = await certificateMaker.peer(authority, names(NAME), life);
  await put(first);
  const tls = { mode: 'secret', secretName: 'kept' };
  const spec = { product: 'redis', primaries: 3, replicasPerPrimary: 0, tls };
  await clusters.create({ metadata: { name: 'c' }, spec } as never);
  await until('it runs', async () => (await status()).phase === 'Running', PATIENCE);

  const ended = await certificateMaker.authority({ ...life, until: Date.parse('2021-01-01T00:00:00Z') });
  await put(await certificateMaker.peer(authority, names('d.default.svc'), life));
  await refused('TlsWrongName');
  await put(await certificateMaker.server(authority, names(NAME), life));
  await refused('TlsWrongUsage');
  await put(await certificateMaker.peer(ended, names(NAME), life), ended);
  await refused('TlsAuthorityUnfit');
  const other = await certificateMaker.authority(life);
  await put(await certificateMaker.peer(other, names(NAME), life), other);
  await refused('TlsAuthorityDropped');
  await kept.delete('c-tls-taken');
  await refused('TlsTakenLost');
  assert.equal(await kept.find('c-tls-taken'), undefined);
  assert.deepEqual(await shown(first), [fingerprint(first)], 'servers go on with what they have');

  await put(first);
  await until('what they have is there again', () => kept.find('c-tls-taken'), PATIENCE);
  const next = await certificateMaker.peer(authority, names(NAME), life);
  await put(next);
  await until('all show the next one', async () => (await shown(next)).join() === fingerprint(next), PATIENCE);
  await until('it runs', async () => (await status()).phase === 'Running', PATIENCE);
  assert.equal((await refusal())?.status, 'False');
});
