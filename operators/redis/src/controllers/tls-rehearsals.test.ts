import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Doubts, TlsParts } from '../api/certificates.ts';
import { Rehearsals } from './tls-rehearsals.ts';

const parts = (id: string): TlsParts => ({ cert: `certificate ${id}`, key: `key ${id}`, ca: 'authority' });
const [held, offered] = [parts('1'), parts('2')];
const servername = 'c.ns.svc';

/** Says of everybody the same, and notes who met whom. */
function stage(doubts: Doubts = {}) {
  const met: string[] = [];
  const rehearse = async (server: TlsParts, client: TlsParts) => {
    met.push(`${server.cert.at(-1)} ${client.cert.at(-1)}`);
    return doubts;
  };
  return { met, certificates: { rehearse } };
}

test('the same is rehearsed once a minute, whatever came of it', async () => {
  for (const doubts of [{}, { ofClient: 'INVALID_PURPOSE' }]) {
    const { met, certificates } = stage(doubts);
    const rehearsals = new Rehearsals();
    const rehearsed = await rehearsals.of(certificates, { held: undefined, offered, servername }, 0);
    assert.deepEqual(rehearsed, { offered: doubts });
    assert.deepEqual(await rehearsals.of(certificates, { held: undefined, offered, servername }, 59_999), rehearsed);
    assert.deepEqual(met, ['2 2']);
    await rehearsals.of(certificates, { held: undefined, offered, servername }, 60_000);
    assert.deepEqual(met, ['2 2', '2 2']);
  }
});

test('something else is rehearsed at once', async () => {
  const { met, certificates } = stage();
  const rehearsals = new Rehearsals();
  const times = async (more: Partial<{ held: TlsParts; offered: TlsParts; servername: string }>) => {
    met.length = 0;
    await rehearsals.of(certificates, { held, offered, servername, ...more }, 0);
    return met.length;
  };
  assert.equal(await times({}), 3);
  assert.equal(await times({}), 0);
  assert.equal(await times({ servername: 'd.ns.svc' }), 3);
  assert.equal(await times({ offered: { ...offered, key: 'another' } }), 3);
  assert.equal(await times({ held: { ...held, ca: 'another' } }), 3);
});

test('whom servers that have it do not believe is not tried with the others', async () => {
  const doubted = stage({ broken: 'KEY_TOO_LARGE' });
  await new Rehearsals().of(doubted.certificates, { held, offered, servername }, 0);
  assert.deepEqual(doubted.met, ['2 2']);
  const believed = stage();
  const rehearsed = await new Rehearsals().of(believed.certificates, { held, offered, servername }, 0);
  assert.deepEqual(believed.met, ['2 2', '1 1', '1 2']);
  assert.deepEqual(rehearsed, { offered: {}, held: {}, between: {} });
});
