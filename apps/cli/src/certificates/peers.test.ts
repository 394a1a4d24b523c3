import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
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
