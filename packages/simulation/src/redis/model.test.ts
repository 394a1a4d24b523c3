import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { prng } from '../random.ts';
import {
  type Flavour,
  type ModelServer,
  NoAnswerError,
  RedisClusterModel,
  slotOfKey,
  UnreachableError,
} from './index.ts';

interface Formed {
  readonly model: RedisClusterModel;
  readonly servers: readonly ModelServer[];
  call(server: ModelServer, ...args: (string | number)[]): unknown;
}

/** Three primaries and a replica for the first two. */
function form(seed: number, flavour: Flavour, persistence = true): Formed {
  const model = new RedisClusterModel({ random: prng(seed), flavour, nodeTimeoutMs: 2000, persistence });
  const servers = [1, 2, 3, 4, 5].map((index) => model.addServer({ host: '127.0.0.1', port: 7000 + index }));
  const call = (server: ModelServer, ...args: (string | number)[]) => model.execute(server.endpoint, args.map(String));
  const [a, b, c, d, e] = servers as [ModelServer, ModelServer, ModelServer, ModelServer, ModelServer];
  call(a, 'CLUSTER', 'ADDSLOTSRANGE', 0, 5460);
  call(b, 'CLUSTER', 'ADDSLOTSRANGE', 5461, 10922);
  call(c, 'CLUSTER', 'ADDSLOTSRANGE', 10923, 16383);
  for (const [index, server] of servers.entries()) {
    call(server, 'CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    for (const other of servers) if (other !== server) call(server, 'CLUSTER', 'MEET', other.host, other.port);
  }
  until(model, 'formed', () => servers.every((server) => server.state === 'ok' && server.peers.size === 5));
  call(d, 'CLUSTER', 'REPLICATE', a.id);
  call(e, 'CLUSTER', 'REPLICATE', b.id);
  until(model, 'in sync', () => [d, e].every((server) => server.replication.link === 'up'));
  return { model, servers, call };
}

function until(model: RedisClusterModel, what: string, holds: () => boolean, limit = 120_000): void {
  for (let waited = 0; !holds(); waited += 100) {
    if (waited > limit) assert.fail(`the model does not come to: ${what}`);
    model.advance(100);
  }
}

/** Members, roles, slots and own epochs as a server sees them. */
function picture(server: ModelServer): string {
  const lines = [...server.peers.values()].map((peer) =>
    [peer.id, peer.role, peer.primary?.id ?? '-', server.slotsOf(peer.mark).text, peer.failing].join(' '),
  );
  return lines.sort().join('\n');
}

function settled(servers: readonly ModelServer[]): boolean {
  const epochs = servers.filter((server) => server.isPrimary).map((server) => server.self.configEpoch);
  return (
    new Set(servers.map(picture)).size === 1 &&
    new Set(epochs).size === epochs.length &&
    servers.every((server) => server.state === 'ok' && (server.isPrimary || server.replication.link === 'up'))
  );
}

test('one seed gives one history, another seed another', () => {
  const [first, again, other] = [form(5, 'valkey9'), form(5, 'valkey9'), form(6, 'valkey9')];
  for (const { model } of [first, again, other]) model.advance(10_000);
  const text = ({ servers }: Formed) => servers.map(picture).join('\n');
  assert.equal(text(first), text(again));
  assert.notEqual(text(first), text(other));
});

test('whatever is killed, stopped, cut off, handed over or on its way, the views agree again and no acknowledged write is lost', () => {
  const accident = fc.tuple(
    fc.constantFrom('kill', 'pause', 'cut', 'failover', 'wait', 'write', 'move'),
    fc.nat(4),
    fc.nat(4),
    fc.integer({ min: 100, max: 4000 }),
  );
  const flavours = fc.constantFrom<Flavour>('valkey9', 'redis7', 'redis8');
  fc.assert(
    fc.property(fc.nat(1000), flavours, fc.array(accident, { maxLength: 6 }), (seed, flavour, accidents) => {
      const { model, servers, call } = form(seed, flavour);
      const written = new Map<string, string>();
      for (const [kind, first, second, wait] of accidents) {
        const server = servers[first] as ModelServer;
        const other = servers[second] as ModelServer;
        if (kind === 'kill') model.kill(server);
        else if (kind === 'pause') model.pause(server);
        else if (kind === 'cut' && server !== other) model.partition(server, other);
        else if (kind === 'failover' && server.process === 'up' && !server.isPrimary) {
          call(server, 'CLUSTER', 'FAILOVER', 'FORCE');
        } else if (kind === 'write') write(model, servers, `key${written.size}`, written);
        else if (kind === 'move') startMove(model, servers, [...written.keys()][first] ?? 'none', second);
        model.advance(wait);
        model.heal();
        for (const one of servers) {
          if (one.process === 'down') model.restart(one);
          else model.resume(one);
        }
        until(model, 'agreement', () => settled(servers));
      }
      for (const [key, value] of written) assert.equal(read(model, servers, key), value, key);
    }),
    { numRuns: 40 },
  );
});

/** Written by the owner and known to its replicas: then no failover may lose it. */
function write(
  model: RedisClusterModel,
  servers: readonly ModelServer[],
  key: string,
  written: Map<string, string>,
): void {
  const slot = slotOfKey(key);
  const owner = servers.find((server) => server.isPrimary && server.ownerOf(slot) === server.self);
  if (!owner || model.wouldWait(owner.endpoint, ['SET', key, ''])) return;
  model.execute(owner.endpoint, ['SET', key, `value of ${key}`]);
  model.execute(owner.endpoint, ['WAIT', '1', '0']);
  written.set(key, `value of ${key}`);
}

/** The slot of a key goes to another primary, atomically where the product can; the next accident finds it under way. */
function startMove(model: RedisClusterModel, servers: readonly ModelServer[], key: string, to: number): void {
  const slot = slotOfKey(key);
  const source = servers.find((server) => server.isPrimary && server.ownerOf(slot) === server.self);
  const target = servers[to];
  if (!source || source.process !== 'up' || !target?.isPrimary || target.process !== 'up' || target === source) return;
  const call = (server: ModelServer, ...args: string[]) => model.execute(server.endpoint, args);
  if (source.can.pushesSlots) {
    if (source.atomic.jobs.some((job) => !['success', 'failed', 'cancelled'].includes(job.state))) return;
    call(source, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', `${slot}`, `${slot}`, 'NODE', target.id);
  } else if (source.can.pullsSlots) {
    if (!target.pull.current) call(target, 'CLUSTER', 'MIGRATION', 'IMPORT', `${slot}`, `${slot}`);
  } else {
    call(target, 'CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', source.id);
    call(source, 'CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', target.id);
    const keys = call(source, 'CLUSTER', 'GETKEYSINSLOT', `${slot}`, '100') as string[];
    call(source, 'MIGRATE', target.host, `${target.port}`, '', '0', '1000', 'KEYS', ...keys);
    call(target, 'CLUSTER', 'SETSLOT', `${slot}`, 'NODE', target.id);
    call(source, 'CLUSTER', 'SETSLOT', `${slot}`, 'NODE', target.id);
  }
}

function read(model: RedisClusterModel, servers: readonly ModelServer[], key: string): unknown {
  const slot = slotOfKey(key);
  const owner = servers.find((server) => server.isPrimary && server.ownerOf(slot) === server.self);
  return owner && model.execute(owner.endpoint, ['GET', key]);
}

test('a primary killed before its replica has a write loses it: replication is asynchronous', () => {
  const { model, servers, call } = form(1, 'redis7', false);
  const [a, , c] = servers as [ModelServer, ModelServer, ModelServer];
  const key = '{06S}'; // any key of slot 0-5460
  const slot = slotOfKey(key);
  assert.equal(a.ownerOf(slot), a.self);
  call(a, 'SET', key, 'x');
  model.kill(a);
  until(model, 'the replica has the slot', () => c.ownerOf(slot)?.id !== a.id && c.state === 'ok');
  assert.equal(read(model, servers.slice(1), key), null);
});

test('without persistence a restarted primary is empty, and so its replica becomes', () => {
  const { model, servers, call } = form(2, 'valkey9', false);
  const [a, , , d] = servers as [ModelServer, ModelServer, ModelServer, ModelServer];
  call(a, 'SET', '{06S}', 'x');
  model.advance(500);
  assert.equal(d.keyCount(), 1);
  model.kill(a);
  model.advance(200);
  model.restart(a);
  until(model, 'in sync again', () => d.replication.link === 'up' && settled(servers));
  assert.deepEqual([a.isPrimary, a.keyCount(), d.keyCount()], [true, 0, 0]);
});

test('a dead address refuses, a stopped process does not answer, a hand-over keeps writes waiting', () => {
  const { model, servers, call } = form(3, 'valkey9');
  const [a, b, c, d] = servers as [ModelServer, ModelServer, ModelServer, ModelServer];
  model.kill(c);
  assert.throws(() => call(c, 'PING'), UnreachableError);
  assert.throws(() => model.execute('127.0.0.1:9', ['PING']), UnreachableError);
  model.pause(b);
  assert.throws(() => call(b, 'PING'), NoAnswerError);
  assert.equal(model.wouldWait(b.endpoint, ['PING']), true);
  model.resume(b);
  assert.equal(model.wouldWait(b.endpoint, ['PING']), false);
  call(d, 'CLUSTER', 'FAILOVER');
  assert.equal(model.wouldWait(a.endpoint, ['SET', '{06S}', 'x']), true);
  assert.equal(model.wouldWait(a.endpoint, ['GET', '{06S}']), false);
  assert.throws(() => call(a, 'SET', '{06S}', 'x'), NoAnswerError);
});

test('a MIGRATE that breaks off leaves keys on both sides, and none on neither', () => {
  const { model, servers, call } = form(4, 'redis7');
  const [a, b] = servers as [ModelServer, ModelServer];
  const keys = ['{06S}1', '{06S}2', '{06S}3'];
  const slot = slotOfKey('06S');
  for (const key of keys) call(a, 'SET', key, 'x');
  call(b, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', a.id);
  call(a, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', b.id);
  model.breakNextMigrate(a, { restored: 2, acknowledged: 1 });
  const migrate = ['MIGRATE', b.host, b.port, '', 0, 1000, 'KEYS', ...keys];
  assert.throws(() => call(a, ...migrate), /^ServerError: IOERR/);
  assert.deepEqual([a.countKeysInSlot(slot), b.countKeysInSlot(slot)], [2, 2]);
  assert.throws(() => call(a, ...migrate), /BUSYKEY/);
  assert.equal(call(a, 'MIGRATE', b.host, b.port, '', 0, 1000, 'REPLACE', 'KEYS', ...keys), 'OK');
  assert.deepEqual([a.countKeysInSlot(slot), b.countKeysInSlot(slot)], [0, 3]);
});

test('an atomic migration that is made to fail moves nothing; the next one moves all', () => {
  const { model, servers, call } = form(8, 'valkey9');
  const [a, b] = servers as [ModelServer, ModelServer];
  const slot = slotOfKey('06S');
  call(a, 'SET', '{06S}', 'x');
  const message = 'Client output buffer limit reached';
  model.failNextAtomic(a, 'replicating', message);
  const start = ['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', slot, slot, 'NODE', b.id];
  call(a, ...start);
  until(model, 'it fails', () => a.atomic.jobs[0]?.state === 'failed');
  assert.deepEqual([a.atomic.jobs[0]?.message, a.ownerOf(slot)], [message, a.self]);
  until(model, 'the target gives up too', () => b.atomic.jobs[0]?.state === 'failed');
  assert.equal(b.countKeysInSlot(slot), 0);
  call(a, ...start);
  until(model, 'it succeeds', () => a.atomic.jobs[0]?.state === 'success' && settled(servers));
  assert.deepEqual([a.countKeysInSlot(slot), b.countKeysInSlot(slot)], [0, 1]);
  assert.equal(call(b, 'GET', '{06S}'), 'x');
});

test('the new owner of a slot is heard of before a replica of the former owner can win an election', () => {
  for (let seed = 0; seed < 20; seed++) {
    const { model, servers, call } = form(seed, 'redis7');
    const [a, b, , replicaOfA] = servers as [ModelServer, ModelServer, ModelServer, ModelServer];
    call(b, 'CLUSTER', 'SETSLOT', 0, 'IMPORTING', a.id);
    call(a, 'CLUSTER', 'SETSLOT', 0, 'MIGRATING', b.id);
    for (const server of [b, a]) call(server, 'CLUSTER', 'SETSLOT', 0, 'NODE', b.id);
    call(replicaOfA, 'CLUSTER', 'FAILOVER');
    until(model, 'failed over', () => replicaOfA.isPrimary && settled(servers));
    assert.equal(b.ownerOf(0), b.self, `seed ${seed}`);
  }
});
