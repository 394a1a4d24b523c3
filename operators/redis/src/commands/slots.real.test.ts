/** The commands that mend slots: close-slots, claim-slots, collect-keys, bump-epoch. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Cluster,
  connect,
  type Product,
  type Server,
  startCluster,
  tagForSlot,
  waitUntilAgreed,
} from '@reeve/rig';
import { hasSlot } from '../api/slots.ts';
import type { NodeRef } from '../api/view.ts';
import { assertDone, assertFailed, assertStale, impostor, type Operator, operator, refTo, selfOf } from './testing.ts';

const PRODUCTS: readonly Product[] = ['valkey', 'redis'];

/** Slots of primary 0, one for each test; the rival's is one of primary 2. */
const SLOTS = {
  closing: 10,
  claiming: 20,
  rival: 16_000,
  collecting: 40,
  conflict: 50,
  collections: 60,
  abort: 70,
  carried: 80,
  giant: 90,
};

for (const product of PRODUCTS) {
  describe(`slots of ${product}`, () => {
    let cluster: Cluster;
    let refs: readonly NodeRef[] = [];
    let tool: Operator;
    const primary = (index: number) => cluster.primaries[index] as Server;
    const ref = (index: number) => refs[index] as NodeRef;
    const key = (slot: number, name: string) => `${name}:{${tagForSlot(slot)}}`;
    const keysOf = async (server: Server, slot: number) =>
      Number(await server.call('CLUSTER', 'COUNTKEYSINSLOT', slot));
    const owns = async (server: Server, slot: number) => hasSlot((await selfOf(server)).slots, slot);

    before(async () => {
      tool = operator();
      cluster = await startCluster({ product, primaries: 3, replicas: 1 });
      refs = await Promise.all(cluster.primaries.map(refTo));
    });
    after(async () => {
      await tool.close();
      await cluster.stop();
    });

    /** Writes keys to a node that does not own their slot. */
    async function writeAstray(server: Server, owner: NodeRef, slot: number, commands: readonly string[][]) {
      await server.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', owner.id);
      const connection = await connect(server.endpoint, server.access);
      try {
        for (const command of commands) {
          await connection.call('ASKING');
          await connection.call(...command);
        }
      } finally {
        connection.close();
      }
      await server.call('CLUSTER', 'SETSLOT', slot, 'STABLE');
    }

    test('close-slots: replicas that carry a mark lose it with their primary', async () => {
      const slot = SLOTS.carried;
      const replicas = await Promise.all(
        cluster.replicas.map(async (server) => ({ server, self: await selfOf(server) })),
      );
      const follower = replicas.find(({ self }) => self.primaryId === ref(0).id);
      assert.ok(follower);
      const carriedBy = [await refTo(follower.server)];
      const close = { type: 'close-slots', node: ref(0), slots: String(slot), carriedBy } as const;
      assertDone(await tool.run(close));
      await primary(0).call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ref(1).id);
      assertDone(await tool.run(close));
      assert.deepEqual((await selfOf(follower.server)).migrating, []);
      assert.deepEqual((await selfOf(primary(0))).migrating, []);
    });

    test('close-slots: done, again; stale while keys would be cut off on either side', async () => {
      const slot = SLOTS.closing;
      const close = (index: number) => tool.run({ type: 'close-slots', node: ref(index), slots: String(slot) });
      assertDone(await close(0));
      await primary(0).call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ref(1).id);
      await primary(1).call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ref(0).id);
      assertDone(await close(0));
      assert.deepEqual((await selfOf(primary(0))).migrating, []);

      await primary(0).call('SET', key(slot, 'a'), '1');
      await primary(0).call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ref(1).id);
      const { host, port } = primary(1).endpoint;
      await primary(0).call('MIGRATE', host, port, key(slot, 'a'), 0, 5000);
      assertStale(await close(0), /already holds keys of slot 10/);
      assertStale(await close(1), /holds keys of slot 10, which it is importing/);
      assert.equal((await selfOf(primary(1))).importing.length, 1, 'nothing was changed');
      assertStale(await tool.run({ type: 'close-slots', node: impostor(ref(0)), slots: '10' }), /answers/);
      assertFailed(await tool.run({ type: 'close-slots', node: ref(0), slots: '10..20' }), 'COMMAND_INVALID');

      // The way back, so that the next test finds it clean.
      await primary(1).call('CLUSTER', 'SETSLOT', slot, 'STABLE');
      const collect = { type: 'collect-keys', from: ref(1), owner: ref(0), slots: String(slot) } as const;
      await primary(0).call('CLUSTER', 'SETSLOT', slot, 'STABLE');
      assertDone(await tool.run(collect));
      assert.equal(await primary(0).call('GET', key(slot, 'a')), '1');
    });

    test('claim-slots: a slot of nobody; again; stale when somebody else has it', async () => {
      const slot = SLOTS.claiming;
      for (const server of cluster.primaries) await server.call('CLUSTER', 'DELSLOTS', slot);
      const claim = (owner: number, others: readonly number[], releaseFrom: readonly number[] = []) =>
        tool.run({
          type: 'claim-slots',
          owner: ref(owner),
          slots: String(slot),
          releaseFrom: releaseFrom.map(ref),
          others: others.map(ref),
        });
      assertDone(await claim(1, [0, 2]));
      assert.equal(await owns(primary(1), slot), true);
      await waitUntilAgreed(cluster.primaries);
      const epoch = (await selfOf(primary(1))).configEpoch;
      assertDone(await claim(1, [0, 2]));
      assert.equal((await selfOf(primary(1))).configEpoch, epoch, 'nothing to do: no new epoch');
      assertStale(await claim(0, [1, 2]), /claims slots 20/);
      // Nobody who was asked claims it; the owner-to-be knows one who was not asked.
      assertStale(await claim(0, [2]), /claims slots too/);
      assert.equal(await owns(primary(1), slot), true);
      assertStale(
        await tool.run({ type: 'claim-slots', owner: impostor(ref(0)), slots: '20', releaseFrom: [], others: [] }),
        /answers/,
      );
    });

    test('claim-slots: a rival gives up first and keeps its keys', async () => {
      const slot = SLOTS.rival;
      await primary(2).call('SET', key(slot, 'kept'), 'yes');
      // Two owners: node 0 takes the slot too. Its epoch is the lower one, so nobody believes it, nor does it believe
      // itself once it hears from node 2: that one is silent until the slot is taken and open.
      const rivalEpoch = (await selfOf(primary(2))).configEpoch;
      primary(2).pause();
      try {
        // This answer comes after what node 2 had sent before.
        assert.ok((await selfOf(primary(0))).configEpoch < rivalEpoch);
        await primary(0).call('CLUSTER', 'DELSLOTS', slot);
        await primary(0).call('CLUSTER', 'ADDSLOTS', slot);
        await primary(0).call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ref(1).id);
      } finally {
        primary(2).resume();
      }
      assertDone(
        await tool.run({
          type: 'claim-slots',
          owner: ref(0),
          slots: String(slot),
          releaseFrom: [ref(2)],
          others: [ref(1)],
        }),
      );
      await waitUntilAgreed(cluster.primaries);
      assert.equal(await owns(primary(0), slot), true);
      assert.deepEqual((await selfOf(primary(0))).migrating, [], 'and it is closed');
      assert.equal(await owns(primary(2), slot), false);
      assert.equal(await keysOf(primary(2), slot), 1, 'its keys are still there');
      assertDone(await tool.run({ type: 'collect-keys', from: ref(2), owner: ref(0), slots: String(slot) }));
      assert.equal(await primary(0).call('GET', key(slot, 'kept')), 'yes');
      assert.equal(await keysOf(primary(2), slot), 0);
    });

    test('collect-keys: moves what the owner lacks, removes equal copies, keeps both where they differ', async () => {
      const slot = SLOTS.collecting;
      const names = Array.from({ length: 250 }, (_, n) => key(slot, `k${n}`));
      const astray = names.map((name, n) => ['SET', name, `value ${n}`]);
      await writeAstray(primary(1), ref(0), slot, astray);
      await primary(0).call('SET', names[0] as string, 'value 0');
      const collect = () => tool.run({ type: 'collect-keys', from: ref(1), owner: ref(0), slots: String(slot) });
      const outcome = await collect();
      assertDone(outcome);
      assert.match(outcome.status === 'done' ? (outcome.note ?? '') : '', /249 keys moved, 1 equal copies removed/);
      assert.equal(await keysOf(primary(1), slot), 0);
      assert.equal(await keysOf(primary(0), slot), 250);
      assert.equal(await primary(0).call('GET', names[249] as string), 'value 249');
      assert.deepEqual((await selfOf(primary(1))).importing, []);
      assertDone(await collect());
    });

    test('collect-keys: a conflict changes nothing and is named', async () => {
      const slot = SLOTS.conflict;
      const [both, alone] = [key(slot, 'both'), key(slot, 'alone')];
      await primary(0).call('SET', both, 'the owner’s');
      await writeAstray(primary(1), ref(0), slot, [
        ['SET', both, 'the other’s'],
        ['SET', alone, 'x'],
      ]);
      const outcome = await tool.run({ type: 'collect-keys', from: ref(1), owner: ref(0), slots: String(slot) });
      assertFailed(outcome, 'KEY_CONFLICT', /1 keys differ.*both:/);
      assert.equal(await primary(0).call('GET', both), 'the owner’s');
      assert.equal(await primary(0).call('GET', alone), 'x');
      assert.equal(await keysOf(primary(1), slot), 1, 'the other copy stays');
    });

    test('collect-keys: a key too big for the node timeout stays and is named, the others go', async () => {
      const slot = SLOTS.giant;
      const [giant, small] = [key(slot, 'giant'), key(slot, 'small')];
      await writeAstray(primary(1), ref(0), slot, [
        ['SETRANGE', giant, '60000000', 'x'],
        ['SET', small, 'y'],
      ]);
      const collect = () => tool.run({ type: 'collect-keys', from: ref(1), owner: ref(0), slots: String(slot) });
      assertFailed(await collect(), 'BIG_KEY', /1 keys would block.*giant:/);
      assert.equal(await primary(0).call('GET', small), 'y');
      assert.equal(await keysOf(primary(1), slot), 1, 'the giant stays');
      assert.deepEqual((await selfOf(primary(1))).importing, []);
      // Made smaller it is moved, alone.
      await writeAstray(primary(1), ref(0), slot, [
        ['DEL', giant],
        ['SETRANGE', giant, '3000000', 'x'],
      ]);
      assertDone(await collect());
      assert.equal(Number(await primary(0).call('STRLEN', giant)), 3_000_001);
    });

    test('collect-keys: equal collections are equal, in whatever order the servers keep them', async () => {
      const slot = SLOTS.collections;
      const members = Array.from({ length: 2000 }, (_, n) => `member ${n}`);
      const scored = members.flatMap((member, n) => [String(n), member]);
      const write = [
        ['SADD', key(slot, 'set'), ...members],
        ['HSET', key(slot, 'hash'), ...members.flatMap((member) => [member, `of ${member}`])],
        ['ZADD', key(slot, 'zset'), ...scored],
        ['RPUSH', key(slot, 'list'), ...members],
        ['XADD', key(slot, 'stream'), '1-1', 'a', 'b'],
      ];
      for (const command of write) await primary(0).call(...command);
      await writeAstray(
        primary(1),
        ref(0),
        slot,
        write.map(([name = '', ...rest]) => [name, ...shuffledMembers(name, rest)]),
      );
      const outcome = await tool.run({ type: 'collect-keys', from: ref(1), owner: ref(0), slots: String(slot) });
      assertDone(outcome);
      assert.match(outcome.status === 'done' ? (outcome.note ?? '') : '', /0 keys moved, 5 equal copies removed/);
      // One member more is another value.
      await writeAstray(primary(1), ref(0), slot, [['SADD', key(slot, 'set'), ...members, 'one more']]);
      assertFailed(
        await tool.run({ type: 'collect-keys', from: ref(1), owner: ref(0), slots: String(slot) }),
        'KEY_CONFLICT',
      );
    });

    test('collect-keys: stale when the roles are not as thought; interrupted in the middle is not done', async () => {
      const slots = String(SLOTS.abort);
      assertStale(
        await tool.run({ type: 'collect-keys', from: ref(0), owner: ref(1), slots }),
        /owns some of these slots/,
      );
      assertStale(await tool.run({ type: 'collect-keys', from: ref(1), owner: ref(2), slots }), /does not own all/);
      await primary(0).call('CLUSTER', 'SETSLOT', slots, 'MIGRATING', ref(2).id);
      assertStale(await tool.run({ type: 'collect-keys', from: ref(1), owner: ref(0), slots }), /is migrating away/);
      await primary(0).call('CLUSTER', 'SETSLOT', slots, 'STABLE');
      await writeAstray(primary(1), ref(0), SLOTS.abort, [['SET', key(SLOTS.abort, 'a'), '1']]);
      const interrupted = await tool.run(
        { type: 'collect-keys', from: ref(1), owner: ref(0), slots },
        AbortSignal.abort(new Error('a test')),
      );
      assertFailed(interrupted, 'INTERRUPTED');
      assert.equal(await keysOf(primary(1), SLOTS.abort), 1);
    });

    test('bump-epoch: a new epoch for a node that has the shared one still; stale for a replica, which shows the epoch of its primary', async () => {
      const epochs = async () =>
        Promise.all(cluster.primaries.map(async (server) => (await selfOf(server)).configEpoch));
      const before = await epochs();
      assert.equal(new Set(before).size, 3);
      const lowest = before.indexOf(Math.min(...before));
      const epoch = before[lowest] as number;
      const node = ref(lowest);
      assertDone(await tool.run({ type: 'bump-epoch', node, epoch: epoch + 1000 }));
      assert.deepEqual(await epochs(), before);
      assertStale(await tool.run({ type: 'bump-epoch', node: impostor(node), epoch }), /answers/);
      const replica = await refTo(cluster.replicas[0] as Server);
      assertStale(await tool.run({ type: 'bump-epoch', node: replica, epoch }), /is a replica/);
      assertDone(await tool.run({ type: 'bump-epoch', node, epoch }));
      const after = await epochs();
      assert.ok((after[lowest] as number) > Math.max(...before), after.join());
    });
  });
}

/** The members of a set, hash or sorted set in another order; everything else as it is. */
function shuffledMembers(command: string, rest: readonly string[]): string[] {
  const [name = '', ...members] = rest;
  if (command === 'SADD') return [name, ...members.toReversed()];
  if (command !== 'HSET' && command !== 'ZADD') return [...rest];
  const pairs = Array.from({ length: members.length / 2 }, (_, n) => members.slice(2 * n, 2 * n + 2));
  return [name, ...pairs.toReversed().flat()];
}
