import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entryWith, keyIn, TestCluster } from '../../tests/migrate/test-cluster.ts';
import { isRefused } from '../api/operation.ts';
import type { RedisPort } from '../api/port.ts';
import { ALL_SLOTS } from '../api/slots.ts';
import type { Environment } from '../controllers/environment.ts';
import { observeFor } from '../controllers/observing.ts';
import { fixOperation } from '../plan/fix.ts';

/** A slot that server 0, which gets all the keys here, does not own. */
const ANOTHERS = 16_000;

function put(cluster: TestCluster, slot: number, count: number, database = 0): void {
  const keys = cluster.servers[0]?.databases[database];
  for (let n = 0; n < count; n++) keys?.set(keyIn(slot, n), entryWith('v'));
}

/** Looks at the cluster as a fix does before it decides. */
async function look(cluster: TestCluster, port: RedisPort) {
  let countsEverywhere = false;
  const environment = { redis: port, ports: cluster, seeds: [cluster.ref(0).endpoint] } as unknown as Environment;
  const view = await observeFor(environment, (seen) => {
    const needs = fixOperation.needs({}, seen);
    countsEverywhere ||= needs.countKeysIn === ALL_SLOTS;
    return needs;
  });
  const decision = fixOperation.decide({}, view);
  assert.ok(!isRefused(decision));
  return { countsEverywhere, strays: decision.goal.strays, nothingToDo: decision.nothingToDo ?? false };
}

/** Clients write right after server 0 has answered its first INFO. */
function writingAfterInfo(cluster: TestCluster, write: () => void): RedisPort {
  const port = cluster.watched(() => undefined);
  let isWritten = false;
  return {
    ...port,
    call: async (endpoint, args, options) => {
      const reply = await port.call(endpoint, args, options);
      if (args[0] === 'INFO' && endpoint.port === cluster.servers[0]?.port && !isWritten) {
        isWritten = true;
        write();
      }
      return reply;
    },
  };
}

describe('a fix that looks for keys outside their slots', () => {
  const found = { countsEverywhere: true, strays: String(ANOTHERS), nothingToDo: false };

  it('finds them although clients add as many keys while it looks', async () => {
    const cluster = new TestCluster();
    put(cluster, 5, 3);
    put(cluster, ANOTHERS, 2);
    const port = writingAfterInfo(cluster, () => put(cluster, 7, 2));
    assert.deepEqual(await look(cluster, port), found);
  });

  it('does not count in every slot because clients write meanwhile', async () => {
    const cluster = new TestCluster();
    put(cluster, 5, 3);
    const port = writingAfterInfo(cluster, () => put(cluster, 7, 2));
    assert.deepEqual(await look(cluster, port), { countsEverywhere: false, strays: '', nothingToDo: true });
  });

  it('counts in every slot when a server does not count at one moment', async () => {
    const cluster = new TestCluster();
    put(cluster, ANOTHERS, 1);
    const port = cluster.watched((label) => {
      if (label === 'transaction') throw new Error('NOPERM this user has no permissions to run MULTI');
    });
    assert.deepEqual(await look(cluster, port), found);
  });

  it('finds them in any database', async () => {
    const cluster = new TestCluster({ databases: 4, flavour: 'valkey9' });
    put(cluster, 5, 1);
    put(cluster, ANOTHERS, 1, 2);
    const port = writingAfterInfo(cluster, () => put(cluster, 7, 1, 2));
    assert.deepEqual(await look(cluster, port), found);
  });
});
