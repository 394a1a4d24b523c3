/** A cluster of servers that somebody runs, with agents beside them: what changes who belongs to it are tasks, everything else is as with pods. */
import assert from 'node:assert/strict';
import type { RedisClusterStatus } from '@reeve/redis';
import { until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { damageSteps } from './damage-steps.ts';
import { ACCESS_SECRET, ExternalSubject } from './external.ts';
import type { Stage, Step } from './stage.ts';
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
const PRIMARY = 'h-7';
const REPLICA = 'h-8';
/** Of damage: what a move left behind, and what nobody owns. */
const DAMAGES = [': some-keys', ': slots without owner'];

function subjectOf({ subject }: Stage): ExternalSubject {
  assert.ok(subject instanceof ExternalSubject);
  return subject;
}

async function done(stage: Stage, what: string, spec: object): Promise<void> {
  const task = stage.newName(what);
  await stage.site.task(task, { cluster: bare.name, ...spec });
  const ended = await stage.site.taskEnded(task);
  assert.equal(ended.phase, 'Succeeded', JSON.stringify(ended));
}

const created: Step = {
  name: 'external members: six bare servers with agents become a cluster, spread over zones',
  on: bare,
  isFirst: true,
  async run(stage) {
    const subject = subjectOf(stage);
    await subject.keepAccess();
    await stage.declare();
    for (const name of MEMBERS) await subject.add(name);
    await stage.whole(3, 'it is created');
    const { members = [] } = await stage.site.status(bare.name);
    const zone = (name: string) => Number(name.split('-').at(-1)) % 3;
    assert.equal(members.filter(({ of }) => of !== undefined).length, 3, 'each primary has a replica');
    for (const { pod, of } of members) {
      if (of !== undefined) assert.notEqual(zone(pod), zone(of), `${pod} and its primary ${of} share a zone`);
    }
  },
};

const lostAgent: Step = {
  name: 'external members: an agent that is killed is lost, its server is not; started again it is heard of',
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

const grown: Step = {
  name: 'external members: a shard is added while the control plane dies, gets its share, and is deleted again',
  on: bare,
  async run(stage) {
    const { site } = stage;
    const subject = subjectOf(stage);
    await subject.add(PRIMARY);
    await subject.add(REPLICA);
    await done(stage, 'in', { addNode: { member: PRIMARY, as: 'primary' } });
    const isMoving = ({ currentOperation, operations = [] }: RedisClusterStatus) =>
      [currentOperation, operations[0]].some((one) => one?.kind === 'rebalance');
    await until('slots begin to move', async () => isMoving(await site.status(bare.name)), { timeoutMs: PATIENCE_MS });
    await site.killPlane();
    await site.up();
    await done(stage, 'in', { addNode: { member: REPLICA, as: 'replica', of: PRIMARY } });
    await stage.whole(4, 'it has grown');
    const slots = (await site.status(bare.name)).members?.find(({ pod }) => pod === PRIMARY)?.slots ?? '';
    assert.notEqual(slots, '', 'the new primary has its share');
    for (const node of [REPLICA, PRIMARY]) {
      await done(stage, 'out', { deleteNode: { node } });
      await subject.giveUp(node);
    }
    await stage.whole(3, 'it has shrunk');
  },
};

const host: Step = {
  name: 'external members: a host with a primary is lost, and comes back',
  on: bare,
  kills: true,
  async run(stage) {
    const { site } = stage;
    const subject = subjectOf(stage);
    const { members = [] } = await site.status(bare.name);
    const lost = members.find(({ role }) => role === 'primary')?.pod ?? '';
    await subject.loseHost(lost);
    const isServed = async () => {
      const { primaries, replicas, slots, conditions = [] } = await site.status(bare.name);
      const isAvailable = conditions.some(({ type, status }) => type === 'Available' && status === 'True');
      return isAvailable && primaries === 3 && replicas === 2 && slots === 16_384;
    };
    await until('every slot is served without it', isServed, { timeoutMs: PATIENCE_MS, everyMs: 100 });
    await subject.bringHostBack(lost);
    await stage.whole(3, 'it is whole again');
    await subject.untilAgentLost('False');
  },
};

const damaged = damageSteps
  .filter(({ name }) => DAMAGES.some((end) => name.endsWith(end)))
  .map((step): Step => ({ ...step, name: `external members, ${step.name}`, on: bare }));

export const externalSteps: readonly Step[] = [created, lostAgent, grown, host, ...damaged];
