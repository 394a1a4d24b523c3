/** Damage to who is a member, and who knows whom. */
import assert from 'node:assert/strict';
import { type Cluster, nodeId, parseNodes, splitInHalves, until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { lastBegun, leftAlone } from './left-alone.ts';
import type { Stage, Step } from './stage.ts';

/** Until a condition of the cluster says it. */
export async function told({ site, subject }: Stage, condition: string, value = 'True'): Promise<void> {
  const isTold = async () =>
    (await site.status(subject.name)).conditions?.some(({ type, status }) => type === condition && status === value);
  await until(`${condition} is told to be ${value}`, isTold, { timeoutMs: PATIENCE_MS, everyMs: 100 });
}

const quorum: Step = {
  name: 'damage: most primaries die at once',
  kills: true,
  async run(stage) {
    const { members = [] } = await stage.site.status(stage.subject.name);
    const doomed = members.filter(({ role }) => role === 'primary').slice(0, 2);
    await stage.subject.crash(doomed.map(({ pod }) => pod));
    await stage.whole();
  },
};

/** As a person would do it: one node is introduced to all. Whether everybody knows everybody by now. */
async function isJoined({ servers }: Cluster): Promise<boolean> {
  const [one, ...others] = servers;
  const known = parseNodes(String(await one?.call('CLUSTER', 'NODES')));
  for (const { endpoint } of others) {
    const isKnown = known.some(({ host, port }) => host === endpoint.host && port === endpoint.port);
    if (!isKnown) await one?.call('CLUSTER', 'MEET', endpoint.host, endpoint.port);
  }
  return allKnowAll(servers);
}

async function allKnowAll(servers: Cluster['servers']): Promise<boolean> {
  const tables = await Promise.all(servers.map((server) => server.call('CLUSTER', 'NODES')));
  return tables.every((table) => {
    const lines = parseNodes(String(table));
    return lines.length === servers.length && lines.every(({ flags }) => !flags.includes('handshake'));
  });
}

/** Whom each knows, by address, in its own words. */
async function acquaintances(servers: Cluster['servers']): Promise<readonly ReadonlySet<string>[]> {
  const tables = await Promise.all(servers.map((server) => server.call('CLUSTER', 'NODES')));
  return tables.map((table) => new Set(parseNodes(String(table)).map(({ host, port }) => `${host}:${port}`)));
}

const split: Step = {
  name: 'damage: two halves that forgot each other are told, not joined; joined by hand they are whole',
  async run(stage) {
    const cluster = await stage.subject.cluster();
    try {
      const begun = await lastBegun(stage);
      await splitInHalves(cluster);
      await told(stage, 'SplitCluster');
      const parted = await acquaintances(cluster.servers);
      assert.ok(parted.every((known) => known.size < cluster.servers.length));
      await leftAlone(stage, begun);
      // Forgetting may spread; nobody gets to know anybody.
      for (const [index, known] of (await acquaintances(cluster.servers)).entries()) {
        const met = [...known].filter((address) => !parted[index]?.has(address));
        assert.deepEqual(met, [], `${cluster.servers[index]?.endpoint.port} got to know somebody`);
      }
      await told(stage, 'SplitCluster');
      // Who was forgotten is not known again for a minute; and where forgetting spreads, there are more parts than two.
      await until('all know each other again', () => isJoined(cluster), { timeoutMs: PATIENCE_MS, everyMs: 2_000 });
      await stage.whole();
    } finally {
      await cluster.stop();
    }
  },
};

const forgotten: Step = {
  name: 'damage: a member was told to forget another, which was not told anything',
  async run(stage) {
    const cluster = await stage.subject.cluster();
    try {
      const [by, whom] = cluster.primaries;
      assert.ok(by && whom);
      await by.call('CLUSTER', 'FORGET', await nodeId(whom));
      await told(stage, 'MembershipDiffers');
      await until('all know each other again', () => allKnowAll(cluster.servers), { timeoutMs: PATIENCE_MS });
      await stage.whole();
    } finally {
      await cluster.stop();
    }
  },
};

export const memberDamageSteps: readonly Step[] = [quorum, split, forgotten];
