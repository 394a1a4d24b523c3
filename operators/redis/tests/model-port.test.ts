import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReeveError } from '@reeve/runtime';
import { prng } from '@reeve/simulation';
import { type Flavour, type ModelServer, RedisClusterModel } from '@reeve/simulation/redis';
import { RedisReplyError } from '../src/api/port.ts';
import { observeCluster } from '../src/observe/observe.ts';
import { checkCluster } from '../src/plan/check.ts';
import { modelPort, type ScheduledCall } from './model-port.ts';

function formed(flavour: Flavour) {
  const model = new RedisClusterModel({ random: prng(9), flavour, nodeTimeoutMs: 2000 });
  const servers = [1, 2, 3, 4].map((index) => model.addServer({ host: '127.0.0.1', port: 7000 + index }));
  const [a, b, c, d] = servers as [ModelServer, ModelServer, ModelServer, ModelServer];
  const shares = [
    [a, '0', '5460'],
    [b, '5461', '10922'],
    [c, '10923', '16383'],
  ] as const;
  for (const [server, first, last] of shares) model.execute(server.endpoint, ['CLUSTER', 'ADDSLOTSRANGE', first, last]);
  for (const [index, server] of servers.entries()) {
    model.execute(server.endpoint, ['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)]);
    for (const other of servers) {
      if (other !== server) model.execute(server.endpoint, ['CLUSTER', 'MEET', other.host, String(other.port)]);
    }
  }
  const ready = () => servers.every((server) => server.state === 'ok' && server.peers.size === 4);
  for (let turn = 0; turn < 600 && !ready(); turn++) model.advance(100);
  model.execute(d.endpoint, ['CLUSTER', 'REPLICATE', a.id]);
  model.advance(10_000);
  return { model, servers, a, b, c, d };
}

describe('the port over the model', () => {
  for (const flavour of ['valkey9', 'redis7', 'redis8'] as const) {
    test(`a formed cluster of ${flavour} is observed whole, and nothing is broken`, async () => {
      const { model, servers, a } = formed(flavour);
      const clock = { now: () => model.now, sleep: async () => model.advance(100) };
      const view = await observeCluster(modelPort(model), { clock }, [{ host: a.host, port: a.port }], {});
      assert.deepEqual(
        view.nodes.map(({ id }) => id),
        servers.map(({ id }) => id).sort(),
      );
      assert.ok(view.nodes.every(({ report }) => report.known));
      // Two primaries have no replica; nothing is broken.
      const worse = checkCluster(view).filter(
        ({ severity, code }) => severity !== 'info' && code !== 'REPLICA_MISSING',
      );
      assert.deepEqual(worse, []);
      const [first] = view.nodes;
      const server = first?.report.known ? first.report.value.server : undefined;
      assert.equal(server?.product, flavour === 'valkey9' ? 'valkey' : 'redis');
      assert.equal(server?.capabilities.atomicMigration, flavour === 'valkey9');
      assert.equal(server?.capabilities.redisAtomicMigration, flavour === 'redis8');
    });
  }

  test('errors have the codes of the port', async () => {
    const { model, a, b, c } = formed('redis7');
    const port = modelPort(model);
    const code = (wanted: string) => (error: unknown) => error instanceof ReeveError && error.code === wanted;
    await assert.rejects(port.call(a, ['CLUSTER', 'NOPE']), (error) => {
      return error instanceof RedisReplyError && error.reply === 'ERR';
    });
    model.kill(b);
    await assert.rejects(port.call(b, ['PING']), code('REDIS_UNREACHABLE'));
    model.pause(c);
    await assert.rejects(port.call(c, ['PING']), code('REDIS_TIMEOUT'));
  });

  test('a server that crashes while executing is a lost connection', async () => {
    const { model, a } = formed('valkey9');
    const port = modelPort(model);
    const lost = (error: unknown) => error instanceof ReeveError && error.code === 'REDIS_CONNECTION_LOST';
    await assert.rejects(port.transaction(a, [['CLUSTER', 'SETSLOT', '1', 'STABLE']]), lost);
    assert.equal(a.process, 'down');
  });

  test('a scheduler decides when and whether a call is done, and a broken connection forgets its state', async () => {
    const { model, d } = formed('redis7');
    const seen: string[] = [];
    let breakNext = false;
    const port = modelPort(model, async <T>(call: ScheduledCall<T>): Promise<T> => {
      seen.push(`${call.channel}: ${call.label}`);
      assert.equal(call.canAnswer(), true);
      if (breakNext) throw call.failure('fail-after');
      return call.apply();
    });
    await port.call(d, ['READONLY'], { lane: 'bulk' });
    assert.equal(await port.call(d, ['GET', '{06S}'], { lane: 'bulk' }), null);
    // READONLY belongs to one connection.
    await assert.rejects(port.call(d, ['GET', '{06S}']), /MOVED/);
    breakNext = true;
    await assert.rejects(port.call(d, ['PING'], { lane: 'bulk' }), /broke/);
    breakNext = false;
    await assert.rejects(port.call(d, ['GET', '{06S}'], { lane: 'bulk' }), /MOVED/);
    assert.deepEqual(seen.slice(0, 3), [
      `${d.endpoint} bulk: READONLY`,
      `${d.endpoint} bulk: GET`,
      `${d.endpoint} control: GET`,
    ]);
  });

  test('bulk strings are Buffers when asked for', async () => {
    const { model, a } = formed('valkey9');
    const port = modelPort(model);
    const key = Buffer.concat([Buffer.from('{06S}'), Buffer.from([0, 255])]);
    assert.equal(await port.call(a, ['SET', key, Buffer.from([200])]), 'OK');
    assert.deepEqual(await port.call(a, ['GET', key], { binary: true }), Buffer.from([200]));
    const replies = await port.transaction(a, [['GET', key]], { binary: true });
    assert.deepEqual(replies, [Buffer.from([200])]);
  });
});
