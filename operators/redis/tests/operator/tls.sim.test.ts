/** Clusters with TLS: certificates of their own, and those that somebody else keeps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyPair } from '../../src/api/certificates.ts';
import { secrets } from '../../src/api/kinds.ts';
import { plainCertificates, saidBy } from './certificates.ts';
import { assertHeld, write } from './keys.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;

test('a cluster with TLS has an authority of its own; what is lost of it is made anew, and the old one stays trusted', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { tls: { mode: 'selfSigned' } });
  await world.until('the cluster runs', isRunning(world));
  const part = (secret: string, key: string) => Buffer.from(world.secret(secret)?.[key] ?? '', 'base64').toString();
  const [ca, first] = [part('c-ca', 'ca.crt'), part('c-tls', 'tls.crt')];
  assert.deepEqual(Object.keys(world.secret('c-tls') ?? {}).sort(), ['ca.crt', 'tls.crt', 'tls.key']);
  assert.equal(saidBy(first)?.by, saidBy(ca)?.id);
  assert.ok(saidBy(first)?.names.includes('c.ns.svc'));
  await world.deleteSecret('c-tls');
  await world.until('there is another certificate', () => ![undefined, '', first].includes(part('c-tls', 'tls.crt')));
  assert.equal(part('c-ca', 'ca.crt'), ca, 'by the same authority');
  await world.deleteSecret('c-ca');
  await world.until('there is another authority', () => ![undefined, '', ca].includes(part('c-ca', 'ca.crt')));
  await world.until('servers trust it', () => part('c-tls', 'ca.crt').includes(part('c-ca', 'ca.crt')));
  assert.ok(part('c-tls', 'ca.crt').endsWith(ca), 'and the one before');
  await world.until('the cluster runs', isRunning(world));
});

test('a certificate that is renewed while slots move disturbs nobody', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { tls: { mode: 'selfSigned' } });
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 40);
  await world.patch('c', { spec: { primaries: 4 } });
  await world.until('slots move', () => world.status('c').currentOperation?.kind === 'rebalance', 900_000);
  const before = world.secret('c-tls')?.['tls.crt'];
  await world.deleteSecret('c-tls');
  await world.until(
    'there is another certificate',
    () => ![undefined, before].includes(world.secret('c-tls')?.['tls.crt']),
  );
  await world.until('it has grown', () => isRunning(world)() && world.status('c').replicas === 4, 900_000);
  const failed = world.status('c').operations?.filter(({ outcome }) => outcome !== 'done');
  assert.deepEqual(failed, []);
  assertHeld(world, keys);
});

test('a cluster whose certificates somebody else keeps waits for them', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { tls: { mode: 'secret', secretName: 'from-elsewhere' } });
  await world.until(
    'it says so',
    () => world.status('c').waitingFor?.some(({ reason }) => reason === 'TlsSecret') ?? false,
  );
  assert.equal(world.set('c'), undefined);
});

test('an authority that others keep is changed step by step; what would lock servers out is refused, with what to do', async (t) => {
  const world = await OperatorWorld.start(t);
  let made = 0;
  const certificates = plainCertificates({ next: (prefix) => `${prefix}-of-somebody-${++made}` });
  const life = { from: 0, until: world.clock.now() + 30 * 86_400_000 };
  const [old, other] = [await certificates.authority(life), await certificates.authority(life)];
  const put = async (signer: KeyPair, ca: readonly KeyPair[]) => {
    const { certificate, key } = await certificates.peer(signer, ['c.ns.svc'], life);
    const parts = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca.map((one) => one.certificate).join('') };
    const coded = Object.entries(parts).map(([name, text]) => [name, Buffer.from(text).toString('base64')] as const);
    const secret = { metadata: { name: 'c-tls' }, type: 'Opaque', data: Object.fromEntries(coded) };
    const options = { fieldManager: 'somebody', force: true };
    await world.api.client.resource(secrets, NAMESPACE).apply(secret as never, options);
  };
  const condition = () => world.status('c').conditions?.find(({ type }) => type === 'CertificateRefused');
  const isTaken = () => {
    const [taken, kept] = [world.secret('c-tls-taken') ?? {}, world.secret('c-tls') ?? {}];
    const isSame = Object.entries(kept).every(([name, text]) => taken[name] === text);
    return isSame && condition()?.status !== 'True' && isRunning(world)();
  };
  await put(old, [old]);
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' } });
  await world.until('the cluster runs', isTaken);
  const given = world.secret('c-tls-taken');
  const keys = await write(world, 40);
  for (const [ca, reason] of [
    [[other], 'TlsAuthorityDropped'],
    [[old, other], 'TlsAuthorityUnknown'],
  ] as const) {
    await put(other, ca);
    await world.until('it is refused', () => condition()?.status === 'True' && condition()?.reason === reason);
    await world.pass(30_000);
    assert.deepEqual(world.secret('c-tls-taken'), given, 'servers go on with what they have');
    assert.equal(world.status('c').phase, 'Running');
  }
  for (const [signer, ca] of [
    [old, [old, other]],
    [other, [old, other]],
    [other, [other]],
  ] as const) {
    await put(signer, ca);
    await world.until('servers are given it', isTaken);
  }
  assert.equal(condition()?.status, 'False');
  await world.deleteSecret('c-tls');
  await world.until('it is missed', () => condition()?.status === 'True');
  await world.pass(30_000);
  assert.equal(world.status('c').phase, 'Running', 'and servers go on');
  assertHeld(world, keys);
});
