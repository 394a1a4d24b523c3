/** Whether a command is in the world, asked of servers of the model before it was carried out, after it, and in between. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DoneCheck, localExecutor, type Outcome, isHandle } from '@reeve/runtime';
import { entryWith, keyIn, TestCluster, type TestClusterOptions } from '../../tests/migrate/test-cluster.ts';
import type { RedisCommand } from '../api/commands.ts';
import type { NodeRef } from '../api/view.ts';
import type { RedisContext } from './context.ts';
import { redisHandlers } from './handlers.ts';

const never = new AbortController().signal;
const why = 'test';

class Stage extends TestCluster {
  readonly #executor = localExecutor<RedisCommand, RedisContext>(redisHandlers, this.context());

  isDone(command: RedisCommand): Promise<DoneCheck> {
    return this.#executor.isDone(command, never);
  }

  async run(command: RedisCommand): Promise<Outcome> {
    const started = await this.#executor.start(command, never);
    return isHandle<Outcome>(started) ? started.settled : started;
  }

  /** Not done before, done after. */
  async tells(command: RedisCommand): Promise<void> {
    assert.equal(await this.isDone(command), 'not-done', `${command.type} before`);
    const outcome = await this.run(command);
    assert.equal(outcome.status, 'done', JSON.stringify(outcome));
    this.pass(5_000);
    assert.equal(await this.isDone(command), 'done', `${command.type} after`);
  }

  newcomer(port: number): NodeRef {
    const { id, host } = this.model.addServer({ host: '127.0.0.1', port });
    return { id, endpoint: { host, port } };
  }

  replicate(): void {
    this.call(3, 'CLUSTER', 'REPLICATE', this.ref(0).id);
    this.pass(10_000);
  }
}

function stage(options: TestClusterOptions = {}): Stage {
  return new Stage(options);
}

describe('whether a command is done', () => {
  it('set-epochs, assign-slots and meet, on new nodes', async () => {
    const cluster = stage();
    const [one, two] = [cluster.newcomer(7011), cluster.newcomer(7012)];
    await cluster.tells({
      type: 'set-epochs',
      epochs: [
        { node: one, epoch: 11 },
        { node: two, epoch: 12 },
      ],
      why,
    });
    await cluster.tells({ type: 'assign-slots', node: one, slots: '7-9', why });
    const pairs = [{ from: one, to: two, toBusPort: 17_012 }];
    await cluster.tells({ type: 'meet', pairs, why });
    assert.equal(await cluster.isDone({ type: 'meet', pairs, evenIfKnown: true, why }), 'unknown');
  });

  it('meet: a handshake under way is neither done nor not', async () => {
    const cluster = stage();
    const [one, two] = [cluster.newcomer(7011), cluster.newcomer(7012)];
    const command: RedisCommand = { type: 'meet', pairs: [{ from: one, to: two, toBusPort: 17_012 }], why };
    await cluster.run(command);
    assert.equal(await cluster.isDone(command), 'unknown');
  });

  it('replicate, failover', async () => {
    const cluster = stage({ flavour: 'valkey9' });
    const [primary, replica] = [cluster.ref(0), cluster.ref(3)];
    await cluster.tells({ type: 'replicate', replica, primary, mustBeEmpty: true, why });
    const failover: RedisCommand = { type: 'failover', replica, primary, mode: 'graceful', why };
    const before = cluster.clock.now();
    await cluster.tells(failover);
    assert.ok(cluster.clock.now() - before >= 5_000, 'not before a failover that was asked for must have come');
    const back: RedisCommand = { type: 'failover', replica: primary, primary: cluster.ref(1), mode: 'graceful', why };
    assert.equal(await cluster.isDone(back), 'unknown', 'it replicates somebody else');
  });

  it('bump-epoch: of a primary; a replica shows that of its primary', async () => {
    const cluster = stage();
    cluster.call(1, 'CLUSTER', 'BUMPEPOCH');
    cluster.pass(5_000);
    await cluster.tells({ type: 'bump-epoch', node: cluster.ref(0), epoch: 1, why });
    cluster.replicate();
    assert.equal(await cluster.isDone({ type: 'bump-epoch', node: cluster.ref(3), epoch: 1, why }), 'unknown');
  });

  for (const flavour of ['redis7', 'valkey9'] as const) {
    it(`migrate-slots on ${flavour}: not while a slot is left or half moved`, async () => {
      const cluster = stage({ flavour });
      cluster.fill(0, 5, 3);
      const command = cluster.command('5-7', { engine: 'auto' });
      await cluster.tells(command);
      const half = cluster.command('8');
      cluster.call(3, 'CLUSTER', 'SETSLOT', '8', 'IMPORTING', cluster.ref(0).id);
      cluster.call(0, 'CLUSTER', 'SETSLOT', '8', 'MIGRATING', cluster.ref(3).id);
      assert.equal(await cluster.isDone(half), 'not-done');
      assert.equal(await cluster.isDone(cluster.command('5-8')), 'not-done');
      assert.equal(await cluster.isDone(cluster.command('6000')), 'unknown', 'neither of the two owns it');
    });
  }

  it('migrate-slots: a migration of the servers’ own goes on by itself, so that nothing is known', async () => {
    const cluster = stage({ flavour: 'valkey9' });
    cluster.fill(0, 5, 50);
    cluster.call(0, 'CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', '5', '5', 'NODE', cluster.ref(3).id);
    assert.equal(await cluster.isDone(cluster.command('5', { engine: 'atomic' })), 'unknown');
    cluster.pass(20_000);
    assert.equal(await cluster.isDone(cluster.command('5', { engine: 'atomic' })), 'done');
  });

  it('close-slots, collect-keys', async () => {
    const cluster = stage();
    cluster.call(0, 'CLUSTER', 'SETSLOT', '8', 'MIGRATING', cluster.ref(3).id);
    await cluster.tells({ type: 'close-slots', node: cluster.ref(0), slots: '8-9', why });
    cluster.servers[1]?.databases[0]?.set(keyIn(20, 0), entryWith('astray'));
    await cluster.tells({ type: 'collect-keys', from: cluster.ref(1), owner: cluster.ref(0), slots: '20', why });
  });

  it('claim-slots: when the owner has them and nobody claims them with a later epoch', async () => {
    const cluster = stage();
    for (const index of [0, 1, 2, 3]) cluster.call(index, 'CLUSTER', 'DELSLOTS', '30');
    await cluster.tells({
      type: 'claim-slots',
      owner: cluster.ref(3),
      slots: '30',
      releaseFrom: [cluster.ref(0)],
      others: [cluster.ref(1), cluster.ref(2)],
      why,
    });
  });

  it('forget-node, with a reset and without', async () => {
    for (const reset of [true, false]) {
      const cluster = stage({ persistence: false });
      const by = [cluster.ref(0), cluster.ref(1), cluster.ref(2)];
      await cluster.tells({ type: 'forget-node', node: cluster.ref(3), by, reset, why });
    }
  });

  it('what cannot be read, or is somebody else, is unknown', async () => {
    const cluster = stage();
    const [server] = cluster.servers;
    const somebody: NodeRef = { ...cluster.ref(0), id: 'f'.repeat(40) };
    assert.equal(await cluster.isDone({ type: 'bump-epoch', node: somebody, epoch: 1, why }), 'unknown');
    if (server) cluster.model.kill(server);
    assert.equal(await cluster.isDone({ type: 'bump-epoch', node: cluster.ref(0), epoch: 1, why }), 'unknown');
    assert.equal(await cluster.isDone(cluster.command('5')), 'unknown');
  });
});
