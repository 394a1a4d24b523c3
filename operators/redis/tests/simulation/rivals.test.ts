import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from '@reeve/simulation';
import type { Flavour, ModelServer } from '@reeve/simulation/redis';
import { type Cluster, evenShares, formCluster, keysOfSlot } from './cluster.ts';
import { conflict } from './damage.ts';
import { Ledger } from './ledger.ts';
import { Rivals } from './rivals.ts';

const SLOT = 0;
const [KEY = ''] = keysOfSlot(SLOT, 1);
const FLAVOURS: readonly Flavour[] = ['valkey9', 'redis7'];

interface Scene {
  readonly cluster: Cluster;
  readonly ledger: Ledger;
  /** Owns the slot and holds one of the values; the other one is a stray on `stranger`. */
  readonly owner: ModelServer;
  readonly stranger: ModelServer;
}

/** What the judge says when these things happen, one in each step. */
async function verdict(flavour: Flavour, ...happenings: ((scene: Scene) => void)[]): Promise<string | undefined> {
  const result = await simulate(
    {
      name: 'rivals',
      build(simulation) {
        const shards = evenShares(3).map((slots) => ({ slots, replicas: 1 }));
        const cluster = formCluster(simulation, { shards, fresh: 0, flavour, allowReplicaMigration: false });
        const [owner, stranger] = cluster.primaries as [ModelServer, ModelServer];
        cluster.model.execute(owner.endpoint, ['SET', KEY, 'before']);
        const values = conflict(cluster, SLOT, KEY);
        assert.deepEqual(values, ['newer', 'before']);
        // As a fix leaves it: Valkey would keep keys of a slot that is being imported.
        cluster.model.execute(stranger.endpoint, ['CLUSTER', 'SETSLOT', String(SLOT), 'STABLE']);
        cluster.settle();
        const ledger = new Ledger(cluster.model);
        const rivals = new Rivals(cluster.model, ledger, KEY, values);
        const scene: Scene = { cluster, ledger, owner, stranger };
        return {
          processes: [
            {
              name: 'fate',
              async run(life) {
                for (const happening of happenings) await life.effect('happens', { apply: () => happening(scene) });
              },
            },
          ],
          faults: { most: 0 },
          always: () => rivals.watch(),
        };
      },
    },
    { seed: 1 },
  );
  return result.failure?.code;
}

const kill = (who: 'owner' | 'stranger') => (scene: Scene) => {
  scene.ledger.suffers(scene[who]);
  scene.cluster.model.kill(scene[who]);
};
const restart = (who: 'owner' | 'stranger') => (scene: Scene) => scene.cluster.model.restart(scene[who]);
const drop = (who: 'owner' | 'stranger') => (scene: Scene) => {
  scene[who].database(0).delete(KEY);
};
const holdsStray = ({ stranger }: Scene) => stranger.database(0).get(KEY, 0) !== undefined;

for (const flavour of FLAVOURS) {
  test(`${flavour}: a value that is dropped or overwritten while all servers are well is the tool's doing`, async () => {
    assert.equal(await verdict(flavour, drop('stranger')), 'CONFLICT_DECIDED');
    assert.equal(await verdict(flavour, drop('owner')), 'CONFLICT_DECIDED');
    const overwrite = ({ cluster, owner }: Scene) => {
      cluster.model.execute(owner.endpoint, ['SET', KEY, 'before']);
    };
    assert.equal(await verdict(flavour, overwrite), 'CONFLICT_DECIDED');
  });

  test(`${flavour}: what a server itself throws away when it starts is excused, and nothing after that`, async () => {
    let isStrayThere: boolean | undefined;
    const look = (scene: Scene) => {
      isStrayThere = holdsStray(scene);
    };
    assert.equal(await verdict(flavour, kill('stranger'), restart('stranger'), look), undefined);
    assert.equal(isStrayThere, flavour === 'redis7');
    const code = await verdict(flavour, kill('stranger'), restart('stranger'), drop('owner'));
    assert.equal(code, 'CONFLICT_DECIDED');
    assert.equal(await verdict(flavour, kill('owner'), restart('owner'), drop('owner')), 'CONFLICT_DECIDED');
  });
}
