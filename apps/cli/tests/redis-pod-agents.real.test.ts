/** A declared cluster with an agent in each pod, on `reeve up`: reports come, commands go through them, a killed one comes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RedisClusterStatus, redisClusters, type RedisTaskObject, redisTasks, reportedFacts } from '@reeve/redis';
import { until } from '@reeve/rig';
import { MEMBER_LEASE_LABEL } from '@reeve/runtime';
import { leases, members } from '../src/agent/kube.ts';
import { Machine, readOr } from '../src/up/plane-testing.ts';

const PATIENCE = { timeoutMs: 240_000, everyMs: 250 };
const NAMESPACE = 'default';

test('agents in pods report, carry commands out, and are started again', async (t) => {
  const machine = Machine.start(t);
  await machine.up();
  const client = await machine.client();
  const clusters = client.resource(redisClusters, NAMESPACE);
  const spec = { primaries: 3, replicasPerPrimary: 1, agents: 'sidecar', config: { 'cluster-node-timeout': '5000' } };
  await clusters.create({ metadata: { name: 'c' }, spec } as never);
  let last: RedisClusterStatus = {};
  const reach = (what: string, holds: (status: RedisClusterStatus) => boolean) =>
    until(
      what,
      async () => {
        last = (await clusters.get('c')).status ?? {};
        return holds(last);
      },
      PATIENCE,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify({ ...last, members: undefined }, undefined, 1)}`);
    });
  const lost = ({ conditions = [] }: RedisClusterStatus) => conditions.find(({ type }) => type === 'AgentLost')?.status;
  await reach('it runs', ({ phase, currentOperation }) => phase === 'Running' && currentOperation === undefined);
  await until(
    'all agents report, and agree',
    async () => {
      const { items } = await client.resource(members, NAMESPACE).list();
      const digests = new Set(items.map(({ status }) => status?.report?.digest));
      return items.length === 6 && items.every((one) => reportedFacts(one).known) && digests.size === 1;
    },
    PATIENCE,
  );

  // An agent is given orders when it was seen to renew its lease.
  const renewals = async () => {
    const { items } = await client.resource(leases, NAMESPACE).list({ labelSelector: MEMBER_LEASE_LABEL });
    return new Map(items.map(({ metadata, spec }) => [metadata.name, spec?.renewTime]));
  };
  const first = await renewals();
  await until(
    'every agent has renewed its lease twice',
    async () => {
      const now = await renewals();
      const times = [...now].map(([name, time]) => [first.get(name), time] as const);
      return times.length === 6 && times.every(([was, is]) => Date.parse(is ?? '') - Date.parse(was ?? '') > 15_000);
    },
    PATIENCE,
  );
  const replica = last.members?.find(({ role }) => role === 'replica')?.pod ?? '';
  // What the manager orders is in the spec of the member.
  const generation = async () => (await client.resource(members, NAMESPACE).get(replica)).metadata.generation ?? 0;
  const unordered = await generation();
  const tasks = client.resource(redisTasks, NAMESPACE);
  await tasks.create({ metadata: { name: 'over' }, spec: { cluster: 'c', failover: { to: replica } } } as never);
  await until(
    'it is done',
    async () => ((await tasks.get('over')) as RedisTaskObject).status?.phase === 'Succeeded',
    PATIENCE,
  );
  assert.ok((await generation()) > unordered, 'its agent was given the order');
  await reach('the replica leads', (status) => status.members?.find(({ pod }) => pod === replica)?.role === 'primary');

  const agents = () => machine.processes().filter((pid) => /agent\0redis/.test(readOr(`/proc/${pid}/cmdline`)));
  const before = agents();
  assert.ok(before.length >= 6, `${before.length} agents`);
  for (const pid of before) {
    assert.ok(!readOr(`/proc/${pid}/cmdline`).includes('password='), 'no password is in an argument list');
  }
  const [, memory] = /VmRSS:\s+(\d+ kB)/.exec(readOr(`/proc/${before.at(-1)}/status`)) ?? [];
  t.diagnostic(`an agent has ${memory}`);
  for (const pid of before) killIfThere(pid);
  await until('others have their places', () => agents().length >= 6 && !agents().some((pid) => before.includes(pid)), {
    ...PATIENCE,
  });
  await reach('all are heard of', (status) => lost(status) === 'False' && status.phase === 'Running');
});

/** An agent may be two processes, of which one ends with the other. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
