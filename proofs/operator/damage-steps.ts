/** Damage done to the running servers with raw commands, which the operator finds by its own check and mends by itself. */
import assert from 'node:assert/strict';
import { APPROVE, redisClusters } from '@reeve/redis';
import {
  type Cluster,
  entriesIn,
  fillSlot,
  halfFinishedMigration,
  importingOnly,
  migratingOnly,
  oneMigratingTwoImporting,
  parseNodes,
  RedirectingClient,
  splitInHalves,
  strayKeys,
  uncover,
  uncoverWithKeysOnSeveral,
  until,
  type Written,
} from '@reeve/rig';
import { tryToKill } from '@reeve/cli/plane-testing';
import { podCluster } from '../site/pod-cluster.ts';
import { treeOf, treesOf } from '../site/processes.ts';
import { PATIENCE_MS } from '../site/site.ts';
import { MAIN, type Stage, type Step } from './stage.ts';

const KEYS = 60;
/** One for each damage, in slots of all three primaries. */
const SLOTS = [77, 5_999, 12_345, 1_234, 8_000, 15_000, 300, 9_999, 14_321, 2_718];

/** Nobody holds a mark of a move, and all slots have an owner, in everybody's own words. */
async function isMended(cluster: Cluster): Promise<boolean> {
  let owned = 0;
  for (const server of cluster.servers) {
    const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
    if (!own || own.open.length > 0) return false;
    if (own.role === 'primary') owned += own.slots.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }
  return owned === 16_384;
}

async function assertThere(cluster: Cluster, written: Written): Promise<void> {
  const client = new RedirectingClient(cluster.endpoints, cluster.access, 30_000);
  await client.refresh();
  try {
    for (const [key, value] of written) assert.equal(await client.command(key, ['GET', key]), value, key);
  } finally {
    client.close();
  }
}

interface Damage {
  readonly name: string;
  /** Gossip may settle it before anybody looks. */
  readonly settlesItself?: boolean;
  /** Returns what must be there afterwards. */
  make(cluster: Cluster, slot: number, written: Written): Promise<Written>;
}

const damages: readonly Damage[] = [
  ...(['opened', 'some-keys', 'all-keys', 'target-told'] as const).map(
    (stage): Damage => ({
      name: `a move that stopped: ${stage}`,
      settlesItself: stage === 'target-told',
      make: async (cluster, slot, written) => {
        await halfFinishedMigration(cluster, slot, stage);
        return written;
      },
    }),
  ),
  {
    name: 'two import a slot that nobody gives away',
    make: async (cluster, slot, written) => {
      await importingOnly(cluster, slot, 2);
      return written;
    },
  },
  {
    name: 'one gives a slot away, two import it',
    make: async (cluster, slot, written) => {
      await oneMigratingTwoImporting(cluster, slot, { recorded: 'target' });
      return written;
    },
  },
  {
    name: 'one gives a slot away, nobody imports it',
    make: async (cluster, slot, written) => {
      await migratingOnly(cluster, slot);
      return written;
    },
  },
  {
    name: 'slots without owner',
    make: async (cluster, slot, written) => {
      await uncover(cluster, [slot, slot + 1, slot + 2]);
      return written;
    },
  },
  {
    name: 'a slot without owner, its keys on two nodes',
    make: async (cluster, slot, written) => {
      const { foreign } = await uncoverWithKeysOnSeveral(cluster, slot, written, { equal: 10, foreign: 10 });
      return new Map([...written, ...foreign]);
    },
  },
];

/** Makes the damage, and waits until the operator has mended it. */
async function damagedAndMended(stage: Stage, { make, settlesItself }: Damage, slot: number): Promise<void> {
  const { site, subject } = stage;
  const cluster = await subject.cluster();
  try {
    const before = (await site.status(subject.name)).operations?.[0]?.id;
    const written = await fillSlot(cluster, slot, KEYS, `damage${slot}`);
    const expected = await make(cluster, slot, written);
    await until('it is mended', () => isMended(cluster), { timeoutMs: PATIENCE_MS, everyMs: 200 });
    await site.settled(subject.name, 'by the operator', async ({ operations = [] }) => {
      const since = operations.slice(
        0,
        before === undefined ? undefined : operations.findIndex(({ id }) => id === before),
      );
      return settlesItself === true || since.some(({ kind, outcome }) => kind === 'fix' && outcome === 'done');
    });
    await assertThere(cluster, expected);
    for (const [key, value] of expected) stage.journal.expected.set(key, value);
  } finally {
    await cluster.stop();
  }
}

const mended = damages.map(
  (damage, index): Step => ({
    name: `damage: ${damage.name}`,
    // A slot without owner is refused to clients for a while, and what they had is there again.
    run: (stage) => damagedAndMended(stage, damage, SLOTS[index] ?? 0),
  }),
);

const stray: Step = {
  name: 'damage: keys where nobody can read them, found by a check that looks at every key, mended by a fix',
  async run(stage) {
    const { site } = stage;
    const cluster = await podCluster(site, MAIN);
    try {
      const slot = SLOTS.at(-1) ?? 0;
      const entries = entriesIn(slot, 20, 'stray');
      await strayKeys(cluster, slot, entries);
      const look = stage.newName('look');
      await site.task(look, { cluster: MAIN, check: { strayKeys: true } });
      const found = await site.taskEnded(look);
      assert.ok(
        found.findings?.some(({ code }) => code === 'KEYS_OUTSIDE_SLOT'),
        JSON.stringify(found),
      );
      const fix = stage.newName('fix');
      await site.task(fix, { cluster: MAIN, fix: {} });
      const ended = await site.taskEnded(fix);
      assert.equal(ended.phase, 'Succeeded', JSON.stringify(ended));
      await stage.whole();
      await assertThere(cluster, entries);
    } finally {
      await cluster.stop();
    }
  },
};

const approved: Step = {
  name: 'damage with `fix: approve`: proposed, left alone, and mended when a person says so',
  async run(stage) {
    const { site } = stage;
    await stage.declare({ fix: 'approve' });
    const cluster = await podCluster(site, MAIN);
    try {
      await migratingOnly(cluster, SLOTS[0] ?? 0);
      const proposal = await until('a fix is proposed', async () => (await site.status(MAIN)).proposal, {
        timeoutMs: PATIENCE_MS,
      });
      assert.equal(proposal.kind, 'fix');
      assert.equal(await isMended(cluster), false, 'nothing is done before it is approved');
      const annotations = { [APPROVE]: proposal.digest };
      await (await site.client())
        .resource(redisClusters, 'default')
        .patch(MAIN, { type: 'merge', value: { metadata: { annotations } } });
      await until('it is mended', () => isMended(cluster), { timeoutMs: PATIENCE_MS, everyMs: 200 });
    } finally {
      await cluster.stop();
    }
    await stage.declare({ fix: 'automatic' });
    await stage.whole();
  },
};

const quorum: Step = {
  name: 'damage: most primaries die at once',
  kills: true,
  async run(stage) {
    const { site } = stage;
    const { members = [] } = await site.status(MAIN);
    const doomed = members.filter(({ role }) => role === 'primary').slice(0, 2);
    const trees = treesOf(
      site,
      (await site.podsOf(MAIN)).filter(({ metadata }) => doomed.some(({ pod }) => pod === metadata.name)),
    );
    assert.equal(trees.length, 2);
    const before = await site.runIds(MAIN);
    for (const pid of site.servers()) if (treeOf(pid, trees)) tryToKill(pid);
    const areBack = async () => {
      const now = await site.runIds(MAIN);
      return (
        now.size === 6 && trees.every(({ pod: { metadata } }) => now.get(metadata.uid) !== before.get(metadata.uid))
      );
    };
    await until('all six answer, those two as other runs', areBack, { timeoutMs: PATIENCE_MS });
    await stage.whole();
  },
};

/** As a person would do it: one node is introduced to all. Whether everybody knows everybody by now. */
async function isJoined({ servers }: Cluster): Promise<boolean> {
  const [one, ...others] = servers;
  const known = parseNodes(String(await one?.call('CLUSTER', 'NODES'))).map(({ host }) => host);
  for (const { endpoint } of others) {
    if (!known.includes(endpoint.host)) await one?.call('CLUSTER', 'MEET', endpoint.host, endpoint.port);
  }
  const tables = await Promise.all(servers.map((server) => server.call('CLUSTER', 'NODES')));
  return tables.every((table) => {
    const lines = parseNodes(String(table));
    return lines.length === servers.length && lines.every(({ flags }) => !flags.includes('handshake'));
  });
}

const split: Step = {
  name: 'damage: two halves that forgot each other are told, not joined; joined by hand they are whole',
  async run(stage) {
    const { site } = stage;
    const cluster = await podCluster(site, MAIN);
    try {
      await splitInHalves(cluster);
      const isTold = async () =>
        (await site.status(MAIN)).conditions?.some(({ type, status }) => type === 'SplitCluster' && status === 'True');
      await until('it is told', isTold, { timeoutMs: PATIENCE_MS });
      // Who was forgotten is not known again for a minute; and where forgetting spreads, there are more parts than two.
      await until('all know each other again', () => isJoined(cluster), { timeoutMs: PATIENCE_MS, everyMs: 2_000 });
      await stage.whole();
    } finally {
      await cluster.stop();
    }
  },
};

export const damageSteps: readonly Step[] = [...mended, stray, approved, quorum, split];
