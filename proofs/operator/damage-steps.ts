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
  strayKeys,
  uncover,
  uncoverWithKeysOnSeveral,
  until,
  type Written,
} from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { lastBegun, leftAlone } from './left-alone.ts';
import { told } from './member-damage-steps.ts';
import type { Stage, Step } from './stage.ts';

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

export async function assertThere(cluster: Cluster, written: Written): Promise<void> {
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

async function strayCondition({ site, subject }: Stage): Promise<string | undefined> {
  const { conditions = [] } = await site.status(subject.name);
  return conditions.find(({ type }) => type === 'StrayKeys')?.status;
}

const stray: Step = {
  name: 'damage: keys where nobody can read them, found by a check that counts, mended by a fix',
  async run(stage) {
    const cluster = await stage.subject.cluster();
    try {
      const slot = SLOTS.at(-1) ?? 0;
      const entries = entriesIn(slot, 20, 'stray');
      await strayKeys(cluster, slot, entries);
      const found = await stage.ended('look', { check: { strayKeys: true } });
      assert.ok(
        found.findings?.some(({ code }) => code === 'KEYS_OUTSIDE_SLOT'),
        JSON.stringify(found),
      );
      assert.equal(await strayCondition(stage), 'True', 'the cluster says so before the task ends');
      await stage.done('fix', { fix: {} });
      await told(stage, 'StrayKeys', 'False');
      await stage.whole();
      assert.equal(await strayCondition(stage), 'False');
      await assertThere(cluster, entries);
    } finally {
      await cluster.stop();
    }
  },
};

const approved: Step = {
  name: 'damage with `fix: approve`: proposed, left alone, and mended when a person says so',
  async run(stage) {
    const { site, subject } = stage;
    await stage.declare({ fix: 'approve' });
    const cluster = await subject.cluster();
    try {
      const begun = await lastBegun(stage);
      await migratingOnly(cluster, SLOTS[0] ?? 0);
      const proposal = await until('a fix is proposed', async () => (await site.status(subject.name)).proposal, {
        timeoutMs: PATIENCE_MS,
      });
      assert.equal(proposal.kind, 'fix');
      const later = await leftAlone(stage, begun);
      assert.equal(later.proposal?.digest, proposal.digest, 'what is asked has its name for good');
      assert.equal(await isMended(cluster), false, 'nothing is done before it is approved');
      const annotations = { [APPROVE]: proposal.digest };
      await (await site.client())
        .resource(redisClusters, 'default')
        .patch(subject.name, { type: 'merge', value: { metadata: { annotations } } });
      await until('it is mended', () => isMended(cluster), { timeoutMs: PATIENCE_MS, everyMs: 200 });
    } finally {
      await cluster.stop();
    }
    await stage.declare({ fix: 'automatic' });
    await stage.whole();
  },
};

export const damageSteps: readonly Step[] = [...mended, stray, approved];
