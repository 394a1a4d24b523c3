/** Hosts and zones that are lost, for a while and for good. */
import assert from 'node:assert/strict';
import { type RedisClusterStatus, redisClusters } from '@reeve/redis';
import { until } from '@reeve/rig';
import { NAMESPACE } from '../site/kinds.ts';
import { PATIENCE_MS, type Site } from '../site/site.ts';
import { mainSpec, type Stage, type Step } from './stage.ts';
import type { Declaration } from './subject.ts';

/** Every slot is served although not everybody is there. */
async function served({ site, subject }: Stage): Promise<void> {
  await until(
    'every slot is served without those that are lost',
    async () => {
      const { conditions = [], slots, phase } = await site.status(subject.name);
      const isAvailable = conditions.some(({ type, status }) => type === 'Available' && status === 'True');
      return isAvailable && slots === 16_384 && phase !== 'Running';
    },
    { timeoutMs: PATIENCE_MS, everyMs: 100 },
  );
}

async function loseAndBringBack(stage: Stage, hosts: readonly string[]): Promise<void> {
  const { subject } = stage;
  assert.ok((await subject.loseHosts(hosts)) > 0, `nothing was on ${hosts.join(', ')}`);
  await served(stage);
  await subject.bringHostsBack(hosts);
  await stage.whole(3, 'it is whole again');
}

export const host: Step = {
  name: 'a host with a primary is lost, and comes back',
  kills: true,
  async run(stage) {
    await loseAndBringBack(stage, [await stage.subject.hostOfAPrimary()]);
  },
};

export const zone: Step = {
  name: 'a zone is lost, and comes back',
  kills: true,
  async run(stage) {
    await loseAndBringBack(stage, await stage.subject.hostsOfZone('b'));
  },
};

const mobile: Declaration = {
  name: 'mobile',
  spec: () => {
    const { storage: _storage, ...spec } = mainSpec;
    return { ...spec, deletionPolicy: 'Delete' };
  },
};

/** Others had pods on that host, too. */
async function allAreWell(site: Site): Promise<void> {
  const { items } = await (await site.client()).resource(redisClusters, NAMESPACE).list();
  const isWhole = ({ primaries, replicas, slots }: RedisClusterStatus) =>
    primaries === replicas && primaries !== undefined && slots === 16_384;
  for (const { metadata } of items) await site.settled(metadata.name, `${metadata.name} is well`, isWhole);
}

const mobileCreated: Step = {
  name: 'a cluster without volumes is created',
  on: mobile,
  isFirst: true,
  async run(stage) {
    await stage.declare();
    await stage.whole(3, 'it is created');
  },
};

const moved: Step = {
  name: 'a host is lost for good: a cluster without volumes heals on the others, with its data',
  on: mobile,
  kills: true,
  isLast: true,
  async run(stage) {
    const { site, subject } = stage;
    const lost = await subject.hostOfAPrimary();
    const before = await site.podsOf(subject.name);
    assert.ok((await subject.loseHosts([lost])) > 0, `nothing was on ${lost}`);
    await until(
      'nobody of it is there any more',
      async () => {
        const now = await site.podsOf(subject.name);
        const isElsewhere = now.length === 6 && now.every(({ spec }) => spec?.nodeName && spec.nodeName !== lost);
        return isElsewhere && now.some(({ metadata }) => before.every((one) => one.metadata.uid !== metadata.uid));
      },
      { timeoutMs: PATIENCE_MS },
    );
    await stage.whole(3, 'it healed elsewhere');
    assert.deepEqual(await subject.judge(), [], 'while the host is away');
    await subject.bringHostsBack([lost]);
    // The volumes of others wait for their host.
    await allAreWell(site);
  },
};

export const lossSteps: readonly Step[] = [host, zone, mobileCreated, moved];
