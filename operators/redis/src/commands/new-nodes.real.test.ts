/** The commands that make a cluster out of new nodes: assign-slots, set-epochs, meet, replicate, copy-functions. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freePort, type Product, type Server, startServers, until } from '@reeve/rig';
import { slotOfKey } from '../api/crc16.ts';
import type { NodeLine, NodeRef } from '../api/view.ts';
import {
  assertDone,
  assertFailed,
  assertStale,
  impostor,
  linesOf,
  type Operator,
  operator,
  refTo,
  selfOf,
} from './testing.ts';

const PRODUCTS: readonly Product[] = ['valkey', 'redis'];

for (const product of PRODUCTS) {
  describe(`new nodes of ${product}`, () => {
    let servers: readonly Server[] = [];
    let refs: readonly NodeRef[] = [];
    let tool: Operator;
    const busPorts = new Map<string, number>();
    const server = (index: number) => servers[index] as Server;
    const ref = (index: number) => refs[index] as NodeRef;
    before(async () => {
      tool = operator();
      servers = await startServers(4, {
        product,
        nodeTimeoutMs: 2000, // a node that loses its cluster for a moment serves again after this time
        extraConfig: ['cluster-require-full-coverage no'],
      });
      refs = await Promise.all(servers.map(refTo));
      for (const one of servers) busPorts.set((await selfOf(one)).id, (await selfOf(one)).busPort);
    });
    after(async () => {
      await tool.close();
      await Promise.all(servers.map((one) => one.stop()));
    });

    test('assign-slots: done, done already, added to, stale when it owns others or holds keys or is somebody else', async () => {
      const assign = (index: number, slots: string) => tool.run({ type: 'assign-slots', node: ref(index), slots });
      assertDone(await assign(0, '0-99'));
      assertDone(await assign(0, '0-99'));
      assertDone(await assign(0, '0-199,300'));
      assert.deepEqual((await selfOf(server(0))).slots, [
        [0, 199],
        [300, 300],
      ]);
      assertStale(await assign(0, '500-600'), /owns other slots/);
      assertStale(await tool.run({ type: 'assign-slots', node: impostor(ref(1)), slots: '5' }), /answers/);
      assertFailed(await assign(1, '99-5'), 'COMMAND_INVALID');

      await server(3).call('CLUSTER', 'ADDSLOTS', 0);
      await until(
        'it serves',
        async () =>
          (await server(3)
            .call('SET', '{06S}x', 'y')
            .catch(() => '')) === 'OK',
      );
      await server(3).call('CLUSTER', 'DELSLOTS', 0);
      assertStale(await assign(3, '1-2'), /not empty: 1 keys/);
      await server(3).call('FLUSHALL');
      assert.deepEqual((await selfOf(server(3))).slots, []);
    });

    test('set-epochs: each its own, read back; again; stale when one is set already', async () => {
      const epochs = [0, 1, 2].map((index) => ({ node: ref(index), epoch: index + 1 }));
      assertDone(await tool.run({ type: 'set-epochs', epochs }));
      assertDone(await tool.run({ type: 'set-epochs', epochs }));
      assert.deepEqual(
        await Promise.all([0, 1, 2].map(async (index) => (await selfOf(server(index))).configEpoch)),
        [1, 2, 3],
      );
      assertStale(await tool.run({ type: 'set-epochs', epochs: [{ node: ref(0), epoch: 9 }] }), /has epoch 1/);
      assertStale(await tool.run({ type: 'set-epochs', epochs: [{ node: impostor(ref(3)), epoch: 9 }] }), /answers/);
      assert.equal((await selfOf(server(0))).configEpoch, 1);
    });

    test('meet: all pairs, again without effect, stale for somebody else, failed for a name and a dead address', async () => {
      const pair = (from: NodeRef, to: NodeRef) => ({ from, to, toBusPort: busPorts.get(to.id) ?? 0 });
      const pairs = [0, 1, 2].flatMap((from) =>
        [0, 1, 2].filter((to) => to !== from).map((to) => pair(ref(from), ref(to))),
      );
      assertStale(await tool.run({ type: 'meet', pairs: [pair(ref(0), impostor(ref(1)))] }), /answers/);
      assert.equal((await linesOf(server(0))).length, 1, 'nothing was sent');
      assertDone(await tool.run({ type: 'meet', pairs }));
      const isKnown = (line: NodeLine) => line.linkUp && !line.flags.includes('handshake');
      await until('all know each other', async () => {
        const tables = await Promise.all([0, 1, 2].map((index) => linesOf(server(index))));
        return tables.every((lines) => lines.length === 3 && lines.every(isKnown));
      });
      assertDone(await tool.run({ type: 'meet', pairs }));
      for (const index of [0, 1, 2]) {
        assert.equal((await linesOf(server(index))).length, 3, 'no new handshake for those who know each other');
      }
      const named = { ...ref(3), endpoint: { ...ref(3).endpoint, host: 'localhost' } };
      assertFailed(await tool.run({ type: 'meet', pairs: [pair(ref(0), named)] }), 'ADDRESS_NOT_IP');
      const nobody = { id: 'e'.repeat(40), endpoint: { host: '127.0.0.1', port: await freePort() } };
      assertFailed(await tool.run({ type: 'meet', pairs: [pair(ref(0), nobody)] }), 'REDIS_UNREACHABLE');
    });

    test('replicate: done, again without a new sync, stale for an owner of slots, a stranger, a replica as primary', async () => {
      const replicate = (replica: NodeRef, primary: NodeRef, mustBeEmpty = true) =>
        tool.run({ type: 'replicate', replica, primary, mustBeEmpty });
      assertStale(await replicate(ref(0), ref(1)), /owns 201 slots/);
      assertStale(await replicate(ref(2), ref(3)), /does not know/);
      assertStale(await replicate(ref(2), impostor(ref(0))), /does not know/);
      assertDone(await replicate(ref(2), ref(0)));
      await until('the link is up', async () => /master_link_status:up/.test(String(await server(2).call('INFO'))));
      const syncs = async () => {
        const info = String(await server(0).call('INFO', 'stats'));
        return [/sync_full:(\d+)/, /sync_partial_ok:(\d+)/].map((what) => what.exec(info)?.[1]).join();
      };
      const before = await syncs();
      assertDone(await replicate(ref(2), ref(0)));
      assert.match(String(await server(2).call('INFO', 'replication')), /master_link_status:up/);
      assert.equal(await syncs(), before, 'a link that is up is left alone');
      await until('node 1 knows the replica', async () =>
        (await linesOf(server(1))).some((line) => line.id === ref(2).id && line.role === 'replica'),
      );
      assertStale(await replicate(ref(1), ref(2)), /is a replica in the eyes of/);
    });

    test('replicate: a primary with keys of its own is never overwritten by a sync', async () => {
      await server(1).call('CLUSTER', 'ADDSLOTS', 1000);
      // A key of slot 1000 that stays behind when the slot is given up.
      await until('it holds a key', async () => (await server(1).call('SET', keyOf(1000), 'x')) === 'OK', {
        timeoutMs: 30_000,
      });
      await server(1).call('CLUSTER', 'DELSLOTS', 1000);
      for (const mustBeEmpty of [true, false]) {
        const outcome = await tool.run({ type: 'replicate', replica: ref(1), primary: ref(0), mustBeEmpty });
        assertStale(outcome, /1 keys|holds keys/);
      }
      assert.equal(await server(1).call('DBSIZE'), 1);
      await server(1).call('FLUSHALL');
    });

    test('copy-functions: done, again, none, failed when the other has its own', async () => {
      const library = (name: string, text = 'return 1') =>
        `#!lua name=${name}\nredis.register_function('f_${name}', function() ${text} end)`;
      const copy = (from: number, to: number) => tool.run({ type: 'copy-functions', from: ref(from), to: ref(to) });
      assertDone(await copy(0, 3));
      for (const name of ['one', 'two', 'three', 'four', 'five'])
        await server(0).call('FUNCTION', 'LOAD', library(name));
      assertDone(await copy(0, 3));
      assertDone(await copy(0, 3));
      assert.equal(((await server(3).call('FUNCTION', 'LIST')) as unknown[]).length, 5);
      await server(3).call('FUNCTION', 'LOAD', 'REPLACE', library('two', 'return 2'));
      assertFailed(await copy(0, 3), 'FUNCTIONS_DIFFER');
      assertStale(await tool.run({ type: 'copy-functions', from: ref(0), to: impostor(ref(3)) }), /answers/);
      await server(3).call('FUNCTION', 'FLUSH');
    });

    test('a server that is gone: failed', async () => {
      await server(3).kill9();
      const outcome = await tool.run({ type: 'assign-slots', node: ref(3), slots: '4000' });
      // Lost, if our old connection was not known to be dead yet.
      assert.match(
        outcome.status === 'failed' ? outcome.code : outcome.status,
        /^REDIS_(?:UNREACHABLE|CONNECTION_LOST)$/,
      );
    });
  });
}

/** A key of that slot. */
function keyOf(slot: number): string {
  for (let n = 0; ; n++) if (slotOfKey(`k${n}`) === slot) return `k${n}`;
}
