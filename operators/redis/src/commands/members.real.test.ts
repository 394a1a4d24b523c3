/** The commands that change who is a member and who is primary: failover, forget-node, replicate after a move. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Cluster,
  meetAll,
  type Product,
  type Server,
  startCluster,
  startServer,
  startServers,
  tagForSlot,
  until,
  waitUntilAgreed,
  waitUntilFormed,
} from '@reeve/rig';
import { hasSlot } from '../api/slots.ts';
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
  describe(`members of ${product}`, () => {
    let cluster: Cluster;
    let tool: Operator;
    const primary = (index: number) => cluster.primaries[index] as Server;
    const replica = (index: number) => cluster.replicas[index] as Server;
    before(async () => {
      tool = operator();
      cluster = await startCluster({ product, primaries: 3, replicas: 1, nodeTimeoutMs: 5000 });
    });
    after(async () => {
      await tool.close();
      await cluster.stop();
    });

    test('failover, graceful: done, done already, stale for a node of another shard', async () => {
      const promote = async () =>
        tool.run({
          type: 'failover',
          replica: await refTo(replica(0)),
          primary: await refTo(primary(0)),
          mode: 'graceful',
        });
      const other = { type: 'failover', primary: await refTo(primary(1)), mode: 'graceful' } as const;
      assertStale(await tool.run({ ...other, replica: await refTo(replica(0)) }), /replicates .* now/);
      assertStale(await tool.run({ ...other, replica: impostor(await refTo(replica(1))) }), /answers/);
      assertDone(await promote());
      assert.equal((await selfOf(replica(0))).role, 'primary');
      assertDone(await promote());
      await waitUntilAgreed(cluster.servers);
      assert.equal((await selfOf(primary(0))).role, 'replica');
      // Back again, so that the other tests find what they know.
      const back = { replica: await refTo(primary(0)), primary: await refTo(replica(0)), mode: 'graceful' } as const;
      assertDone(await tool.run({ type: 'failover', ...back }));
      await waitUntilAgreed(cluster.servers);
    });

    test('failover, forced: stale while the primary answers', async () => {
      for (const mode of ['force', 'takeover'] as const) {
        const outcome = await tool.run({
          type: 'failover',
          replica: await refTo(replica(1)),
          primary: await refTo(primary(1)),
          mode,
        });
        assertStale(outcome, /sees its primary .* alive/);
      }
      assert.equal((await selfOf(replica(1))).role, 'replica');
    });

    test('replicate: a copy of slots goes elsewhere only if it is said whom it leaves; and back', async () => {
      const [replicaRef, here, there] = [await refTo(replica(1)), await refTo(primary(1)), await refTo(primary(2))];
      const move = { type: 'replicate', replica: replicaRef, mustBeEmpty: false } as const;
      assertStale(await tool.run({ ...move, primary: there }), /may be the only copy/);
      assertStale(await tool.run({ ...move, primary: there, leaves: await refTo(primary(0)) }), /may be the only copy/);
      for (const [from, to] of [
        [here, there],
        [there, here],
      ] as const) {
        assertDone(await tool.run({ ...move, primary: to, leaves: from }));
        await until('the link is up', async () => /master_link_status:up/.test(String(await replica(1).call('INFO'))));
      }
      await waitUntilAgreed(cluster.servers);
    });

    test('forget-node: stale for an owner of slots, a primary with replicas, a missed member; done; again', async () => {
      const extra = await startServer({ product, nodeTimeoutMs: 5000 });
      try {
        await meetAll([...cluster.servers, extra]);
        const members = await Promise.all(cluster.servers.map(refTo));
        const victim = await refTo(extra);
        const forget = async (node: Server, by = members) =>
          tool.run({
            type: 'forget-node',
            node: await refTo(node),
            by: by.filter(({ endpoint }) => endpoint.port !== node.endpoint.port),
            reset: true,
          });
        assertStale(await forget(primary(0)), /still sees \d+ slots/);
        assertStale(await forget(extra, members.slice(0, 4)), /is a member too/);
        assertStale(
          await forget(
            extra,
            members.map((ref, index) => (index === 2 ? impostor(ref) : ref)),
          ),
          /answers/,
        );

        await extra.call('CLUSTER', 'REPLICATE', members[0]?.id ?? '');
        assertDone(await forget(extra));
        for (const server of cluster.servers) {
          assert.ok((await linesOf(server)).every((line) => line.id !== victim.id));
        }
        const [alone, ...others] = await linesOf(extra);
        assert.deepEqual([alone?.role, others.length], ['primary', 0], 'it was reset');
        assert.notEqual(alone?.id, victim.id, 'it can be added again at once');
        assertDone(await forget(extra));
      } finally {
        await extra.stop();
      }
    });

    test('forget-node: one that members shake hands with at that moment stays forgotten', async () => {
      const extra = await startServer({ product, nodeTimeoutMs: 5000 });
      try {
        await meetAll([...cluster.servers, extra]);
        // The members have met each other again: those handshakes have lines, too, until they end.
        await waitUntilFormed([...cluster.servers, extra]);
        const victim = await refTo(extra);
        const by = await Promise.all(cluster.servers.map(refTo));
        // A MEET that is still on its way when the node is reset would be answered, and bring it back.
        const { host, port } = extra.endpoint;
        for (const server of cluster.servers) await server.call('CLUSTER', 'MEET', host, port, extra.busPort);
        assertDone(await tool.run({ type: 'forget-node', node: victim, by, reset: true }));
        // Nobody knows it, and nobody is about to: a handshake has a line of its own, on one side at least, until it ends.
        assert.equal((await linesOf(extra)).length, 1, 'it is alone');
        for (const server of cluster.servers) {
          assert.equal((await linesOf(server)).length, cluster.servers.length, 'nobody knows it');
        }
      } finally {
        await extra.stop();
      }
    });

    test('forget-node: one that is dead, and one that holds keys of its own', async () => {
      const [dead, full] = await startServers(2, { product, nodeTimeoutMs: 5000 });
      assert.ok(dead && full);
      try {
        await meetAll([...cluster.servers, dead, full]);
        const members = await Promise.all(cluster.servers.map(refTo));
        const fullRef = await refTo(full);
        const deadRef = await refTo(dead);
        await dead.kill9();
        // The other newcomer knows it too and must be asked.
        assertDone(await tool.run({ type: 'forget-node', node: deadRef, by: [...members, fullRef], reset: true }));
        const owner = await refTo(primary(0));
        // A node that imports a slot before it heard who owns it would never hear it.
        await until('it knows the owner', async () =>
          (await linesOf(full)).some((line) => line.id === owner.id && hasSlot(line.slots, 1)),
        );
        await full.call('CLUSTER', 'SETSLOT', 1, 'IMPORTING', owner.id);
        await until('it holds a key', async () => {
          const [, written] = await Promise.all([full.call('ASKING'), full.call('SET', `{${tagForSlot(1)}}`, 'y')]);
          return written === 'OK';
        });
        const outcome = await tool.run({ type: 'forget-node', node: fullRef, by: members, reset: true });
        assert.equal(
          outcome.status === 'failed' && outcome.code,
          'NODE_NOT_EMPTY',
          'its keys do not leave the cluster',
        );
        assert.equal(await full.call('DBSIZE'), 1);
        assert.ok(
          (await linesOf(primary(0))).some((line) => line.id === fullRef.id),
          'it is still a member',
        );
        await full.call('FLUSHALL');
        assertDone(await tool.run({ type: 'forget-node', node: fullRef, by: members, reset: true }));
      } finally {
        await dead.stop();
        await full.stop();
      }
    });

    test('forget-node: a dead primary goes while its dead replica still follows it, and that one after it', async () => {
      const [dead, follower] = await startServers(2, { product, nodeTimeoutMs: 5000 });
      assert.ok(dead && follower);
      try {
        await meetAll([...cluster.servers, dead, follower]);
        const [deadRef, followerRef] = [await refTo(dead), await refTo(follower)];
        await until('it knows whom to follow', async () =>
          (await linesOf(follower)).some(({ id }) => id === deadRef.id),
        );
        await follower.call('CLUSTER', 'REPLICATE', deadRef.id);
        const allSay = async (isSo: (line: NodeLine) => boolean) => {
          const tables = await Promise.all(cluster.servers.map(linesOf));
          return tables.every((lines) => lines.some((line) => line.id === followerRef.id && isSo(line)));
        };
        await until('all know whom it follows', () => allSay(({ primaryId }) => primaryId === deadRef.id));
        const by = await Promise.all(cluster.servers.map(refTo));
        await dead.kill9();
        await follower.kill9();
        const forget = (node: NodeRef) => tool.run({ type: 'forget-node', node, by, reset: false });
        assertStale(await forget(deadRef), /still sees .* replicate/);
        await until('all call it failed', () => allSay(({ flags }) => flags.includes('fail')));
        assertDone(await forget(deadRef));
        assert.ok(await allSay(({ role, primaryId }) => role === 'replica' && primaryId === undefined));
        assertDone(await forget(followerRef));
        for (const server of cluster.servers) {
          assert.equal((await linesOf(server)).length, cluster.servers.length, 'both are forgotten');
        }
      } finally {
        await dead.stop();
        await follower.stop();
      }
    });

    test('forget-node: a replica with an append-only file comes back empty, also if a rewrite was under way', async () => {
      // Slow rewrites: one that began with the keys is still being written when the node is reset.
      const options = { product, nodeTimeoutMs: 5000, appendOnly: true, extraConfig: ['rdb-key-save-delay 20000'] };
      const extra = await startServer(options);
      try {
        await meetAll([...cluster.servers, extra]);
        const owner = await refTo(primary(0));
        for (let number = 0; number < 100; number++) {
          await primary(0).call('SET', `{${tagForSlot(1)}}${number}`, 'value');
        }
        await extra.call('CLUSTER', 'REPLICATE', owner.id);
        await until('its full sync is done', async () => (await extra.call('DBSIZE')) === 100);
        // Redis begins one by itself then, and refuses this one.
        const rewriting = extra.call('BGREWRITEAOF').catch(() => undefined);
        assert.match(String(await extra.call('INFO', 'persistence')), /aof_rewrite_in_progress:1/);
        await rewriting;
        const by = await Promise.all(cluster.servers.map(refTo));
        const outcome = await tool.run({ type: 'forget-node', node: await refTo(extra), by, reset: true });
        assert.deepEqual(outcome, { status: 'done' });
        await extra.kill9();
        await extra.restart();
        assert.equal(await extra.call('DBSIZE'), 0);
      } finally {
        await extra.stop();
      }
    });

    test('failover, forced: done when the primary is gone', async () => {
      const [old, next] = [await refTo(primary(2)), await refTo(replica(2))];
      await replica(2).call('CONFIG', 'SET', 'cluster-replica-no-failover', 'yes');
      await primary(2).kill9();
      await until('it is taken for failed', async () =>
        (await linesOf(replica(2))).some((line) => line.id === old.id && line.flags.includes('fail')),
      );
      const away = { type: 'replicate', replica: next, primary: await refTo(primary(1)), mustBeEmpty: false } as const;
      assertStale(await tool.run({ ...away, leaves: old }), /not in sync|does not answer/);
      const rest = cluster.servers.filter((server) => server !== primary(2) && server !== replica(2));
      const by = await Promise.all(rest.map(refTo));
      assertStale(await tool.run({ type: 'forget-node', node: next, by, reset: true }), /may be the only copy/);
      const outcome = await tool.run({ type: 'failover', replica: next, primary: old, mode: 'force' });
      assertDone(outcome);
      assert.equal((await selfOf(replica(2))).role, 'primary');
    });

    test('failover: failed when the server does not carry it out', async () => {
      // Two of three primaries gone: nobody can vote.
      const [victim, heir] = [await refTo(primary(1)), await refTo(replica(1))];
      await Promise.all([primary(0).kill9(), primary(1).kill9()]);
      await until('it sees its primary failing', async () =>
        (await linesOf(replica(1))).some(
          (line) => line.id === victim.id && line.flags.some((flag) => /fail/.test(flag)),
        ),
      );
      await replica(0).kill9();
      const outcome = await tool.run({ type: 'failover', replica: heir, primary: victim, mode: 'force' });
      assertFailed(outcome, 'FAILOVER_NOT_DONE');
      assertDone(await tool.run({ type: 'failover', replica: heir, primary: victim, mode: 'takeover' }));
    });
  });
}
