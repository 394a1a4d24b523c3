/** Agents beside the servers of pods: a member for each pod, and commands through them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Member } from '@reeve/runtime';
import { countSlots, parseSlots } from '../../src/api/slots.ts';
import { CLIENT_PORT } from '../../src/plan/children.ts';
import { type AgentLife, startAgent } from './agent-process.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => {
  const { phase, currentOperation } = world.status('c');
  return phase === 'Running' && currentOperation === undefined;
};
const lost = (world: OperatorWorld) => world.status('c').conditions?.find(({ type }) => type === 'AgentLost')?.status;
const memberOf = (world: OperatorWorld, name: string) =>
  world.api.find<Member>('members.agents.reeve.dev', NAMESPACE, name);

test('each pod has its member and its agent; what moves slots and fails over is ordered of them', async (t) => {
  const world = await OperatorWorld.start(t);
  const agents = new Map<string, AgentLife>();
  let lives = 0;
  world.kubelet.started = (pod, server) => {
    const { name = '', uid = '' } = pod.metadata ?? {};
    agents.get(name)?.kill();
    const endpoint = { host: server.host, port: CLIENT_PORT };
    agents.set(name, startAgent(world, { name, endpoint, podUid: uid, life: ++lives }));
  };
  t.after(() => {
    for (const agent of agents.values()) agent.kill();
  });
  await world.create('c', { agents: 'sidecar', storage: { size: '1Gi' }, rebalance: { mode: 'off' } });
  await world.until('the cluster runs', () => isRunning(world));
  await world.until('every agent is heard of', () => {
    const members = Array.from({ length: 6 }, (_, at) => memberOf(world, `c-${at}`));
    return members.every((member) => member?.status?.report?.digest !== undefined);
  });
  await world.pass(30_000);
  assert.equal(lost(world), 'False');
  const template = world.set('c')?.spec?.template as { spec: { serviceAccountName?: string; containers: unknown[] } };
  assert.deepEqual([template.spec.serviceAccountName, template.spec.containers.length], ['reeve-agent', 2]);

  world.asked.clear();
  const [to = ''] = (world.status('c').members ?? []).filter(({ role }) => role === 'primary').map(({ pod }) => pod);
  await world.task('move', { cluster: 'c', reshard: { slots: 100, to } });
  await world.until('the task is done', () => world.taskStatus('move')?.phase === 'Succeeded');
  const slots = () => world.status('c').members?.find(({ pod }) => pod === to)?.slots ?? '';
  await world.until('the status says so', () => countSlots(parseSlots(slots()) ?? []) > 5_500);
  assert.ok(![...world.asked].some((label) => /SETSLOT|MIGRATE/.test(label)), [...world.asked].join());

  agents.get('c-0')?.kill();
  await world.until('it is lost', () => lost(world) === 'True', 60_000);
  assert.equal(world.status('c').phase, 'Running');
  const uid = memberOf(world, 'c-0')?.spec.pod?.uid;
  await world.deletePod('c-0');
  await world.until('another pod has its place', () => {
    const now = memberOf(world, 'c-0')?.spec.pod?.uid;
    return now !== undefined && now !== uid;
  });
  await world.until('its agent is heard of', () => lost(world) === 'False' && isRunning(world), 300_000);
  await world.stopManager();
});
