/** Damage to who is a member, and who knows whom. */
import assert from 'node:assert/strict';
import { type Cluster, nodeId, parseNodes, splitInHalves, until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import type { Stage, Step } from './stage.ts';

/** Until a condition of the cluster says it. */
export async function told({ site, subject }: Stage, condition: string): Promise<void> {
  const isTold = async () =>
    (await site.status(subject.name)).conditions?.some(({ type, status }) => type === condition && status === 'True');
  await until(`${condition} is told`, isTold, { timeoutMs: PATIENCE_MS, everyMs: 100 });
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

const split: Step = {
  name: 'damage: two halves that forgot each other are told, not joined; joined by hand they are whole',
  async run(stage) {
    const cluster = await stage.subject.cluster();
    try {
      await splitInHalves(cluster);
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
