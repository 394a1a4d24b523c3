/** Clusters with TLS: certificates of their own, and those that somebody else keeps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyPair } from '../../src/api/certificates.ts';
import { redisClusters, secrets } from '../../src/api/kinds.ts';
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

/** Somebody who keeps the certificates of the cluster `c` in the Secret `c-tls`. */
function keeper(world: OperatorWorld) {
  let made = 0;
  const certificates = plainCertificates({ next: (prefix) => `${prefix}-of-somebody-${++made}` });
  const life = { from: 0, until: world.clock.now() + 30 * 86_400_000 };
  const authority = () => certificates.authority(life);
  const issue = async (signer: KeyPair, ca: readonly KeyPair[], names: readonly string[] = ['c.ns.svc']) => {
    const { certificate, key } = await certificates.peer(signer, names, life);
    return { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca.map((one) => one.certificate).join('') };
  };
  const put = async (parts: Readonly<Record<string, string>>, name = 'c-tls') => {
    const coded = Object.entries(parts).map(([part, text]) => [part, Buffer.from(text).toString('base64')] as const);
    const secret = { metadata: { name }, type: 'Opaque', data: Object.fromEntries(coded) };
    const options = { fieldManager: 'somebody', force: true };
    await world.api.client.resource(secrets, NAMESPACE).apply(secret as never, options);
  };
  return { authority, issue, put };
}

const refusal = (world: OperatorWorld) =>
  world.status('c').conditions?.find(({ type }) => type === 'CertificateRefused');
const isRefused = (world: OperatorWorld, reason: string) => () =>
  refusal(world)?.status === 'True' && refusal(world)?.reason === reason;
const waits = (world: OperatorWorld, reason: string) =>
  world.status('c').waitingFor?.find((waiting) => waiting.reason === reason);
const isTaken = (world: OperatorWorld) => () => {
  const [taken, kept] = [world.secret('c-tls-taken') ?? {}, world.secret('c-tls') ?? {}];
  const isSame = Object.entries(kept).every(([name, text]) => taken[name] === text);
  return isSame && refusal(world)?.status !== 'True' && isRunning(world)();
};

test('an authority that others keep is changed step by step; what would lock servers out is refused, with what to do', async (t) => {
  const world = await OperatorWorld.start(t);
  const { authority, issue, put } = keeper(world);
  const [old, other] = [await authority(), await authority()];
  await put(await issue(old, [old]));
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' } });
  await world.until('the cluster runs', isTaken(world));
  const given = world.secret('c-tls-taken');
  const keys = await write(world, 40);
  for (const [signer, ca, names, reason] of [
    [other, [other], ['c.ns.svc'], 'TlsAuthorityDropped'],
    [other, [old, other], ['c.ns.svc'], 'TlsAuthorityUnknown'],
    [old, [old], ['d.ns.svc'], 'TlsWrongName'],
  ] as const) {
    await put(await issue(signer, ca, names));
    await world.until('it is refused', isRefused(world, reason));
    await world.pass(30_000);
    assert.deepEqual(world.secret('c-tls-taken'), given, 'servers go on with what they have');
    assert.equal(world.status('c').phase, 'Running');
  }
  for (const [signer, ca] of [
    [old, [old, other]],
    [other, [old, other]],
    [other, [other]],
  ] as const) {
    await put(await issue(signer, ca));
    await world.until('servers are given it', isTaken(world));
  }
  assert.equal(refusal(world)?.status, 'False');
  await world.deleteSecret('c-tls');
  await world.until('it is missed', () => refusal(world)?.status === 'True');
  await world.pass(30_000);
  assert.equal(world.status('c').phase, 'Running', 'and servers go on');
  assertHeld(world, keys);
});

test('the next step waits for the servers that do not show the last one, and says which', async (t) => {
  const world = await OperatorWorld.start(t);
  const { authority, issue, put } = keeper(world);
  const [old, other] = [await authority(), await authority()];
  await put(await issue(old, [old]));
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' } });
  await world.until('the cluster runs', isTaken(world));
  // Its volume does not follow.
  const late = world.serverOf('c-1');
  world.shows = (host) => (host === late.host ? 'the old one' : undefined);
  const both = await issue(old, [old, other]);
  await put(both);
  await world.until('it is waited for', () => waits(world, 'CertificateReload')?.subjects.includes('c-1') ?? false);
  const given = world.secret('c-tls-taken');
  await put(await issue(other, [old, other]));
  await world.until('the next step waits', () => waits(world, 'CertificateStep') !== undefined);
  assert.deepEqual(waits(world, 'CertificateStep')?.subjects, ['c-1']);
  await world.pass(30_000);
  assert.deepEqual(world.secret('c-tls-taken'), given);
  world.shows = () => undefined;
  await world.until('servers are given it', isTaken(world));
  assert.equal(waits(world, 'CertificateStep'), undefined);
});

test('what servers were given and somebody deleted is made again from the same, and from nothing else', async (t) => {
  const world = await OperatorWorld.start(t);
  const { authority, issue, put } = keeper(world);
  const [old, other] = [await authority(), await authority()];
  const first = await issue(old, [old]);
  await put(first);
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' }, storage: { size: '1Gi' } });
  await world.until('the cluster runs', isTaken(world));
  const given = world.secret('c-tls-taken');
  await world.deleteSecret('c-tls-taken');
  await world.until('it is there again', () => world.secret('c-tls-taken') !== undefined);
  assert.deepEqual(world.secret('c-tls-taken'), given);
  await put(await issue(other, [other]));
  await world.until('another one is refused', isRefused(world, 'TlsAuthorityDropped'));
  await world.deleteSecret('c-tls-taken');
  await world.until('it is missed', isRefused(world, 'TlsTakenLost'));
  assert.match(
    refusal(world)?.message ?? '',
    /c-0, c-1.*Bring it back from a copy.*only with `storage`, delete all pods/,
  );
  assert.doesNotMatch(refusal(world)?.message ?? '', /this cluster has no storage/);
  await world.pass(60_000);
  assert.equal(world.secret('c-tls-taken'), undefined, 'nobody knows that it locks nobody out');
  await put(first);
  await world.until('what servers have is back', isTaken(world));
  assert.deepEqual(world.secret('c-tls-taken'), given);
  // A person's way out: servers that have read nothing can be given anything.
  await put(await issue(other, [other]));
  await world.until('another one is refused', isRefused(world, 'TlsAuthorityDropped'));
  const waiting = { waiting: { reason: 'ContainerCreating' } };
  world.kubelet.ails = () => ({ phase: 'Pending', containerStatuses: [{ name: 'server', state: waiting }] });
  await world.deleteSecret('c-tls-taken');
  for (const { metadata } of world.pods) await world.deletePod(metadata?.name ?? '');
  await world.until(
    'pods are given it',
    () => world.secret('c-tls-taken')?.['tls.crt'] === world.secret('c-tls')?.['tls.crt'],
  );
  world.kubelet.ails = () => undefined;
  await world.until('the cluster runs', isTaken(world), 900_000);
});

test('a status that does not say what servers were given is made good by what they show', async (t) => {
  const world = await OperatorWorld.start(t);
  const { authority, issue, put } = keeper(world);
  const [old, other] = [await authority(), await authority()];
  await put(await issue(old, [old]));
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' } });
  await world.until('the cluster runs', isTaken(world));
  const given = world.secret('c-tls-taken');
  const shown = saidBy(Buffer.from(given?.['tls.crt'] ?? '', 'base64').toString())?.id;
  world.shows = () => shown;
  const forget = async () => {
    // As an earlier version left it.
    await world.stopManager();
    await world.api.client
      .resource(redisClusters, NAMESPACE)
      .patch('c', { type: 'merge', value: { status: { tls: null } } }, { subresource: 'status' });
    await world.deleteSecret('c-tls-taken');
    world.startManager();
  };
  await forget();
  await world.until('it is there again', isTaken(world));
  assert.deepEqual(world.secret('c-tls-taken'), given);
  await put(await issue(other, [other]));
  await forget();
  await world.until('it is missed', isRefused(world, 'TlsTakenLost'));
  assert.match(refusal(world)?.message ?? '', /this cluster has no storage: all its data would go with its pods/);
  await world.pass(30_000);
  assert.equal(world.secret('c-tls-taken'), undefined);
});

test('what servers were given and somebody damaged is mended from what the Secret has', async (t) => {
  const world = await OperatorWorld.start(t);
  const { authority, issue, put } = keeper(world);
  const old = await authority();
  const parts = await issue(old, [old]);
  await put(parts);
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' } });
  await world.until('the cluster runs', isTaken(world));
  await put({ ...parts, 'tls.key': 'damaged' }, 'c-tls-taken');
  await world.until('it is mended', isTaken(world));
  await put({ ...parts, 'tls.key': 'garbage' });
  await world.until('garbage is refused', isRefused(world, 'TlsUnfit'));
  await world.deleteSecret('c-tls-taken');
  await world.pass(30_000);
  assert.ok(isRefused(world, 'TlsUnfit')(), 'also when there is nothing to go on with');
  assert.equal(world.secret('c-tls-taken'), undefined);
  await put(parts);
  await world.until('what servers have is back', isTaken(world));
});

test('a Secret that has the name of what servers are given and is somebody else’s is left alone', async (t) => {
  const world = await OperatorWorld.start(t);
  const { authority, issue, put } = keeper(world);
  const old = await authority();
  await put(await issue(old, [old]));
  await put({ mine: 'all of it' }, 'c-tls-taken');
  const theirs = world.secret('c-tls-taken');
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' } });
  await world.until('it is refused', isRefused(world, 'TlsTakenForeign'));
  await world.pass(30_000);
  assert.deepEqual(world.secret('c-tls-taken'), theirs);
  assert.equal(world.set('c'), undefined, 'no pod mounts it');
  assert.deepEqual(waits(world, 'TlsSecret')?.subjects, ['c-tls-taken']);
  await world.deleteSecret('c-tls-taken');
  await world.until('the cluster runs', isTaken(world));
});

test('what was refused is said for as long as nobody has looked again', async (t) => {
  const world = await OperatorWorld.start(t);
  const { authority, issue, put } = keeper(world);
  const [old, other] = [await authority(), await authority()];
  await put(await issue(old, [old]));
  await world.create('c', { tls: { mode: 'secret', secretName: 'c-tls' } });
  await world.until('the cluster runs', isTaken(world));
  await put(await issue(other, [other]));
  await world.until('it is refused', isRefused(world, 'TlsAuthorityDropped'));
  await world.deleteSecret('c-auth');
  await world.until('another Secret is waited for', () => waits(world, 'SecretLost') !== undefined);
  await world.pass(30_000);
  assert.ok(isRefused(world, 'TlsAuthorityDropped')());
});
