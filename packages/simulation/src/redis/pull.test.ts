import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prng } from '../random.ts';
import { type ModelServer, RedisClusterModel, slotOfKey } from './index.ts';

const SLOT = slotOfKey('06S');

function pair(seed: number) {
  const model = new RedisClusterModel({
    random: prng(seed),
    flavour: 'redis8',
    nodeTimeoutMs: 2000,
    persistence: true,
  });
  const servers = [1, 2, 3].map((index) => model.addServer({ host: '127.0.0.1', port: 7000 + index }));
  const [a, b, c] = servers as [ModelServer, ModelServer, ModelServer];
  const call = (server: ModelServer, ...args: (string | number)[]) => model.execute(server.endpoint, args.map(String));
  call(a, 'CLUSTER', 'ADDSLOTSRANGE', 0, 9999);
  call(b, 'CLUSTER', 'ADDSLOTSRANGE', 10000, 16000);
  call(c, 'CLUSTER', 'ADDSLOTSRANGE', 16001, 16383);
  for (const [index, server] of servers.entries()) {
    call(server, 'CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    for (const other of servers) if (other !== server) call(server, 'CLUSTER', 'MEET', other.host, other.port);
  }
  const until = (what: string, holds: () => boolean) => {
    for (let waited = 0; !holds(); waited += 100) {
      if (waited > 60_000) assert.fail(`the model does not come to: ${what}`);
      model.advance(100);
    }
  };
  until('formed', () => servers.every((server) => server.state === 'ok' && server.peers.size === 3));
  const status = (server: ModelServer, id: unknown): Record<string, unknown> => {
    const [task = []] = call(server, 'CLUSTER', 'MIGRATION', 'STATUS', 'ID', String(id)) as unknown[][];
    const fields: Record<string, unknown> = {};
    for (let at = 0; at < task.length; at += 2) fields[String(task[at])] = task[at + 1];
    return fields;
  };
  return { model, a, b, c, call, until, status };
}

describe('the atomic migration of Redis 8.4', () => {
  test('the target pulls the slots with their keys', () => {
    const { a, b, call, until, status } = pair(1);
    call(a, 'SET', '{06S}', 'x');
    const id = call(b, 'CLUSTER', 'MIGRATION', 'IMPORT', SLOT, SLOT, SLOT + 2, SLOT + 3);
    assert.match(String(id), /^[0-9a-f]{40}$/);
    until('completed', () => status(b, id).state === 'completed');
    until('the source knows', () => status(a, id).state === 'completed');
    const task = status(b, id);
    assert.deepEqual(
      [task.operation, task.slots, task.source, task.dest, task.retries, task.last_error],
      ['import', `${SLOT}-${SLOT} ${SLOT + 2}-${SLOT + 3}`, a.id, b.id, 0, ''],
    );
    assert.equal(call(b, 'GET', '{06S}'), 'x');
    assert.equal(a.countKeysInSlot(SLOT), 0);
  });

  test('refusals', () => {
    const { a, b, c, call } = pair(2);
    const refuse = (server: ModelServer, words: (string | number)[], message: string) =>
      assert.throws(() => call(server, 'CLUSTER', 'MIGRATION', ...words), { message });
    refuse(a, ['IMPORT', SLOT, SLOT], 'ERR this node is already the owner of the slot range');
    refuse(c, ['IMPORT', 9999, 10000], 'ERR slots belong to different source nodes');
    refuse(b, ['IMPORT', SLOT], "ERR wrong number of arguments for 'cluster|migration' command");
    refuse(b, ['NOPE', 'x'], 'ERR unknown argument');
    call(b, 'CLUSTER', 'MIGRATION', 'IMPORT', SLOT, SLOT);
    refuse(b, ['IMPORT', SLOT + 1, SLOT + 1], 'ERR another ASM task is already in progress');
    call(c, 'CLUSTER', 'SETSLOT', SLOT, 'IMPORTING', a.id);
    refuse(c, ['IMPORT', SLOT, SLOT], 'ERR all slot states must be STABLE to start a slot migration task.');
  });

  test('a source takes part in one task at a time: the second target tries again until it is free', () => {
    const { a, b, c, call, until, status } = pair(3);
    const first = call(b, 'CLUSTER', 'MIGRATION', 'IMPORT', SLOT, SLOT);
    const second = call(c, 'CLUSTER', 'MIGRATION', 'IMPORT', SLOT + 1, SLOT + 1);
    until('both done', () => status(b, first).state === 'completed' && status(c, second).state === 'completed');
    assert.equal(Number(status(b, first).retries) + Number(status(c, second).retries) > 0, true);
    until('the source knows', () => a.ownerOf(SLOT)?.id === b.id && a.ownerOf(SLOT + 1)?.id === c.id);
  });

  test('a dead source: the target fails and tries again until it is back', () => {
    const { model, a, b, call, until, status } = pair(4);
    call(a, 'SET', '{06S}', 'x');
    model.kill(a);
    const id = call(b, 'CLUSTER', 'MIGRATION', 'IMPORT', SLOT, SLOT);
    until('it has tried twice', () => Number(status(b, id).retries) >= 2);
    assert.match(String(status(b, id).last_error), /Connection refused/);
    model.restart(a);
    until('completed', () => status(b, id).state === 'completed');
    assert.equal(call(b, 'GET', '{06S}'), 'x');
  });

  test('cancelled on the target it is over; cancelled on the source only, the target tries again', () => {
    const { model, a, b, call, until, status } = pair(5);
    const id = call(b, 'CLUSTER', 'MIGRATION', 'IMPORT', SLOT, SLOT);
    until('both sides work on it', () => a.pull.current?.id === id);
    assert.equal(call(a, 'CLUSTER', 'MIGRATION', 'CANCEL', 'ID', String(id)), 1);
    until('the target completes it all the same', () => status(b, id).state === 'completed');
    assert.ok(Number(status(b, id).retries) > 0);
    model.advance(2000);
    const other = call(b, 'CLUSTER', 'MIGRATION', 'IMPORT', SLOT + 1, SLOT + 1);
    assert.equal(call(b, 'CLUSTER', 'MIGRATION', 'CANCEL', 'ALL'), 1);
    assert.equal(status(b, other).state, 'canceled');
    model.advance(20_000);
    assert.equal(a.ownerOf(SLOT + 1), a.self);
    assert.equal(call(b, 'CLUSTER', 'MIGRATION', 'CANCEL', 'ALL'), 0);
  });
});
