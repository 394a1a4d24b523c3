/** Agents beside the servers of pods: a member for each pod, and commands through them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { AGENT_POLICY, type Member } from '@reeve/runtime';
import {
  admissionPolicies,
  admissionPolicyBindings,
  type Pod,
  roleBindings,
  workerNodes,
} from '../../src/api/kinds.ts';
import { countSlots, parseSlots, SLOT_COUNT } from '../../src/api/slots.ts';
import { type AgentsInPods, agentsInPods } from './pod-agents.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => {
  const { phase, currentOperation } = world.status('c');
  return phase === 'Running' && currentOperation === undefined;
};
const lost = (world: OperatorWorld) => world.status('c').conditions?.find(({ type }) => type === 'AgentLost')?.status;
const memberOf = (world: OperatorWorld, name: string) =>
  world.api.find<Member>('members.agents.reeve.dev', NAMESPACE, name);

interface Scene extends AgentsInPods {
  readonly world: OperatorWorld;
}

/** A cluster that runs, with an agent in each pod that was heard of. */
async function withAgents(t: TestContext): Promise<Scene> {
  const world = await OperatorWorld.start(t);
  const inPods = agentsInPods(world, t);
  await world.create('c', { agents: 'sidecar', storage: { size: '1Gi' }, rebalance: { mode: 'off' } });
  await world.until('the cluster runs', () => isRunning(world));
  await world.until('every agent is heard of', () => {
    const members = Array.from({ length: 6 }, (_, at) => memberOf(world, `c-${at}`));
    return members.every((member) => member?.status?.report?.digest !== undefined);
  });
  await world.pass(30_000);
  assert.equal(lost(world), 'False');
  return { world, ...inPods };
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

test('an agent reports where its pod lives by the labels of its worker node, also when these change', async (t) => {
  const { world } = await withAgents(t);
  const reported = (name: string) =>
    (memberOf(world, name)?.status?.report?.facts as { readonly annotations?: object } | undefined)?.annotations;
  const nodeOf = (name: string) => world.pods.find(({ metadata }) => metadata?.name === name)?.spec?.nodeName ?? '';
  for (const { metadata } of world.pods) {
    const node = nodeOf(metadata?.name ?? '');
    assert.match(node, /^node-/);
    assert.deepEqual(reported(metadata?.name ?? ''), { host: node, zone: node.slice('node-'.length) });
  }
  const labels = { 'topology.kubernetes.io/zone': 'elsewhere' };
  await world.api.client.resource(workerNodes).patch(nodeOf('c-0'), { type: 'merge', value: { metadata: { labels } } });
  const told = { host: nodeOf('c-0'), zone: 'elsewhere' };
  await world.until('its agent tells it', () => isDeepStrictEqual(reported('c-0'), told));
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

const notReady = [{ type: 'Ready', status: 'False' }];
const running = { name: 'server', ready: true, restartCount: 0, state: { running: {} } };

test('an agent that is dead for good with an order does not hold its cluster up once there are to be no agents', async (t) => {
  const { world, agents } = await withAgents(t);
  const replica = world.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
  const ordersOf = (pod: string) => memberOf(world, pod)?.spec.orders ?? [];
  agents.get(replica)?.kill();
  await world.task('over', { cluster: 'c', failover: { to: replica } });
  await world.until('it has an order', () => ordersOf(replica).length > 0, 25_000);
  world.diesAfter = 0;
  await world.until('the operator has died', () => world.deaths === 1);
  const before = world.podUids;
  await world.patch('c', { spec: { agents: null } });
  await world.pass(90_000);
  assert.equal(ordersOf(replica).length, 1, 'for all that its node says it may live');
  assert.ok(world.status('c').waitingFor?.some(({ reason }) => reason === 'OrdersOpen'));
  assert.equal(world.serverOf(replica).isPrimary, false);
  const agent = { name: 'agent', restartCount: 7, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  await world.kubelet.tell(replica, { conditions: notReady, containerStatuses: [running, agent] });
  await world.until('nothing is ordered', () => ordersOf(replica).length === 0, 60_000);
  await world.until('the operator does it itself', () => world.taskStatus('over')?.phase === 'Succeeded', 300_000);
  const isDone = () => world.status('c').slots === SLOT_COUNT && world.status('c').waitingFor?.length === 0;
  await world.until(
    'the pods are made anew, also that one',
    () => isDone() && world.podUids.length === 6 && world.podUids.every((uid) => !before.includes(uid)),
    900_000,
  );
  await world.stopManager();
});

for (const storage of [undefined, { size: '1Gi' }]) {
  test(`${storage ? 'with' : 'without'} volumes: an agent whose image is nowhere stops at one pod, and goes when none is asked for`, async (t) => {
    const world = await OperatorWorld.start(t);
    const hasAgent = ({ spec }: Pod) => spec?.containers?.some(({ image }) => image === 'reeve') === true;
    const agent = { name: 'agent', state: { waiting: { reason: 'ErrImagePull', message: 'unknown' } } };
    world.kubelet.told = (pod, status) =>
      hasAgent(pod) ? { ...status, conditions: notReady, containerStatuses: [running, agent] } : status;
    await world.create('c', storage ? { storage } : {});
    await world.until('the cluster runs', () => isRunning(world));
    await world.patch('c', { spec: { agents: 'sidecar' } });
    const stuck = () => world.status('c').conditions?.find(({ type }) => type === 'PodStuck');
    await world.until('it says why', () => stuck()?.status === 'True');
    await world.pass(60_000);
    assert.equal(stuck()?.reason, 'ErrImagePull');
    assert.equal(world.pods.filter(hasAgent).length, 1);
    await world.patch('c', { spec: { agents: 'none' } });
    await world.until(
      'that pod is made anew',
      () => isRunning(world) && world.pods.length === 6 && !world.pods.some(hasAgent),
      300_000,
    );
    await world.stopManager();
  });
}

test('agents are given nothing where nothing narrows them: the status says what to do', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.api.client.resource(admissionPolicyBindings).delete(AGENT_POLICY);
  await world.create('c', { agents: 'sidecar' });
  const declared = () => world.status('c').conditions?.find(({ type }) => type === 'Declared');
  await world.until('it says so', () => declared()?.status === 'False');
  assert.equal(declared()?.reason, 'AgentPolicyMissing');
  assert.match(declared()?.message ?? '', /ValidatingAdmissionPolicyBinding .*--print-manifests/);
  await world.pass(30_000);
  const { items } = await world.api.client.resource(roleBindings, NAMESPACE).listAll();
  assert.deepEqual(items, []);
  assert.equal(world.set('c'), undefined);
  await world.api.client.resource(admissionPolicies).delete(AGENT_POLICY);
  await world.installAgentPolicy();
  await world.until('its pods are there', () => world.pods.length === 6 && declared()?.status === 'True');
  await world.api.client.resource(admissionPolicyBindings).delete(AGENT_POLICY);
  await world.until('it says so again, in the same term', () => declared()?.status === 'False', 60_000);
  await world.create('d', { agents: 'sidecar' });
  await world.pass(30_000);
  assert.equal(world.set('d'), undefined);
  await world.stopManager();
});
