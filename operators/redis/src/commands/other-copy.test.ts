/** A replica that may be the only copy of its shard is not emptied: asked of servers of the model, live, right before. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isHandle, localExecutor, type Outcome } from '@reeve/runtime';
import { TestCluster } from '../../tests/migrate/test-cluster.ts';
import type { RedisCommand, Replicate } from '../api/commands.ts';
import type { RedisContext } from './context.ts';
import { redisHandlers } from './handlers.ts';
import { assertStale } from './testing.ts';

const KEYS = 20;

/** The fourth server is a replica of the first, with its keys. */
class Shard extends TestCluster {
  readonly #executor = localExecutor<RedisCommand, RedisContext>(redisHandlers, this.context());

  constructor() {
    super();
    this.call(3, 'CLUSTER', 'REPLICATE', this.ref(0).id);
    this.fill(0, 5, KEYS);
    this.pass(10_000);
    assert.equal(this.held(3).size, KEYS);
  }

  async run(command: RedisCommand): Promise<Outcome> {
    const started = await this.#executor.start(command, new AbortController().signal);
    return isHandle<Outcome>(started) ? started.settled : started;
  }

  move(more: Partial<Replicate> = {}): Promise<Outcome> {
    const [replica, primary, leaves] = [this.ref(3), this.ref(1), this.ref(0)];
    return this.run({ type: 'replicate', replica, primary, mustBeEmpty: false, leaves, why: 'test', ...more });
  }

  forget(): Promise<Outcome> {
    const by = [0, 1, 2].filter((index) => this.servers[index]?.process === 'up').map((index) => this.ref(index));
    return this.run({ type: 'forget-node', node: this.ref(3), by, reset: true, why: 'test' });
  }

  server(index: number) {
    const server = this.servers[index];
    assert.ok(server);
    return server;
  }

  async isKept(outcome: Outcome, message: RegExp): Promise<void> {
    assertStale(outcome, message);
    assert.equal(this.held(3).size, KEYS, 'it has its keys');
    assert.equal(this.call(3, 'CLUSTER', 'MYID'), this.ref(3).id, 'it is who it was');
  }
}

describe('replicate, of a copy of slots', () => {
  it('is done while the primary that it leaves is there and has the other copy', async () => {
    assert.equal((await new Shard().move()).status, 'done');
  });

  it('is stale if nobody says whom it leaves, or somebody else', async () => {
    const cluster = new Shard();
    const [replica, primary] = [cluster.ref(3), cluster.ref(1)];
    const command: Replicate = { type: 'replicate', replica, primary, mustBeEmpty: false, why: 'test' };
    await cluster.isKept(await cluster.run(command), /may be the only copy/);
    await cluster.isKept(await cluster.move({ leaves: cluster.ref(2) }), /may be the only copy/);
  });

  it('is stale if the primary that it leaves has just died', async () => {
    const cluster = new Shard();
    cluster.model.kill(cluster.server(0));
    await cluster.isKept(await cluster.move(), /not in sync|does not answer/);
  });

  it('is stale while it has no link to the primary that it leaves', async () => {
    const cluster = new Shard();
    cluster.model.partition(cluster.server(0), cluster.server(3));
    cluster.pass(2_000);
    await cluster.isKept(await cluster.move(), /not in sync/);
  });
});

describe('forget-node and reset, of a copy of slots', () => {
  it('is done while its primary is there', async () => {
    assert.equal((await new Shard().forget()).status, 'done');
  });

  it('is stale if its primary has just died, whoever is asked', async () => {
    const cluster = new Shard();
    cluster.model.kill(cluster.server(0));
    // The others call it failed, so that they would be asked alone; the replica could not ask for votes yet.
    cluster.model.pause(cluster.server(3));
    cluster.pass(12_000);
    cluster.model.resume(cluster.server(3));
    await cluster.isKept(await cluster.forget(), /may be the only copy/);
  });
});
