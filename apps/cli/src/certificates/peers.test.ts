import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { KeyPair } from '@reeve/redis';
import { byIntermediate, byPretender, intermediate, leafKey, pretender, root } from './certificate-testing.ts';
import { certificateMaker } from './make.ts';
import { peerCertificates } from './peers.ts';

const life = { from: Date.parse('2026-01-01T00:00:00Z'), until: Date.parse('2026-04-01T00:00:00Z') };

test('a certificate of a peer is good for servers and clients, and says for whom and how long', async () => {
  const authority = await peerCertificates.authority({ ...life, until: Date.parse('2036-01-01T00:00:00Z') });
  const names = ['c.ns.svc', '*.c-nodes.ns.svc'];
  const peer = await peerCertificates.peer(authority, names, life);
  const [signer, read] = [new X509Certificate(authority.certificate), new X509Certificate(peer.certificate)];
  assert.ok(read.checkIssued(signer) && read.verify(signer.publicKey));
  assert.deepEqual(read.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  assert.equal(read.checkHost('c-0.c-nodes.ns.svc'), '*.c-nodes.ns.svc');
  assert.deepEqual(peerCertificates.read(peer.certificate), { ...life, names, fingerprint: read.fingerprint256 });
  assert.equal(peerCertificates.read(peer.key), undefined);
  assert.equal(peerCertificates.read(''), undefined);
});

test('a certificate is trusted by whoever signed it, among others, and fits its own key only', async () => {
  const [one, other] = [await peerCertificates.authority(life), await peerCertificates.authority(life)];
  const peer = await peerCertificates.peer(one, ['c.ns.svc'], life);
  assert.equal(peerCertificates.isTrusted(peer.certificate, one.certificate), true);
  assert.equal(
    peerCertificates.isTrusted(peer.certificate, other.certificate),
    false,
    'of the same name, not the same key',
  );
  assert.equal(peerCertificates.isTrusted(peer.certificate, `${other.certificate}${one.certificate}`), true);
  assert.equal(peerCertificates.isTrusted(peer.certificate, ''), false);
  assert.equal(peerCertificates.isTrusted('', one.certificate), false);
  assert.equal(peerCertificates.fits(peer.certificate, peer.key), true);
  assert.equal(peerCertificates.fits(peer.certificate, one.key), false);
  assert.equal(peerCertificates.fits(peer.certificate, 'no key'), false);
});

test('a text with many certificates that sign each other is judged in a moment', async () => {
  const [one, other] = [await peerCertificates.authority(life), await peerCertificates.authority(life)];
  const peer = await peerCertificates.peer(one, ['c.ns.svc'], life);
  const chain = `${peer.certificate}${one.certificate.repeat(1_000)}`;
  // In all orders, these would be checked for years.
  assert.equal(peerCertificates.isTrusted(chain, other.certificate), false);
  assert.equal(peerCertificates.isTrusted(chain, one.certificate), true);
});

const NAME = 'c.ns.svc';
const year = (number: number) => Date.parse(`${number}-01-01T00:00:00Z`);
/** OpenSSL asks the clock of the machine. */
const always = { from: year(2020), until: year(2099) };
const partsOf = ({ certificate, key }: KeyPair, ...authorities: readonly KeyPair[]) => ({
  cert: certificate,
  key,
  ca: authorities.map((one) => one.certificate).join(''),
});

test('a rehearsal says what servers, agents and the operator will think: of names, usages and authorities', async () => {
  const { authority, peer, rehearse } = peerCertificates;
  const [one, other] = [await authority(always), await authority(always)];
  const good = partsOf(await peer(one, [NAME, '*.c-nodes.ns.svc'], always), one);
  assert.deepEqual(await rehearse(good, good, NAME), {});
  assert.deepEqual(await rehearse(good, good, 'c-0.c-nodes.ns.svc'), {});
  assert.deepEqual(await rehearse(good, good, 'd.ns.svc'), { ofClient: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  assert.deepEqual(await rehearse(good, good), {}, 'servers ask each other for no name');
  const serving = partsOf(await certificateMaker.server(one, { dns: [NAME], ips: [] }, always), one);
  assert.deepEqual(await rehearse(serving, serving, NAME), { ofServer: 'INVALID_PURPOSE' });
  for (const [life, word] of [
    [{ from: year(2020), until: year(2021) }, 'CERT_HAS_EXPIRED'],
    [{ from: year(2098), until: year(2099) }, 'CERT_NOT_YET_VALID'],
  ] as const) {
    const signer = await authority(life);
    const signed = partsOf(await peer(signer, [NAME], always), signer);
    assert.deepEqual(await rehearse(signed, signed, NAME), { ofClient: word, ofServer: word });
  }
  const renewed = partsOf(await peer(other, [NAME], always), one, other);
  const { ofClient, ofServer } = await rehearse(good, renewed);
  assert.equal(ofClient, undefined, 'who has read the next one believes the last one');
  assert.match(ofServer ?? '', /^(?:UNABLE_TO_|SELF_SIGNED_)/, 'and is not believed');
});

test('a rehearsal wants authorities that may sign, up to one that signed itself', async () => {
  const { rehearse } = peerCertificates;
  const whole = { cert: byIntermediate + intermediate, key: leafKey, ca: root };
  assert.deepEqual(await rehearse(whole, whole, NAME), {});
  const apart = { cert: byIntermediate, key: leafKey, ca: intermediate + root };
  assert.deepEqual(await rehearse(apart, apart, NAME), {}, 'wherever those in between are');
  const rootless = { cert: byIntermediate, key: leafKey, ca: intermediate };
  assert.match((await rehearse(rootless, rootless, NAME)).ofClient ?? '', /^UNABLE_TO_/);
  const pretended = { cert: byPretender, key: leafKey, ca: pretender };
  assert.deepEqual(await rehearse(pretended, pretended, NAME), { ofClient: 'INVALID_CA', ofServer: 'INVALID_CA' });
});

test('what cannot be used at all breaks the rehearsal, and nothing of it is told', async () => {
  const { authority, peer, rehearse } = peerCertificates;
  const one = await authority(always);
  const [good, other] = [partsOf(await peer(one, [NAME], always), one), await peer(one, [NAME], always)];
  for (const bad of [
    { ...good, cert: 'nothing' },
    { ...good, key: 'nothing' },
    { ...good, key: other.key },
    // Good but for their length.
    { ...good, key: `${good.key}${'\n'.repeat(16_384)}` },
    { ...good, cert: `${good.cert}${'\n'.repeat(131_072)}` },
    { ...good, ca: good.ca.repeat(33) },
  ]) {
    for (const doubts of [await rehearse(bad, good, NAME), await rehearse(good, bad, NAME)]) {
      assert.match(doubts.broken ?? '', /^[A-Z_0-9]+$/);
    }
  }
});
