import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Certificates, TlsParts } from '../api/certificates.ts';
import { takenDigest } from '../plan/tls-offer.ts';
import { isOurs, takenTls } from './tls-offer.ts';
import { Rehearsals } from './tls-rehearsals.ts';
import { tlsSecret } from './tls-secret.ts';

const good: TlsParts = { cert: 'certificate', key: 'its key', ca: 'authority' };
const secretOf = (name: string, { cert, key, ca }: TlsParts) =>
  tlsSecret(name, 'c', { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca });

/** Nobody may be asked, and nothing tried. */
const never = async () => {
  throw new Error('asked');
};
const certificates: Certificates = {
  authority: never,
  peer: never,
  rehearse: never,
  presentedAt: never,
  isTrusted: () => true,
  read: (text) => (text === good.cert ? { fingerprint: 'f', from: 0, until: 1_000, names: [] } : undefined),
  fits: (_certificate, key) => key === good.key,
};

test('what nobody could use is refused before it is tried, also when what servers have is lost', async () => {
  for (const [bad, why] of [
    [{ ...good, cert: 'garbage' }, /tls\.crt is no certificate$/],
    [{ ...good, key: 'garbage' }, /tls\.key is not the key of tls\.crt$/],
    [{ ...good, key: 'k'.repeat(20_000) }, /tls\.key has more than/],
  ] as const) {
    const find = async (name: string) => (name === 'theirs' ? secretOf(name, bad) : undefined);
    const work = { object: { metadata: { name: 'c', uid: 'uid' } }, api: { resource: () => ({ find }) }, now: () => 0 };
    const { secret, refused } = await takenTls(work as never, {
      from: 'theirs',
      secretName: 'c-tls-taken',
      servername: 'c.ns.svc',
      certificates,
      rehearsals: new Rehearsals(),
      podsWithout: () => [],
    });
    assert.equal(secret, undefined);
    assert.equal(refused?.code, 'TLS_UNFIT');
    assert.match(refused?.message ?? '', why);
  }
});

test('a copy of what was taken is ours only with a key that fits', () => {
  const object = { metadata: { name: 'c', uid: 'uid' }, status: { tls: { taken: takenDigest(good) } } };
  const isTaken = (parts: TlsParts) =>
    isOurs({ object } as never, secretOf('c-tls-taken', parts) as never, certificates);
  assert.equal(isTaken(good), true);
  assert.equal(isTaken({ ...good, key: 'damaged' }), false);
  assert.equal(isTaken({ ...good, ca: 'another' }), false);
});
