/** The life of a declared cluster, step by step; each begins and ends with a whole cluster of 3+3. */
import assert from 'node:assert/strict';
import { readOr } from '@reeve/cli/plane-testing';
import type { RedisClusterStatus } from '@reeve/redis';
import { once, until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { backupStep } from './backup-steps.ts';
import { damageSteps } from './damage-steps.ts';
import { externalSteps } from './external-steps.ts';
import { bringBack, lose, nodesOfZone } from './places.ts';
import { MAIN, mainSpec, type Stage, type Step } from './stage.ts';
import { tlsSteps } from './tls-steps.ts';
import { upgradeStep } from './upgrade-step.ts';

/** Ranges, or only how many there are. */
const slotsOf = (text = ''): number =>
  Number(/^(\d+) slots in /.exec(text)?.[1]) ||
  text
    .split(',')
    .map((range) => range.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);

function shares({ members = [] }: RedisClusterStatus): readonly number[] {
  return members.flatMap(({ slots }) => (slots === undefined ? [] : [slotsOf(slots)]));
}

function isEven(status: RedisClusterStatus, primaries = 3): boolean {
  const all = shares(status);
  const fair = 16_384 / primaries;
  return all.length === primaries && all.every((share) => Math.abs(share - fair) <= fair * 0.06);
}

/** Where everybody lives: worker node and zone by pod. */
async function places(stage: Stage): Promise<ReadonlyMap<string, string>> {
  return new Map((await stage.site.podsOf(MAIN)).map(({ metadata, spec }) => [metadata.name, spec?.nodeName ?? '']));
}

/** Every slot is served although not everybody is there. */
async function served(stage: Stage): Promise<void> {
  await until(
    'every slot is served without those that are lost',
    async () => {
      const { conditions = [], slots, phase } = await stage.site.status(MAIN);
      const isAvailable = conditions.some(({ type, status }) => type === 'Available' && status === 'True');
      return isAvailable && slots === 16_384 && phase !== 'Running';
    },
    { timeoutMs: PATIENCE_MS, everyMs: 100 },
  );
}

async function loseAndBringBack(stage: Stage, nodes: readonly string[]): Promise<void> {
  const lost = await lose(stage.site, nodes);
  assert.ok(lost > 0, `nothing was on ${nodes.join(', ')}`);
  await served(stage);
  await bringBack(stage.site, nodes);
  await stage.whole(3, 'it is whole again');
}

async function nodeOfAPrimary(stage: Stage, name: string): Promise<string> {
  const { members = [] } = await stage.site.status(name);
  const primary = members.find(({ role }) => role === 'primary');
  const home = (await stage.site.podsOf(name)).find(({ metadata }) => metadata.name === primary?.pod);
  return home?.spec?.nodeName ?? '';
}

const create: Step = {
  name: 'create 3+3 over three zones',
  isFirst: true,
  async run(stage) {
    await stage.declare();
    await stage.whole(3, 'it is created');
    const { members = [] } = await stage.site.status(MAIN);
    const homes = await places(stage);
    const zones = await Promise.all(['a', 'b', 'c'].map((zone) => nodesOfZone(stage.site, zone)));
    const zoneOf = (pod: string) => zones.findIndex((nodes) => nodes.includes(homes.get(pod) ?? ''));
    assert.equal(members.filter(({ of }) => of !== undefined).length, 3, 'each primary has a replica');
    for (const { pod, of } of members) {
      if (of !== undefined) assert.notEqual(zoneOf(pod), zoneOf(of), `${pod} and its primary ${of} share a zone`);
    }
    const primaries = members.filter(({ role }) => role === 'primary').map(({ pod }) => zoneOf(pod));
    assert.equal(new Set(primaries).size, 3, 'each zone has one primary');
    const { password = '' } = await stage.site.access(MAIN);
    const isTold = stage.site.machine.processes().some((pid) => readOr(`/proc/${pid}/cmdline`).includes(password));
    assert.ok(password !== '' && !isTold, 'no password is in an argument list');
  },
};

const scale: Step = {
  name: 'scale 3 → 6 → 3',
  async run(stage) {
    await stage.declare({ primaries: 6 });
    await stage.whole(6, 'it has grown');
    await stage.site.settled(MAIN, 'slots are even over six', (status) => isEven(status, 6));
    await stage.declare({ primaries: 3 });
    await stage.whole(3, 'it has shrunk');
    await stage.site.settled(MAIN, 'slots are even over three', (status) => isEven(status));
  },
};

const rebalance: Step = {
  name: 'a reshard by hand stays with `rebalance: off`, and is evened out with `automatic`',
  async run(stage) {
    const { site } = stage;
    await stage.declare({ rebalance: { mode: 'off' } });
    const to = (await site.status(MAIN)).members?.find(({ role }) => role === 'primary')?.pod ?? '';
    const task = stage.newName('move');
    await site.task(task, { cluster: MAIN, reshard: { slots: 1_500, to } });
    const ended = await site.taskEnded(task);
    assert.equal(ended.phase, 'Succeeded', JSON.stringify(ended));
    await site.settled(MAIN, 'the slots are there', (status) => Math.max(...shares(status)) > 6_500);
    await stage.declare({ rebalance: { mode: 'automatic' } });
    await site.settled(MAIN, 'slots are even', (status) => isEven(status));
  },
};

const failover: Step = {
  name: 'a failover asked for by a task',
  async run(stage) {
    const { site } = stage;
    const to = (await site.status(MAIN)).members?.find(({ role }) => role === 'replica')?.pod ?? '';
    const task = stage.newName('over');
    await site.task(task, { cluster: MAIN, failover: { to } });
    const ended = await site.taskEnded(task);
    assert.equal(ended.phase, 'Succeeded', JSON.stringify(ended));
    await stage.whole();
    const { members = [] } = await site.status(MAIN);
    assert.equal(members.find(({ pod }) => pod === to)?.role, 'primary', 'whoever was asked for is one, and stays it');
  },
};

const configuration: Step = {
  name: 'a new configuration reaches every server, one after the other',
  async run(stage) {
    const before = await stage.site.runIds(MAIN);
    await stage.declare({ config: { ...mainSpec.config, 'slowlog-max-len': '64' } });
    await stage.site.settled(MAIN, 'every server was started anew', async () => {
      const now = await stage.site.runIds(MAIN);
      return now.size === 6 && [...now.values()].every((id) => ![...before.values()].includes(id));
    });
    await stage.whole();
    const access = await stage.site.access(MAIN);
    for (const endpoint of await stage.site.endpoints(MAIN)) {
      assert.deepEqual(await once(endpoint, access, 'CONFIG', 'GET', 'slowlog-max-len'), ['slowlog-max-len', '64']);
    }
  },
};

const host: Step = {
  name: 'a host with a primary is lost, and comes back',
  kills: true,
  async run(stage) {
    await loseAndBringBack(stage, [await nodeOfAPrimary(stage, MAIN)]);
  },
};

const zone: Step = {
  name: 'a zone is lost, and comes back',
  kills: true,
  async run(stage) {
    await loseAndBringBack(stage, await nodesOfZone(stage.site, 'b'));
  },
};

const moved: Step = {
  name: 'a host is lost for good: a cluster without volumes heals on the others',
  async run(stage) {
    const { site } = stage;
    const name = stage.newName('mobile');
    const { storage: _storage, ...spec } = mainSpec;
    await site.declare(name, { ...spec, deletionPolicy: 'Delete' });
    const isWhole = ({ primaries, replicas, slots }: RedisClusterStatus) =>
      primaries === 3 && replicas === 3 && slots === 16_384;
    await site.settled(name, 'it is created', isWhole);
    // A node with none of the main cluster's primaries would be better still; volumes of that one wait for the node.
    const node = await nodeOfAPrimary(stage, name);
    assert.ok((await lose(site, [node])) > 0, `nothing was on ${node}`);
    await site.settled(name, 'it healed elsewhere', async (status) => {
      const elsewhere = (await site.podsOf(name)).filter(({ spec: pod }) => pod?.nodeName !== node);
      return isWhole(status) && elsewhere.length === 6;
    });
    assert.deepEqual(await site.judge(name, new Map()), []);
    await bringBack(site, [node]);
    await site.remove(name);
    await stage.whole();
  },
  kills: true,
};

const everything: Step = {
  name: 'all pods are deleted at once, and come back at other addresses',
  changesAllAddresses: true,
  async run(stage) {
    const { site } = stage;
    const before = await site.podsOf(MAIN);
    for (const { metadata } of before) await site.deletePod(metadata.name);
    const old = new Set(before.map(({ metadata }) => metadata.uid));
    await until(
      'all are others',
      async () => {
        const now = await site.podsOf(MAIN);
        return now.length === 6 && now.every(({ metadata }) => !old.has(metadata.uid));
      },
      { timeoutMs: PATIENCE_MS },
    );
    await stage.whole();
  },
};

export const steps: readonly Step[] = [
  create,
  scale,
  rebalance,
  failover,
  configuration,
  upgradeStep,
  host,
  zone,
  moved,
  everything,
  ...damageSteps,
  backupStep,
  ...tlsSteps,
  ...externalSteps,
];
