/** The life of a declared cluster, step by step; each begins and ends with a whole cluster of 3+3. */
import assert from 'node:assert/strict';
import { readOr } from '@reeve/cli/plane-testing';
import { once, until } from '@reeve/rig';
import { PATIENCE_MS } from '../site/site.ts';
import { backupStep } from './backup-steps.ts';
import { failover, rebalance, scale, weighted } from './change-steps.ts';
import { damageSteps } from './damage-steps.ts';
import { externalSteps } from './external-steps.ts';
import { heldSteps } from './held-steps.ts';
import { lossSteps } from './loss-steps.ts';
import { memberDamageSteps } from './member-damage-steps.ts';
import { nodesOfZone } from './places.ts';
import { MAIN, mainSpec, type Stage, type Step } from './stage.ts';
import { tlsSteps } from './tls-steps.ts';
import { upgradeSteps } from './upgrade-steps.ts';

/** Where everybody lives: worker node and zone by pod. */
async function places(stage: Stage): Promise<ReadonlyMap<string, string>> {
  return new Map((await stage.site.podsOf(MAIN)).map(({ metadata, spec }) => [metadata.name, spec?.nodeName ?? '']));
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
  weighted,
  failover,
  configuration,
  ...lossSteps,
  everything,
  ...damageSteps,
  ...memberDamageSteps,
  ...heldSteps,
  backupStep,
  ...upgradeSteps,
  ...tlsSteps,
  ...externalSteps,
];
