import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prng } from '../random.ts';
import { RedisClusterModel, slotOfKey } from './index.ts';

const SLOT = String(slotOfKey('k'));

/** What a Valkey 9.1 with `cluster-databases 4` answered. */
test('several databases: keys of a slot are counted and listed in the selected one, refusals look at all', () => {
  const model = new RedisClusterModel({ random: prng(1), flavour: 'valkey9', databases: 4 });
  const a = model.addServer({ host: '127.0.0.1', port: 7001 });
  const b = model.addServer({ host: '127.0.0.1', port: 7002 });
  model.execute(a, ['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
  model.execute(a, ['CLUSTER', 'SET-CONFIG-EPOCH', '1']);
  model.execute(a, ['CLUSTER', 'MEET', b.host, String(b.port)]);
  for (let turn = 0; turn < 100 && !(a.state === 'ok' && b.state === 'ok'); turn++) model.advance(100);
  const session = model.connect();
  const call = (...args: string[]) => model.execute(a, args, { session });
  assert.equal(call('SELECT', '1'), 'OK');
  assert.equal(call('SET', 'k', 'one'), 'OK');
  assert.equal(call('CLUSTER', 'COUNTKEYSINSLOT', SLOT), 1);
  assert.throws(() => call('SELECT', '4'), /ERR DB index is out of range/);
  call('SELECT', '0');
  assert.equal(call('CLUSTER', 'COUNTKEYSINSLOT', SLOT), 0);
  assert.deepEqual(call('CLUSTER', 'GETKEYSINSLOT', SLOT, '10'), []);
  assert.match(String(call('INFO', 'keyspace')), /db1:keys=1,/);
  assert.throws(() => call('CLUSTER', 'RESET'), /containing keys/);
  assert.throws(() => call('CLUSTER', 'SETSLOT', SLOT, 'NODE', b.id), /while I still hold keys/);
  model.execute(b, ['CLUSTER', 'SETSLOT', SLOT, 'IMPORTING', a.id]);
  call('CLUSTER', 'SETSLOT', SLOT, 'MIGRATING', b.id);
  assert.equal(call('MIGRATE', b.host, String(b.port), 'k', '0', '1000'), 'NOKEY');
  call('SELECT', '1');
  assert.equal(call('MIGRATE', b.host, String(b.port), 'k', '1', '1000'), 'OK');
  assert.match(String(model.execute(b, ['INFO', 'keyspace'])), /db1:keys=1,/);
  assert.throws(() => model.execute(b, ['CLUSTER', 'REPLICATE', a.id]), /must be empty/);
  // A transaction may select, as observation does.
  const listed = model.transaction(b, [
    ['SELECT', '1'],
    ['CLUSTER', 'GETKEYSINSLOT', SLOT, '10'],
    ['SELECT', '0'],
  ]);
  assert.deepEqual(listed, ['OK', ['k'], 'OK']);
});
