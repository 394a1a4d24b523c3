/** Damage to a shard that has no slots, which is no danger to data: whoever follows nobody of use is given another primary. */
import assert from 'node:assert/strict';
import { cutBus, nodeId, parseNodes, type Server, until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { type ExternalSubject, subjectOf } from './external.ts';
import { told } from './member-damage-steps.ts';
import type { Stage, Step } from './stage.ts';

interface Spare {
  readonly subject: ExternalSubject;
  readonly primary: string;
  readonly replica: string;
}

async function primaryOf(server: Server): Promise<string | undefined> {
  return parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself)?.primaryId;
}

/** A shard that was added and got no slots; at the end it is deleted. */
async function withSpare(stage: Stage, use: (spare: Spare) => Promise<void>): Promise<void> {
  const subject = subjectOf(stage);
  const [primary, replica] = [stage.newName('spare'), stage.newName('spare')];
  await stage.declare({ rebalance: { mode: 'off' } });
  await Promise.all([subject.add(primary), subject.add(replica)]);
  await stage.done('in', { addNode: { member: primary, as: 'primary' } });
  await stage.done('in', { addNode: { member: replica, as: 'replica', of: primary } });
  await stage.whole(4, 'it has another shard');
  await use({ subject, primary, replica });
  for (const node of [replica, primary]) {
    await stage.done('out', { deleteNode: { node } });
    await subject.giveUp(node);
  }
  await stage.declare({ rebalance: { mode: 'automatic' } });
  await stage.whole();
}

export const replicaOfDead: Step = {
  name: 'damage: a replica of a node that is dead',
  async run(stage) {
    await withSpare(stage, async ({ subject, primary, replica }) => {
      const follower = subject.server(replica);
      const dead = await nodeId(subject.server(primary));
      // Valkey elects the replica of a node without slots, too.
      await follower.call('CONFIG', 'SET', 'cluster-replica-no-failover', 'yes');
      await subject.loseHosts([primary]);
      await told(stage, 'NodeFailed');
      const isElsewhere = async () => (await primaryOf(follower)) !== dead;
      await until('it follows somebody else', isElsewhere, { timeoutMs: PATIENCE_MS });
    });
  },
};

/** Needs servers whose bus can be cut: those that hear each other mend this by themselves. */
export const replicaOfReplica: Step = {
  name: 'damage: a replica of a replica',
  async run(stage) {
    await withSpare(stage, async ({ subject, primary, replica }) => {
      const cluster = await subject.cuttable();
      const [spare, follower] = [subject.server(primary), subject.server(replica)];
      const leader = cluster.primaries.find((one) => one !== spare);
      assert.ok(leader);
      const id = await nodeId(leader);
      const held = cutBus(cluster);
      await spare.call('CLUSTER', 'REPLICATE', id);
      assert.equal(await primaryOf(follower), await nodeId(spare));
      await told(stage, 'RolesDiffer');
      await until('it follows the primary', async () => (await primaryOf(follower)) === id, { timeoutMs: PATIENCE_MS });
      held.heal();
    });
  },
};
