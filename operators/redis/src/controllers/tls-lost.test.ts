import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Certificates } from '../api/certificates.ts';
import { pods } from '../api/kinds.ts';
import { takenDigest } from '../plan/tls-offer.ts';
import { lostTls } from './tls-lost.ts';

const offered = { cert: 'certificate', key: 'key', ca: 'authority', servername: 'c.ns.svc' };
const FINGERPRINT = 'fingerprint';
type Shows = Certificates['presentedAt'];

interface Lost {
  /** As the status has it. */
  readonly taken?: string;
  readonly shows: Shows;
  readonly isRead?: boolean;
  readonly storage?: boolean;
}

/** Of a cluster whose two servers have begun. */
function lost({ taken, shows, isRead = true, storage = true }: Lost) {
  const metadata = { name: 'c', namespace: 'ns', uid: 'uid' };
  const status = taken === undefined ? {} : { tls: { taken } };
  const object = { metadata, spec: storage ? { storage: { size: '1Gi' } } : {}, status };
  const items = [1, 2].map((host) => ({
    metadata: { name: `c-${host}` },
    status: { podIP: `10.0.0.${host}`, containerStatuses: [{ name: 'server', state: { running: {} } }] },
  }));
  const resource = (kind: unknown) =>
    kind === pods ? { list: async () => ({ items }) } : { find: async () => object };
  const facts = { from: 0, until: 1, names: [], fingerprint: FINGERPRINT };
  const certificates = { read: () => (isRead ? facts : undefined), presentedAt: shows };
  const work = { object, api: { resource }, signal: new AbortController().signal };
  return lostTls(work as never, { secretName: 'c-tls-taken', certificates }, offered);
}

const same: Shows = async () => FINGERPRINT;
const silent: Shows = async () => undefined;
const failing: Shows = async () => {
  throw new Error('no way');
};
const otherAtFirst: Shows = async ({ host }) => (host === '10.0.0.1' ? 'another' : FINGERPRINT);

test('what the status knows is the same unless a server that answers shows something else', async () => {
  const taken = takenDigest(offered);
  assert.equal((await lost({ taken, shows: same })).was, 'same');
  assert.equal((await lost({ taken, shows: silent })).was, 'same');
  assert.equal((await lost({ taken, shows: failing })).was, 'same');
  const found = await lost({ taken, shows: otherAtFirst });
  assert.equal(found.was, 'other', 'it was given more, and nobody came to write that down');
  assert.deepEqual(found.was === 'other' && found.refused.subjects, ['c-1']);
  assert.equal((await lost({ taken: 'another', shows: same })).was, 'other');
  assert.equal((await lost({ taken, shows: silent, isRead: false })).was, 'other');
});

test('without a word in the status every server must show it', async () => {
  assert.equal((await lost({ shows: same })).was, 'same');
  for (const shows of [silent, failing, otherAtFirst]) assert.equal((await lost({ shows })).was, 'other');
  assert.equal((await lost({ shows: silent, isRead: false })).was, 'other', 'nothing is not the same as nothing');
});

test('a cluster without storage is told what becomes of its data', async () => {
  const message = async (storage: boolean) => {
    const found = await lost({ shows: silent, storage });
    return found.was === 'other' ? found.refused.message : '';
  };
  assert.match(await message(false), /no storage: all its data would go with its pods$/);
  assert.match(await message(true), /is gone$/);
});
