/** Addresses and ports of services are given once, whatever happens. The words of refusals are held by the conformance suite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServer, rawRequest, testClock, testRandom } from '../server/server-testing.ts';
import { ApiServer } from '../server/server.ts';
import { memoryJournal } from '../store/journal.ts';
import { Store } from '../store/store.ts';
import { addressText, chosen, serviceRanges } from './ranges.ts';

const PATH = '/api/v1/namespaces/default/services';
const named = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], selector: { a: 'b' }, ...spec },
});

interface Spec {
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ports?: readonly { readonly nodePort?: number }[];
}
const specOf = ({ json }: { readonly json: unknown }): Spec => (json as { spec: Spec }).spec;

test('many that are made at once have each an address and a port of their own', async () => {
  const { request } = await openServer();
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, index) => request('POST', PATH, named(`s${index}`, { type: 'NodePort' }))),
  );
  const addresses = new Set(made.map((one) => specOf(one).clusterIP));
  const ports = new Set(made.map((one) => specOf(one).ports?.[0]?.nodePort));
  assert.deepEqual([addresses.size, ports.size], [40, 40]);
  assert.ok([...addresses].every((one) => /^10\.96\.(?!0\.)/.test(one ?? '')));
  assert.ok([...ports].every((one) => one !== undefined && one >= 30_086 && one <= 32_767));
});

test('two that ask for the same at once: one gets it', async () => {
  const { request } = await openServer();
  const spec = { clusterIP: '10.96.0.7' };
  const codes = await Promise.all(
    ['a', 'b'].map(async (name) => (await request('POST', PATH, named(name, spec))).status),
  );
  assert.deepEqual(codes.sort(), [201, 422]);
});

test('what is given survives a restart, and nothing but the services knows of it', async () => {
  const journal = memoryJournal();
  const open = async () => {
    const store = await Store.open({ journal, clock: testClock() });
    const server = await ApiServer.open({ store, clock: testClock(), random: testRandom() });
    return { store, request: rawRequest(server) };
  };
  const first = await open();
  const { clusterIP } = specOf(await first.request('POST', PATH, named('a')));
  const { status } = await first.request('POST', PATH, named('b', { type: 'NodePort', clusterIP: '10.96.0.9' }));
  assert.equal(status, 201);
  await first.store.close();
  const { request } = await open();
  assert.equal((await request('POST', PATH, named('c', { clusterIP }))).status, 422);
  assert.equal((await request('POST', PATH, named('c', { clusterIP: '10.96.0.9' }))).status, 422);
  await request('DELETE', `${PATH}/a`);
  assert.equal((await request('POST', PATH, named('c', { clusterIP }))).status, 201);
});

test('a range that is full is said to be, and what is freed can be had again', async () => {
  const { request } = await openServer({ serviceRange: '10.1.2.0/29' });
  const made = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => request('POST', PATH, named(name))));
  assert.deepEqual(
    made.map((one) => specOf(one).clusterIP).sort(),
    [1, 2, 3, 4, 5, 6].map((last) => `10.1.2.${last}`),
  );
  const none = await request('POST', PATH, named('g'));
  assert.deepEqual([none.status, /range is full/.test(none.json.message ?? '')], [500, true]);
  await request('DELETE', `${PATH}/c`);
  assert.equal((await request('POST', PATH, named('g'))).status, 201);
});

test('a dry run takes nothing', async () => {
  const { request } = await openServer();
  const spec = { clusterIP: '10.96.0.8' };
  assert.equal((await request('POST', `${PATH}?dryRun=All`, named('a', spec))).status, 201);
  assert.equal(specOf(await request('POST', `${PATH}?dryRun=All`, named('a'))).clusterIP, '10.96.0.0');
  assert.equal((await request('POST', PATH, named('b', spec))).status, 201);
});

test('ranges: the first part is given last, and a range must be a network', () => {
  const { addresses } = serviceRanges('10.96.0.0/24');
  const random = testRandom();
  const texts = (isTaken: (one: number) => boolean) =>
    Array.from({ length: 30 }, () => chosen(addresses, isTaken, random)).map((one) => addressText(one ?? 0));
  assert.ok(texts(() => false).every((one) => Number(one.split('.')[3]) > 16));
  assert.ok(texts((one) => one > addresses.first + 15).every((one) => Number(one.split('.')[3]) <= 16));
  assert.equal(
    chosen(addresses, () => true, random),
    undefined,
  );
  for (const range of ['10.96.0.1/16', '10.96.0.0', 'fd00::/112', '10.96.0.0/30', 'x']) {
    assert.throws(() => serviceRanges(range), { code: 'EMBEDDED_SERVICE_RANGE' }, range);
  }
});
