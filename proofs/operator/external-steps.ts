/** A cluster of servers that somebody runs, with agents beside them: what changes who belongs to it are tasks, everything else is as with pods. */
import assert from 'node:assert/strict';
import type { RedisClusterStatus } from '@reeve/redis';
import { until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { backupStep } from './backup-steps.ts';
import { failover, rebalance } from './change-steps.ts';
import { damageSteps } from './damage-steps.ts';
import { ACCESS_SECRET, ExternalSubject, subjectOf, zoneOf } from './external.ts';
import { guardedSteps } from './guarded-steps.ts';
import { host, zone } from './loss-steps.ts';
import { memberDamageSteps } from './member-damage-steps.ts';
import { isEven } from './shares.ts';
import { replicaOfDead } from './spare-steps.ts';
import { playedOn, type Stage, type Step } from './stage.ts';
import type { Declaration } from './subject.ts';

const bare: Declaration = {
  name: 'bare',
  spec: () => ({
    members: 'external',
    access: { passwordSecret: { name: ACCESS_SECRET, key: 'password' } },
    primaries: 3,
    replicasPerPrimary: 1,
    migration: { pace: 'fast' },
  }),
  open: (site) => new ExternalSubject(site, bare),
};

const MEMBERS = ['h-1', 'h-2', 'h-3', 'h-4', 'h-5', 'h-6'];
/** Further shards. */
const SHARDS = [
  { primary: 'h-7', replica: 'h-8' },
  { primary: 'h-9', replica: 'h-10' },
  { primary: 'h-11', replica: 'h-12' },
];
const AS = 'external members: ';

const created: Step = {
  name: `${AS}six bare servers with agents become a cluster, spread over zones`,
  on: bare,
  isFirst: true,
  async run(stage) {
    const subject = subjectOf(stage);
    await subject.keepAccess();
    await stage.declare();
    for (const name of MEMBERS) await subject.add(name);
    await stage.whole(3, 'it is created');
    const { members = [] } = await stage.site.status(bare.name);
    assert.equal(members.filter(({ of }) => of !== undefined).length, 3, 'each primary has a replica');
    for (const { pod, of } of members) {
      if (of !== undefined) assert.notEqual(zoneOf(pod), zoneOf(of), `${pod} and its primary ${of} share a zone`);
    }
  },
};

const lostAgent: Step = {
  name: `${AS}an agent that is killed is lost, its server is not; started again it is heard of`,
  on: bare,
  async run(stage) {
    const subject = subjectOf(stage);
    await subject.untilAgentLost('False');
    await subject.killAgent('h-2');
    await subject.untilAgentLost('True');
    subject.startAgent('h-2');
    await subject.untilAgentLost('False');
    await stage.whole();
  },
};

/** The control plane dies as soon as slots move to the first one that was added. */
async function dieWhileSlotsMove({ site }: Stage): Promise<void> {
  const isMoving = ({ currentOperation, operations = [] }: RedisClusterStatus) =>
    [currentOperation, operations[0]].some((one) => one?.kind === 'rebalance');
  await until('slots begin to move', async () => isMoving(await site.status(bare.name)), { timeoutMs: PATIENCE_MS });
  await site.killPlane();
  await site.up();
}

const scaled: Step = {
  name: `${AS}scale 3 → 6 → 3 by tasks, while the control plane dies`,
  on: bare,
  async run(stage) {
    const { site } = stage;
    const subject = subjectOf(stage);
    const all = SHARDS.flatMap(({ primary, replica }) => [replica, primary]);
    await Promise.all(all.map((name) => subject.add(name)));
    const [first, ...others] = SHARDS.map(({ primary }) => primary);
    await stage.done('in', { addNode: { member: first, as: 'primary' } });
    await dieWhileSlotsMove(stage);
    for (const member of others) await stage.done('in', { addNode: { member, as: 'primary' } });
    for (const { primary, replica } of SHARDS) {
      await stage.done('in', { addNode: { member: replica, as: 'replica', of: primary } });
    }
    await stage.whole(6, 'it has grown');
    await site.settled(bare.name, 'slots are even over six', (status) => isEven(status, 6));
    for (const node of all) await stage.done('out', { deleteNode: { node } });
    await Promise.all(all.map((name) => subject.giveUp(name)));
    await stage.whole(3, 'it has shrunk');
    await site.settled(bare.name, 'slots are even over three', (status) => isEven(status));
  },
};

const refused: Step = {
  name: `${AS}what servers run and hold is not set: an upgrade and a restore are refused`,
  on: bare,
  async run(stage) {
    for (const spec of [{ upgrade: { version: '99.0.0' } }, { restore: { cluster: 'any', name: 'any' } }]) {
      const { phase, code } = await stage.ended('not', spec);
      assert.deepEqual([phase, code], ['Failed', 'MEMBERS_EXTERNAL'], JSON.stringify(spec));
    }
    await stage.whole();
  },
};

export const externalSteps: readonly Step[] = [
  created,
  lostAgent,
  scaled,
  // A failover by hand may put two primaries into one zone: after the loss of one.
  ...playedOn(bare, [rebalance, host, zone, failover], AS),
  ...playedOn(bare, [...damageSteps, ...memberDamageSteps, replicaOfDead, backupStep], AS),
  refused,
  ...guardedSteps,
];
