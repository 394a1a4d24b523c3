import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../ports/virtual-clock-testing.ts';
import { type LeaseClient, type LeaseObject, type LeaseStep, MemberLease } from './lease.ts';

const { signal } = new AbortController();
const failing = (code: number): Error => Object.assign(new Error(`status ${code}`), { code });

/** A server with one lease. */
class Server implements LeaseClient {
  lease: LeaseObject | undefined;
  mayPatch = true;
  /** Each request, with what it sends. */
  readonly asked: string[] = [];
  #version = 0;

  async find(): Promise<LeaseObject | undefined> {
    this.asked.push('get');
    return this.lease;
  }

  async create(object: LeaseObject): Promise<LeaseObject> {
    this.asked.push('create');
    if (this.lease) throw failing(409);
    return this.write(object);
  }

  async update(object: LeaseObject): Promise<LeaseObject> {
    this.asked.push('update');
    this.#judge(object.metadata.resourceVersion);
    return this.write(object);
  }

  async patch(_name: string, { value }: { readonly value: readonly LeaseStep[] }): Promise<LeaseObject> {
    this.asked.push(`patch ${JSON.stringify(value)}`);
    if (!this.mayPatch) throw failing(403);
    if (!this.lease) throw failing(404);
    const spec: Record<string, unknown> = { ...this.lease.spec };
    for (const { op, path, value: text } of value) {
      const field = path.slice('/spec/'.length);
      if (op === 'test' && spec[field] !== text) throw failing(422);
      spec[field] = text;
    }
    return this.write({ ...this.lease, spec });
  }

  /** Also for others who write it. */
  write(object: LeaseObject): LeaseObject {
    this.lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    return this.lease;
  }

  #judge(version: string | undefined): void {
    if (!this.lease) throw failing(404);
    if (version !== undefined && version !== this.lease.metadata.resourceVersion) throw failing(409);
  }

  /** What was asked since the last time. */
  news(): readonly string[] {
    return this.asked.splice(0);
  }
}

function leaseOf(server: Server, clock: VirtualClock, life = 'first'): MemberLease {
  return new MemberLease({ clock }, server, { member: 'm', life });
}

test('a renewal sends the time and the holder that it rests on, and reads nothing', async () => {
  const server = new Server();
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const lease = leaseOf(server, clock);
  assert.ok(await lease.renew(signal));
  assert.deepEqual(server.news(), ['get', 'create']);
  for (const second of ['10', '20']) {
    await clock.advance(10_000);
    assert.ok(await lease.renew(signal));
    const value = [
      { op: 'test', path: '/spec/holderIdentity', value: 'first' },
      { op: 'replace', path: '/spec/renewTime', value: `2026-01-01T00:00:${second}.000000Z` },
    ];
    assert.deepEqual(server.news(), [`patch ${JSON.stringify(value)}`]);
  }
  assert.equal(server.lease?.spec?.holderIdentity, 'first');
  assert.equal(server.lease?.spec?.renewTime, '2026-01-01T00:00:20.000000Z');
});

test('what somebody wrote since is read, and not written over', async () => {
  const server = new Server();
  const clock = new VirtualClock();
  const lease = leaseOf(server, clock);
  await lease.renew(signal);
  const present = server.lease ?? assert.fail('there is a lease');
  server.write({ ...present, spec: { ...present.spec, holderIdentity: 'second' } });
  server.news();
  assert.equal(await lease.renew(signal), false);
  assert.deepEqual(
    server.news().map((request) => request.split(' ', 1)[0]),
    ['patch', 'get'],
  );
  assert.equal(server.lease?.spec?.holderIdentity, 'second');
  // Somebody who only labelled it took nothing away.
  const own = leaseOf(server, clock, 'second');
  assert.ok(await own.renew(signal));
  server.write({ ...server.lease, metadata: { ...server.lease?.metadata, name: 'member-m', labels: { a: 'b' } } });
  server.news();
  assert.ok(await own.renew(signal));
  assert.deepEqual(server.lease?.metadata.labels, { a: 'b' });
  assert.equal(server.news().length, 1, 'nor was anything read for it');
});

test('a lease that is another one’s in a restored store is not renewed, although its version is ours', async () => {
  const server = new Server();
  const clock = new VirtualClock();
  const lease = leaseOf(server, clock);
  await lease.renew(signal);
  const present = server.lease ?? assert.fail('there is a lease');
  // The same version, told to us of one state and to the store of another.
  const theirs = { ...present, spec: { ...present.spec, holderIdentity: 'second', renewTime: 'then' } };
  server.lease = theirs;
  await clock.advance(10_000);
  assert.equal(await lease.renew(signal), false);
  assert.deepEqual(server.lease, theirs);
});

test('a lease that was deleted is made anew, not patched', async () => {
  const server = new Server();
  const lease = leaseOf(server, new VirtualClock());
  await lease.renew(signal);
  server.lease = undefined;
  server.news();
  assert.ok(await lease.renew(signal));
  assert.deepEqual(
    server.news().map((request) => request.split(' ', 1)[0]),
    ['patch', 'get', 'create'],
  );
});

test('an account that may only update renews all the same', async () => {
  const server = new Server();
  server.mayPatch = false;
  const clock = new VirtualClock();
  const lease = leaseOf(server, clock);
  const renewFor = async (turns: number): Promise<readonly string[]> => {
    for (let turn = 0; turn < turns; turn++) {
      assert.ok(await lease.renew(signal));
      assert.ok(lease.isHeld);
      await clock.advance(10_000);
    }
    return server.news().map((request) => request.split(' ', 1)[0] ?? '');
  };
  const updates = (count: number) => Array.from({ length: count }, () => 'update');
  assert.deepEqual(await renewFor(2), ['get', 'create', 'patch', 'update']);
  assert.deepEqual(await renewFor(59), updates(59), 'for ten minutes it is not asked again');
  assert.deepEqual(await renewFor(2), ['patch', 'update', 'update']);
  // Somebody has given it the right.
  server.mayPatch = true;
  assert.deepEqual((await renewFor(62)).slice(-3), ['patch', 'patch', 'patch']);
});

test('an account that may only update does not write over what somebody else wrote', async () => {
  const server = new Server();
  server.mayPatch = false;
  const clock = new VirtualClock();
  const lease = leaseOf(server, clock);
  await lease.renew(signal);
  await lease.renew(signal);
  const present = server.lease ?? assert.fail('there is a lease');
  server.write({ ...present, spec: { ...present.spec, holderIdentity: 'second' } });
  server.news();
  assert.equal(await lease.renew(signal), false);
  assert.deepEqual(server.news(), ['update', 'get']);
  assert.equal(server.lease?.spec?.holderIdentity, 'second');
});
