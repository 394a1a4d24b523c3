import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { Clock, Files } from '@reeve/runtime';
import { openCertificates, serverNames, type ServingCertificates } from './authority.ts';
import { certificateMaker } from './make.ts';

const DAY = 86_400_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const places = { authority: '/d/authority.pem', server: '/d/server.pem' };

class World implements Pick<Files, 'read' | 'write'> {
  readonly texts = new Map<string, string>();
  /** Which write dies before it has happened. */
  diesAt = Number.POSITIVE_INFINITY;
  loads = 0;
  #writes = 0;

  async read(path: string): Promise<string | undefined> {
    return this.texts.get(path);
  }

  async write(path: string, text: string): Promise<void> {
    if (++this.#writes === this.diesAt) throw new Error('died');
    this.texts.set(path, text);
  }

  open(day = 0): Promise<ServingCertificates> {
    const clock: Clock = { now: () => START + day * DAY, sleep: () => Promise.resolve() };
    return openCertificates({ clock, files: this as unknown as Files }, places, () => {
      this.loads++;
      return Promise.resolve(certificateMaker);
    });
  }
}

test('a server certificate of an authority of its own, for all names of the server', async () => {
  const { ca, cert, key } = await new World().open();
  const [authority, server] = [new X509Certificate(ca), new X509Certificate(cert)];
  assert.equal(authority.ca, true);
  assert.equal(server.ca, false);
  assert.ok(authority.verify(authority.publicKey));
  assert.ok(server.checkIssued(authority) && server.verify(authority.publicKey));
  for (const name of serverNames.dns) assert.equal(server.checkHost(name), name);
  for (const ip of serverNames.ips) assert.equal(server.checkIP(ip), ip);
  assert.equal(server.checkHost('example.com'), undefined);
  assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.match(key, /^-----BEGIN PRIVATE KEY-----/);
  assert.ok(Date.parse(authority.validTo) - START > 9 * 365 * DAY);
  assert.ok(Date.parse(server.validFrom) < START);
});

test('they are kept, and nothing is loaded for it, until less than a year is left', async () => {
  const world = new World();
  const first = await world.open();
  const loads = world.loads;
  assert.deepEqual(await world.open(1), first);
  assert.deepEqual(await world.open(364), first);
  assert.equal(world.loads, loads);
  const renewed = await world.open(366);
  assert.equal(renewed.ca, first.ca, 'the same authority');
  assert.notEqual(renewed.cert, first.cert);
  assert.notEqual(renewed.key, first.key);
  assert.notEqual(new X509Certificate(renewed.cert).serialNumber, new X509Certificate(first.cert).serialNumber);
  const late = await world.open(3_286);
  assert.notEqual(late.ca, first.ca);
  assert.ok(new X509Certificate(late.cert).verify(new X509Certificate(late.ca).publicKey));
});

test('whoever dies between two writes leaves something to go on with', async () => {
  const world = new World();
  world.diesAt = 2;
  await assert.rejects(world.open(), /died/);
  const authority = world.texts.get(places.authority);
  const { ca, cert } = await world.open();
  assert.equal(world.texts.get(places.authority), authority);
  assert.ok(new X509Certificate(cert).verify(new X509Certificate(ca).publicKey));
});

test('a certificate that does not fit is made anew; a damaged authority is not replaced behind people’s backs', async () => {
  const [world, other] = [new World(), new World()];
  const first = await world.open();
  await other.open();
  world.texts.set(places.server, other.texts.get(places.server) ?? '');
  const mended = await world.open();
  assert.equal(mended.ca, first.ca);
  assert.ok(new X509Certificate(mended.cert).verify(new X509Certificate(first.ca).publicKey));
  for (const half of ['', 'half', (world.texts.get(places.server) ?? '').slice(0, 300)]) {
    world.texts.set(places.server, half);
    assert.ok(new X509Certificate((await world.open()).cert).verify(new X509Certificate(first.ca).publicKey), half);
  }
  const swapped = `${/-----BEGIN PRIVATE[^]*?END PRIVATE KEY-----\n/.exec(other.texts.get(places.authority) ?? '')?.[0]}${first.ca}`;
  for (const broken of ['', 'x', first.ca, swapped]) {
    world.texts.set(places.authority, broken);
    await assert.rejects(world.open(), (error: Error & { readonly code?: string }) => {
      assert.equal(error.code, 'CERTIFICATE_FILE');
      assert.doesNotMatch(error.message, /BEGIN/);
      return true;
    });
  }
});
