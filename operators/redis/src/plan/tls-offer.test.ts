import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainRenewal, offerProblem, type TlsParts } from './tls-offer.ts';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const bundle = (names: string) =>
  names
    .split(' ')
    .map((name) => `${BEGIN}${name}-----END CERTIFICATE-----\n`)
    .join('');

/** Certificates as texts: `ID by AUTHORITY until TIME`, and `from TIME` where it is not always good; a bundle is their names, each marked; a key is `key of ID`. */
const judge: Parameters<typeof offerProblem>[2] = {
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
const code = (held: TlsParts | undefined, offered: TlsParts) => offerProblem(held, offered, judge, NOW)?.code;

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

test('when what servers have has ended there is nobody left to lock out', () => {
  assert.equal(code(parts('1', 'A', 'A', NOW - 1), parts('2', 'B', 'B')), undefined);
});

test('only a renewal by the same authority, with the same ones trusted, need not wait for servers that are behind', () => {
  const both = parts('1', 'A', 'A B');
  assert.equal(isPlainRenewal(both, parts('2', 'A', 'A B'), judge), true);
  assert.equal(isPlainRenewal(both, parts('2', 'B', 'A B'), judge), false, 'who knows A only would not believe it');
  assert.equal(isPlainRenewal(both, parts('2', 'A', 'A'), judge), false);
  assert.equal(isPlainRenewal(parts('1', 'A', 'A'), both, judge), false);
});
