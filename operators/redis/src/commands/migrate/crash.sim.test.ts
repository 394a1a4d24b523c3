import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReeveError } from '@reeve/runtime';
import { TestCluster } from '../../../tests/migrate/test-cluster.ts';

function prepared(): { readonly cluster: TestCluster; readonly values: ReadonlyMap<string, string> } {
  const cluster = new TestCluster();
  const values = new Map([...cluster.fill(0, 0, 3), ...cluster.fill(0, 1, 1)]);
  return { cluster, values };
}

async function countCalls(pace: 'gentle' | 'fast'): Promise<number> {
  const { cluster } = prepared();
  let calls = 0;
  const port = cluster.watched(() => {
    calls++;
  });
  await cluster.migrate(cluster.command('0-1', { pace }), { port });
  return calls;
}

describe('a migration that ends at any of its calls', () => {
  for (const pace of ['gentle', 'fast'] as const) {
    it(`is finished by the next one when the tool is killed (${pace})`, async () => {
      const total = await countCalls(pace);
      assert.ok(total > 40);
      for (let last = 1; last < total; last++) {
        const { cluster, values } = prepared();
        let calls = 0;
        // From that call on nothing is sent any more: what was done before stays done.
        const port = cluster.watched(() => {
          if (++calls > last) throw new Error('killed');
        });
        // How it ends does not matter: nobody is there to hear it.
        await cluster.migrate(cluster.command('0-1', { pace }), { port }).catch(() => undefined);
        const outcome = await cluster.migrate(cluster.command('0-1', { pace }));
        assert.equal(outcome.status, 'done', `killed after call ${last}: ${JSON.stringify(outcome)}`);
        assert.deepEqual(cluster.open(), [], `killed after call ${last}`);
        assert.deepEqual(
          new Map([...cluster.held(3)].sort()),
          new Map([...values].sort()),
          `killed after call ${last}`,
        );
        assert.equal(cluster.held(0).size, 0);
      }
    });
  }

  it('loses nothing when the answer to any one call is lost', async () => {
    const total = await countCalls('fast');
    for (let lost = 1; lost <= total; lost++) {
      const { cluster, values } = prepared();
      let calls = 0;
      const port = cluster.afterwards(() => {
        if (++calls === lost) throw new ReeveError('REDIS_CONNECTION_LOST', 'the answer got lost');
      });
      await cluster.migrate(cluster.command('0-1'), { port }).catch((error: unknown) => {
        if (!(error instanceof ReeveError)) throw error;
      });
      assert.equal((await cluster.migrate(cluster.command('0-1'))).status, 'done', `lost the answer to call ${lost}`);
      assert.deepEqual(cluster.open(), []);
      assert.deepEqual(new Map([...cluster.held(3)].sort()), new Map([...values].sort()));
    }
  });
});
