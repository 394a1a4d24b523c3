import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Doubts, TlsParts } from '../api/certificates.ts';
import { testPod } from './pods-testing.ts';
import { isPlainRenewal, offerVerdict, podsWithout, takenDigest, uselessness } from './tls-offer.ts';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const bundle = (names: string) =>
  names
    .split(' ')
    .map((name) => `${BEGIN}${name}-----END CERTIFICATE-----\n`)
    .join('');

/** Certificates as texts: `ID by AUTHORITY until TIME`, and `from TIME` where it is not always good; a bundle is their names, each marked; a key is `key of ID`. */
const judge: Parameters<typeof offerVerdict>[1] = {
  read: (text) => {
    const [, fingerprint, until, from = 0] = /^(\S+) by \S+ until (\d+)(?: from (\d+))?$/.exec(text) ?? [];
    const life = { from: Number(from), until: Number(until) };
    return fingerprint === undefined ? undefined : { fingerprint, ...life, names: [] };
  },
  isTrusted: (chain, authorities) => authorities.includes(`${BEGIN}${chain.split(' ')[2] ?? ''}-`),
  fits: (certificate, key) => key === `key of ${certificate.split(' ', 1)[0]}`,
};
const NOW = 100;
const parts = (id: string, by: string, ca: string, until = 1_000): TlsParts => ({
  cert: `${id} by ${by} until ${until}`,
  key: `key of ${id}`,
  ca: bundle(ca),
});
const UNSIGNED = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
const tried = (server: TlsParts, client: TlsParts): Doubts => {
  if ([server, client].some(({ cert, key }) => !judge.fits(cert, key))) return { broken: 'KEY_VALUES_MISMATCH' };
  return {
    ...(!judge.isTrusted(server.cert, client.ca) && { ofClient: UNSIGNED }),
    ...(!judge.isTrusted(client.cert, server.ca) && { ofServer: UNSIGNED }),
  };
};
const verdict = (held: TlsParts | undefined, offered: TlsParts, doubts: { offered?: Doubts; held?: Doubts } = {}) => {
  const own = doubts.offered ?? tried(offered, offered);
  if (!held)
    return offerVerdict({ held, offered, servername: 'c.ns.svc', rehearsed: { offered: own }, now: NOW }, judge);
  const ofHeld = doubts.held ?? tried(held, held);
  // Whoever cannot be tried breaks each rehearsal.
  const broken = own.broken ?? ofHeld.broken;
  const meeting = broken === undefined ? tried(held, offered) : { broken };
  const rehearsed = { offered: own, held: ofHeld, between: meeting };
  return offerVerdict({ held, offered, servername: 'c.ns.svc', rehearsed, now: NOW }, judge);
};
const refusalOf = (...given: Parameters<typeof verdict>) => {
  const said = verdict(...given);
  return said.is === 'refused' ? said.refused : undefined;
};
const code = (...given: Parameters<typeof verdict>) => refusalOf(...given)?.code;

test('what servers could not show each other is refused, also as the first one', () => {
  assert.equal(code(undefined, parts('1', 'A', 'A')), undefined);
  assert.equal(code(undefined, parts('1', 'A', 'B')), 'TLS_UNFIT');
  assert.equal(code(undefined, parts('1', 'A', 'A', NOW)), 'TLS_UNFIT');
  assert.equal(code(undefined, { ...parts('1', 'A', 'A'), cert: `1 by A until 1000 from ${NOW + 1}` }), 'TLS_UNFIT');
  assert.equal(code(undefined, { ...parts('1', 'A', 'A'), cert: `1 by A until 1000 from ${NOW}` }), undefined);
  assert.equal(code(undefined, { ...parts('1', 'A', 'A'), key: 'key of 2' }), 'TLS_UNFIT');
  assert.equal(code(undefined, { ...parts('1', 'A', 'A'), cert: 'nothing' }), 'TLS_UNFIT');
});

test('an authority comes in two steps and goes in a third; each shortcut is refused', () => {
  const first = parts('1', 'A', 'A');
  assert.equal(code(first, parts('2', 'A', 'A')), undefined, 'a renewal');
  assert.equal(code(first, parts('2', 'B', 'B')), 'TLS_AUTHORITY_DROPPED');
  assert.equal(code(first, parts('2', 'B', 'A B')), 'TLS_AUTHORITY_UNKNOWN');
  assert.equal(code(first, { ...first, ca: bundle('A B') }), 'TLS_NOT_RENEWED', 'nobody could see who has read it');
  const both = parts('2', 'A', 'A B');
  assert.equal(code(first, both), undefined);
  assert.equal(code(both, parts('3', 'B', 'B')), 'TLS_AUTHORITY_DROPPED', 'servers still show one of the old one');
  const changed = parts('3', 'B', 'A B');
  assert.equal(code(both, changed), undefined);
  assert.equal(code(changed, parts('4', 'B', 'B')), undefined);
  assert.equal(code(first, first), undefined);
});

test('when what servers have has ended, or its authority has, there is nobody left to lock out', () => {
  assert.equal(code(parts('1', 'A', 'A', NOW - 1), parts('2', 'B', 'B')), undefined);
  const [first, other] = [parts('1', 'A', 'A'), parts('2', 'B', 'B')];
  const ended = { ofClient: 'CERT_HAS_EXPIRED', ofServer: 'CERT_HAS_EXPIRED' };
  assert.deepEqual(verdict(first, other, { held: ended }), { is: 'good' });
});

test('what was taken and has a key that is damaged is replaced by whatever can be used', () => {
  const damaged = { ...parts('1', 'A', 'A'), key: 'nothing' };
  assert.deepEqual(verdict(damaged, parts('1', 'A', 'A')), { is: 'good' }, 'the same, with its key');
  assert.deepEqual(verdict(damaged, parts('2', 'A', 'A')), { is: 'good' });
  assert.equal(code(damaged, damaged), 'TLS_UNFIT', 'and not by the like of it');
});

test('what was taken and cannot be tried is judged by signatures', () => {
  const [first, held] = [parts('1', 'A', 'A'), { broken: 'KEY_TOO_LARGE' }];
  assert.deepEqual(verdict(first, parts('2', 'A', 'A'), { held }), { is: 'good' });
  assert.deepEqual(verdict(first, parts('2', 'A', 'A B'), { held }), { is: 'next', after: '1' });
  assert.equal(code(first, parts('2', 'B', 'B'), { held }), 'TLS_AUTHORITY_DROPPED');
  assert.equal(code(first, parts('2', 'B', 'A B'), { held }), 'TLS_AUTHORITY_UNKNOWN');
  const bare = { ...first, ca: 'damaged' };
  assert.deepEqual(verdict(bare, parts('2', 'A', 'A'), { held }), { is: 'good' }, 'nobody believes it as it is');
});

test('what is too large is refused before any of it is read', () => {
  const small = parts('1', 'A', 'A');
  const read: string[] = [];
  const reader = {
    read: (text: string) => {
      read.push(text);
      return judge.read(text);
    },
    fits: judge.fits,
  };
  assert.equal(uselessness(small, reader), undefined);
  assert.deepEqual(read.splice(0), [small.cert]);
  const message = (more: Partial<TlsParts>) => uselessness({ ...small, ...more }, reader)?.message ?? '';
  assert.match(message({ key: 'k'.repeat(16_385) }), /^tls\.key has more than 16384 characters/);
  assert.match(message({ cert: 'c'.repeat(131_073) }), /^tls\.crt has more than 131072 characters/);
  assert.match(message({ ca: 'c'.repeat(131_073) }), /^ca\.crt has more than 131072 characters/);
  assert.match(message({ ca: bundle('A '.repeat(33).trim()) }), /^ca\.crt has more than 32 certificates/);
  assert.deepEqual(read, []);
  assert.equal(message({ ca: bundle('A '.repeat(32).trim()) }), '');
});

test('what the operator or the servers would not believe is refused, and what is wrong is said', () => {
  const [first, renewed] = [parts('1', 'A', 'A'), parts('2', 'A', 'A')];
  const said = (offered: Doubts) => {
    assert.deepEqual(refusalOf(undefined, renewed, { offered }), refusalOf(first, renewed, { offered }));
    const refusal = refusalOf(first, renewed, { offered });
    return `${refusal?.code}: ${refusal?.message}`;
  };
  assert.match(said({ ofClient: 'ERR_TLS_CERT_ALTNAME_INVALID' }), /^TLS_WRONG_NAME: .* c\.ns\.svc/);
  assert.match(said({ ofServer: 'INVALID_PURPOSE' }), /^TLS_WRONG_USAGE: .* for client auth$/);
  const neither = { ofClient: 'INVALID_PURPOSE', ofServer: 'INVALID_PURPOSE' };
  assert.match(said(neither), /^TLS_WRONG_USAGE: .* for server auth and client auth$/);
  assert.match(said({ ofClient: 'CERT_HAS_EXPIRED' }), /^TLS_AUTHORITY_UNFIT: .* has ended$/);
  assert.match(said({ ofClient: 'CERT_NOT_YET_VALID' }), /^TLS_AUTHORITY_UNFIT: .* not good yet$/);
  assert.match(said({ ofServer: 'INVALID_CA' }), /^TLS_AUTHORITY_UNFIT: .* CA:TRUE$/);
  assert.match(
    said({ ofClient: 'UNABLE_TO_GET_ISSUER_CERT' }),
    /^TLS_UNFIT: .* an authority of ca\.crt that signed itself/,
  );
  assert.match(said({ broken: 'KEY_TOO_LARGE' }), /^TLS_UNFIT: .*\(KEY_TOO_LARGE\)$/);
});

test('what is not a plain renewal is given when all servers show the last one', () => {
  assert.deepEqual(verdict(parts('1', 'A', 'A'), parts('2', 'A', 'A')), { is: 'good' });
  assert.deepEqual(verdict(parts('1', 'A', 'A'), parts('2', 'A', 'A B')), { is: 'next', after: '1' });
});

test('pods that do not show a certificate yet are named, also silent ones; dead ones are not waited for', () => {
  const pods = [
    testPod(0),
    testPod(1),
    testPod(2, { isReady: false, server: 'running' }),
    testPod(3, { isReady: false, server: 'down' }),
    testPod(4, { isReady: false }),
  ];
  const shown = new Map([
    ['uid-0', 'new'],
    ['uid-1', 'old'],
  ]);
  assert.deepEqual(podsWithout('new', pods, shown), ['c-1', 'c-2', 'c-4']);
});

test('what servers were given is known again by certificate and authorities, and tells no key', () => {
  const first = parts('1', 'A', 'A');
  assert.equal(takenDigest(first), takenDigest({ ...first, key: 'another' }));
  assert.notEqual(takenDigest(first), takenDigest({ ...first, ca: bundle('A B') }));
  assert.notEqual(takenDigest(first), takenDigest(parts('2', 'A', 'A')));
});

test('only a renewal by the same authority, with the same ones trusted, need not wait for servers that are behind', () => {
  const both = parts('1', 'A', 'A B');
  assert.equal(isPlainRenewal(both, parts('2', 'A', 'A B'), judge), true);
  assert.equal(isPlainRenewal(both, parts('2', 'B', 'A B'), judge), false, 'who knows A only would not believe it');
  assert.equal(isPlainRenewal(both, parts('2', 'A', 'A'), judge), false);
  assert.equal(isPlainRenewal(parts('1', 'A', 'A'), both, judge), false);
});
