/** Agents beside the servers of pods: a member for each pod, and commands through them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
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

interface Scene {
  readonly world: OperatorWorld;
  readonly agents: ReadonlyMap<string, AgentLife>;
  /** Beside the server that runs in a pod now. */
  startAgentOf(pod: string): void;
}

/** A cluster that runs, with an agent in each pod that was heard of. */
async function withAgents(t: TestContext): Promise<Scene> {
  const world = await OperatorWorld.start(t);
  const agents = new Map<string, AgentLife>();
  let lives = 0;
  const start = (name: string, uid: string, { host }: { readonly host: string }) => {
    agents.get(name)?.kill();
    agents.set(name, startAgent(world, { name, endpoint: { host, port: CLIENT_PORT }, podUid: uid, life: ++lives }));
  };
  world.kubelet.started = ({ metadata }, server) => start(metadata?.name ?? '', metadata?.uid ?? '', server);
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
  const uidOf = (pod: string) => world.pods.find(({ metadata }) => metadata?.name === pod)?.metadata?.uid ?? '';
  return { world, agents, startAgentOf: (pod) => start(pod, uidOf(pod), world.serverOf(pod)) };
}

test('each pod has its member and its agent; what moves slots and fails over is ordered of them', async (t) => {
  const { world, agents } = await withAgents(t);
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

test('what was ordered of agents that are to leave is taken back before anything else is begun', async (t) => {
  const { world, agents, startAgentOf } = await withAgents(t);
  const replica = world.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
  const ordersOf = (pod: string) => memberOf(world, pod)?.spec.orders ?? [];
  agents.get(replica)?.kill();
  await world.task('over', { cluster: 'c', failover: { to: replica } });
  await world.until('it has an order', () => ordersOf(replica).length > 0, 25_000);
  world.diesAfter = 0;
  await world.until('the operator has died', () => world.deaths === 1);
  await world.patch('c', { spec: { agents: null } });
  await world.until('it is taken back', () => ordersOf(replica).every(({ cancel }) => cancel === true), 60_000);
  await world.pass(30_000);
  assert.equal(world.serverOf(replica).isPrimary, false, 'nobody begins before the agent has answered');
  assert.ok(world.status('c').waitingFor?.some(({ reason }) => reason === 'OrdersOpen'));
  startAgentOf(replica);
  await world.until('nothing is ordered', () => ordersOf(replica).length === 0, 60_000);
  await world.until('the operator does it itself', () => world.taskStatus('over')?.phase === 'Succeeded', 300_000);
  await world.stopManager();
});
