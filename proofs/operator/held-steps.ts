/** Damage that servers settle by themselves, before anybody looks: what they tell each other is cut off while it lasts. */
import assert from 'node:assert/strict';
import {
  type Cluster,
  entriesIn,
  epochCollision,
  fillSlot,
  ownerOf,
  parseNodes,
  type Server,
  severalOwners,
  until,
} from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { assertThere } from './damage-steps.ts';
import { told } from './member-damage-steps.ts';
import type { Stage, Step } from './stage.ts';

interface Held {
  readonly stage: Stage;
  readonly cluster: Cluster;
  /** Until a fix has ended well that the operator began after the damage. */
  fixed(): Promise<void>;
}

/** Damage to servers whose talk can be cut off. */
function cutting(damage: (held: Held) => Promise<void>): Step['run'] {
  return async (stage) => {
    const { site, subject } = stage;
    const before = (await site.status(subject.name)).operations?.[0]?.id;
    const fixed = async () => {
      await site.settled(subject.name, 'by the operator', ({ operations = [] }) => {
        const at = operations.findIndex(({ id }) => id === before);
        const since = operations.slice(0, at < 0 ? undefined : at);
        return since.some(({ kind, outcome }) => kind === 'fix' && outcome === 'done');
      });
    };
    const cluster = await subject.cuttable();
    try {
      await damage({ stage, cluster, fixed });
    } finally {
      await cluster.stop();
    }
    await stage.whole();
  };
}

async function isOwnedBy(server: Server, slot: number): Promise<boolean> {
  const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
  return own?.slots.some(([first, last]) => first <= slot && slot <= last) ?? false;
}

/** The owner has 20 keys of it; the claimant has so many, five of them with the same value as the owner. */
export function claimed(count: 0 | 15 | 35): Step {
  return {
    name: `damage: several owners of a slot, the claimant with ${count} keys of it`,
    run: cutting(async ({ stage, cluster, fixed }) => {
      const slot = stage.quietSlot(4_000 + count);
      const written = await fillSlot(cluster, slot, 20, `claimed${count}`);
      const foreign = entriesIn(slot, Math.max(0, count - 5), `foreign${count}`);
      const keys = count === 0 ? new Map<string, string>() : new Map([...[...written].slice(0, 5), ...foreign]);
      const { owner, claimant, heal } = await severalOwners(cluster, slot, keys);
      try {
        await told(stage, 'SlotMultipleOwners');
        // They hear each other again once the claim is settled: earlier, they would settle it themselves.
        const isSettled = async () => (await isOwnedBy(owner, slot)) !== (await isOwnedBy(claimant, slot));
        await until('the claim is settled', isSettled, { timeoutMs: PATIENCE_MS });
      } finally {
        heal();
      }
      await fixed();
      assert.equal(await ownerOf(cluster, slot), count > 20 ? claimant : owner, 'the one with most keys keeps it');
      const expected = new Map([...written, ...foreign]);
      await assertThere(cluster, expected);
      for (const [key, value] of expected) stage.journal.expected.set(key, value);
    }),
  };
}

async function epochsOf(
  servers: readonly Server[],
  which: 'cluster_my_epoch' | 'cluster_current_epoch' = 'cluster_my_epoch',
): Promise<readonly number[]> {
  const texts = await Promise.all(servers.map((server) => server.call('CLUSTER', 'INFO')));
  return texts.map((text) => Number(new RegExp(`${which}:(\\d+)`).exec(String(text))?.[1]));
}

async function byEpoch(servers: readonly Server[]): Promise<readonly Server[]> {
  const epochs = await epochsOf(servers);
  const epochOf = (server: Server) => epochs[servers.indexOf(server)] ?? 0;
  return servers.toSorted((one, other) => epochOf(one) - epochOf(other));
}

/**
 * Servers settle equal epochs when one hears the other itself. Nobody reaches these two any more, but they reach the others: so their
 * collision lasts when a third one has an epoch above it, and it is for the operator to end it.
 */
export const collision: Step = {
  name: 'damage: colliding epochs of two that do not hear each other',
  run: cutting(async ({ stage, cluster, fixed }) => {
    // Whoever has the highest epoch takes no new one: the others do.
    const primaries = await byEpoch(cluster.primaries);
    const { servers: pair, heal } = await epochCollision({ ...cluster, primaries });
    try {
      const [collided = 0] = await epochsOf(pair);
      await told(stage, 'EpochCollision');
      for (const server of cluster.servers) if (!pair.includes(server)) server.busProxy?.heal();
      const third = primaries.at(-1);
      assert.ok(third && !pair.includes(third));
      const hasHeard = async () => (await epochsOf([third], 'cluster_current_epoch'))[0] === collided;
      await until('the third has heard of their epoch', hasHeard, { timeoutMs: PATIENCE_MS });
      await third.call('CLUSTER', 'BUMPEPOCH');
      const isSettled = async () => new Set(await epochsOf(pair)).size === pair.length;
      await until('it is settled', isSettled, { timeoutMs: PATIENCE_MS });
    } finally {
      heal();
    }
    await fixed();
  }),
};

export const heldSteps: readonly Step[] = [claimed(0), claimed(15), claimed(35), collision];
