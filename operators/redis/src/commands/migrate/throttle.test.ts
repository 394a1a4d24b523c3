import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MigrateSlots } from '../../api/commands.ts';
import type { RedisPort } from '../../api/port.ts';
import { redisContext } from '../context.ts';
import { type Migration, Tally } from './migration.ts';
import { Standing } from './standing.ts';
import { pacingFor } from './throttle.ts';

/** Time that passes only when somebody sleeps or a MIGRATE takes its time. */
class Stage {
  now = 0;
  slept = 0;
  pingMs = 0.1;

  migration(): Migration {
    const redis = {
      call: async () => {
        this.now += this.pingMs;
        return 'PONG';
      },
    } as unknown as RedisPort;
    const clock = {
      now: () => this.now,
      sleep: async (ms: number) => {
        this.now += ms;
        this.slept += ms;
      },
    };
    const node = (id: string) => ({ id, endpoint: { host: id, port: 1 } });
    const command = { source: node('source'), target: node('target'), pace: 'gentle' } as MigrateSlots;
    const context = redisContext(redis, { clock, random: { next: () => 0.5 } });
    return {
      command,
      context,
      standing: new Standing(command, context, 5000),
      signal: new AbortController().signal,
      tally: new Tally(1),
      sourceSlots: [],
      targetSeenBySource: command.target.endpoint,
      nodeTimeoutMs: 5000,
      setslotLanes: 1,
    };
  }

  batch(ms: number): () => Promise<void> {
    return async () => {
      this.now += ms;
    };
  }
}

describe('the gentle pace', () => {
  it('has one MIGRATE at work at a time', async () => {
    const stage = new Stage();
    const pacing = pacingFor('gentle', stage.migration());
    let atWork = 0;
    let most = 0;
    const migrate = async () => {
      most = Math.max(most, ++atWork);
      await Promise.resolve();
      atWork--;
    };
    await Promise.all([pacing.run(migrate), pacing.run(migrate), pacing.run(migrate)]);
    assert.equal(most, 1);
  });

  it('waits for other migrations that are at one of its servers', async () => {
    const stage = new Stage();
    const migration = stage.migration();
    const steps: string[] = [];
    const window = (name: string) => async () => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
    };
    const second = {
      ...migration,
      command: { ...migration.command, source: { ...migration.command.source, id: 's2' } },
    };
    await Promise.all([
      pacingFor('gentle', migration).alone(window('one')),
      pacingFor('gentle', second).alone(window('other')),
    ]);
    assert.deepEqual(steps, ['one begins', 'one ends', 'other begins', 'other ends']);
  });

  it('makes batches smaller when they block for too long, and larger when there is room', async () => {
    const stage = new Stage();
    const pacing = pacingFor('gentle', stage.migration());
    const first = pacing.limit();
    for (let n = 0; n < 5; n++) await pacing.run(stage.batch(0.2));
    const larger = pacing.limit();
    assert.ok(larger.keys > first.keys && larger.bytes > first.bytes);
    await pacing.run(stage.batch(30));
    const smaller = pacing.limit();
    assert.ok(smaller.keys < larger.keys && smaller.bytes < larger.bytes);
    for (let n = 0; n < 50; n++) await pacing.run(stage.batch(30));
    assert.ok(pacing.limit().keys >= 1, 'it never stops');
  });

  it('rests longer when the servers answer late', async () => {
    const restOf = async (pingMs: number): Promise<number> => {
      const stage = new Stage();
      const pacing = pacingFor('gentle', stage.migration());
      for (let n = 0; n < 200; n++) await pacing.run(stage.batch(2));
      stage.pingMs = pingMs;
      stage.slept = 0;
      for (let n = 0; n < 200; n++) await pacing.run(stage.batch(2));
      return stage.slept;
    };
    assert.ok((await restOf(50)) > 4 * (await restOf(0.1)));
  });

  it('never rests so long that a busy machine brings the move to a stop', async () => {
    const stage = new Stage();
    const pacing = pacingFor('gentle', stage.migration());
    stage.pingMs = 50;
    for (let n = 0; n < 20; n++) await pacing.run(stage.batch(200));
    assert.ok(stage.slept <= 20 * 50, `slept ${stage.slept} ms`);
  });

  it('hands over many slots at once where that costs no more than one, few where each costs', async () => {
    const learnt = async (perSlotMs: number): Promise<number> => {
      const stage = new Stage();
      const pacing = pacingFor('gentle', stage.migration());
      for (let n = 0; n < 10; n++) {
        const slots = pacing.slotsPerWindow();
        await pacing.handOver(slots, stage.batch(1 + slots * perSlotMs));
      }
      return pacing.slotsPerWindow();
    };
    assert.equal(await learnt(0), 64);
    assert.ok(Math.abs((await learnt(0.02)) - 12.5) <= 0.5);
    assert.equal(await learnt(1), 2);
  });

  it('goes on after a MIGRATE that failed', async () => {
    const stage = new Stage();
    const pacing = pacingFor('gentle', stage.migration());
    await assert.rejects(
      pacing.run(async () => {
        throw new Error('failed');
      }),
      /failed/,
    );
    assert.equal(await pacing.run(async () => 'next'), 'next');
  });
});

describe('the fast pace', () => {
  it('holds nothing back', async () => {
    const stage = new Stage();
    const pacing = pacingFor('fast', stage.migration());
    await pacing.run(stage.batch(50));
    assert.equal(stage.slept, 0);
    assert.ok(pacing.windows > 1);
  });
});
