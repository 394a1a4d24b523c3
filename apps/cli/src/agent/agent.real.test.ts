/** Agents as users have them: enrolled on bare hosts, each with its own identity, beside real servers. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isKubeError, resource } from '@reeve/kube';
import {
  memberExecutor,
  type NodeRef,
  orderSeconds,
  presenceOf,
  type RedisCommand,
  type RedisFacts,
  reportedFacts,
  seeLease,
} from '@reeve/redis';
import { meetAll, nodeId, type Server, startServers, tagForSlot, until, waitUntilAgreed } from '@reeve/rig';
import {
  AGENT_ACCOUNT,
  isHandle,
  leaseNameOf,
  type Member,
  MemberOrders,
  type Outcome,
  podAgentRights,
  podAgentRole,
  systemPorts,
} from '@reeve/runtime';
import { accounts, bindings, leases, type Plain } from './kube.ts';
import { type AgentProcess, NAMESPACE, PASSWORD, Site } from './site-testing.ts';

const NAMES = ['h-0', 'h-1', 'h-2'] as const;
type Name = (typeof NAMES)[number];
const never = new AbortController().signal;

let site: Site;
let servers: readonly Server[] = [];
const agents = new Map<Name, AgentProcess>();
let orders: MemberOrders;
const stop = new AbortController();

const serverOf = (name: Name): Server => servers[NAMES.indexOf(name)] as Server;
const addressOf = (name: Name): string => `${serverOf(name).endpoint.host}:${serverOf(name).endpoint.port}`;
const tokenOf = (name: Name): string => readFileSync(join(site.identity(name), 'token'), 'utf8');

/** h-0 and h-1 are primaries, h-2 follows h-0. */
async function form(): Promise<void> {
  const [a, b, c] = servers as readonly [Server, Server, Server];
  for (const [index, server] of servers.entries()) await server.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  await a.call('CLUSTER', 'ADDSLOTSRANGE', 0, 8191);
  await b.call('CLUSTER', 'ADDSLOTSRANGE', 8192, 16383);
  await meetAll(servers);
  await c.call('CLUSTER', 'REPLICATE', await nodeId(a));
  await waitUntilAgreed(servers);
}

async function enroll(name: Name): Promise<void> {
  const finished = await site.enroll(
    name,
    '--endpoint',
    addressOf(name),
    '--cluster',
    'cache',
    '--out',
    site.identity(name),
  );
  assert.equal(finished.code, 0, finished.stderr);
  assert.ok(!finished.stdout.includes(tokenOf(name).trim()), 'a token is not printed');
}

async function reports(): Promise<ReadonlyMap<Name, { readonly facts: RedisFacts; readonly digest: string }>> {
  const all = new Map<Name, { readonly facts: RedisFacts; readonly digest: string }>();
  for (const name of NAMES) {
    const member = (await site.members.get(name)) as Member;
    const facts = reportedFacts(member);
    if (!facts.known) throw new Error(`${name}: ${facts.why}; ${agents.get(name)?.said}`);
    all.set(name, { facts: facts.value, digest: member.status?.report?.digest ?? '' });
  }
  return all;
}

async function factsOf(name: Name): Promise<RedisFacts> {
  return ((await reports()).get(name) as { readonly facts: RedisFacts }).facts;
}

/** Every report is there, and all nodes say the same of the cluster. */
function untilAllAgree() {
  return until('reports agree', async () => {
    const all = await reports();
    return new Set([...all.values()].map(({ digest }) => digest)).size === 1 ? all : undefined;
  });
}

async function order(command: RedisCommand): Promise<Outcome> {
  const nodes = await Promise.all(NAMES.map(async (name) => [(await factsOf(name)).node, name] as const));
  const refs = new Map(nodes.map(([node, name]) => [node, { namespace: NAMESPACE, name }]));
  const started = await memberExecutor(systemPorts, orders, () => refs).start(command, never);
  return isHandle<Outcome>(started) ? started.settled : started;
}

async function refTo(name: Name): Promise<NodeRef> {
  return { id: await nodeId(serverOf(name)), endpoint: serverOf(name).endpoint };
}

/** The manager's cache of members. */
async function follow(): Promise<void> {
  while (!stop.signal.aborted) {
    try {
      for await (const event of site.members.watch({ sendInitialEvents: true, signal: stop.signal })) {
        if (event.type === 'DELETED') orders.gone(event.object as Member);
        else if (event.type !== 'BOOKMARK') orders.told(event.object as Member);
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  }
}

const pods = resource<Plain>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
const clusterRoles = resource<Plain>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
});

/** A pod of the account of agents, with a token that is bound to it. */
async function makePod(name: string): Promise<{ readonly uid: string; readonly kubeconfig: string }> {
  await site.admin.resource(clusterRoles).create(podAgentRole() as unknown as Plain);
  for (const manifest of podAgentRights(NAMESPACE) as readonly unknown[] as readonly (Plain & { kind: string })[]) {
    const kind = [accounts, bindings].find((one) => one.kind === manifest.kind);
    assert.ok(kind);
    await site.admin.resource(kind, NAMESPACE).create(manifest);
  }
  const spec = { serviceAccountName: AGENT_ACCOUNT, containers: [{ name: 'agent', image: 'agent' }] };
  const { metadata } = await site.admin.resource(pods, NAMESPACE).create({ metadata: { name }, spec });
  const ofAccounts = site.admin.resource(accounts, NAMESPACE);
  const answer = await ofAccounts.post<{ readonly status: { readonly token: string } }>(AGENT_ACCOUNT, 'token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name } },
  });
  return { uid: metadata.uid, kubeconfig: site.configFor(answer.status.token) };
}

describe('agents on bare hosts', () => {
  before(async () => {
    site = await Site.open();
    servers = await startServers(NAMES.length, { product: 'valkey', password: PASSWORD });
    await form();
    orders = new MemberOrders(systemPorts, {
      members: (namespace) => site.admin.resource(site.members.resource, namespace),
      lease: () => 1,
      deadlineSecondsOf: orderSeconds,
    });
    void follow();
    for (const name of NAMES) await enroll(name);
  });

  after(async () => {
    stop.abort();
    await site?.[Symbol.asyncDispose]();
    await Promise.all(servers.map((server) => server.stop()));
  });

  test('an identity is for one user, and can be made again', async () => {
    for (const file of ['kubeconfig', 'token', 'member.json']) {
      assert.equal(statSync(join(site.identity('h-0'), file)).mode & 0o777, 0o600, file);
    }
    const old = tokenOf('h-0');
    await enroll('h-0');
    assert.notEqual(tokenOf('h-0'), old);
    const elsewhere = await site.enroll('h-0', '--endpoint', addressOf('h-1'), '--out', join(site.folder, 'other'));
    assert.equal(elsewhere.code, 3, elsewhere.stderr);
    assert.match(elsewhere.stderr, /MEMBER_TAKEN/);
    const other = await site.enroll('h-0', '--endpoint', addressOf('h-0'), '--out', site.identity('h-1'));
    assert.equal(other.code, 2, other.stderr);
    assert.match(other.stderr, /is the identity of shop\/h-1/);
  });

  test('reports come, and agents whose servers agree have the same digest', async () => {
    for (const name of NAMES) agents.set(name, site.startAgent(name, '--annotate', `zone=${name}`));
    const all = await untilAllAgree();
    for (const name of NAMES) {
      const facts = all.get(name)?.facts;
      assert.equal(facts?.node, await nodeId(serverOf(name)));
      assert.deepEqual([facts?.cluster, facts?.annotations, facts?.state], ['cache', { zone: name }, 'ok']);
      const lease = await site.admin.resource(leases, NAMESPACE).get(leaseNameOf(name));
      assert.equal(presenceOf(seeLease(undefined, lease, 1), 1).is, 'heard');
    }
    const roles = NAMES.map((name) => all.get(name)?.facts.role);
    assert.deepEqual(roles, ['primary', 'primary', 'replica']);
    assert.deepEqual([all.get('h-0')?.facts.slots, all.get('h-1')?.facts.slotCount], ['0-8191', 8192]);
    assert.equal(all.get('h-2')?.facts.primary, all.get('h-0')?.facts.node);
  });

  test('an agent renews its own token', async () => {
    const token = tokenOf('h-1');
    const { client } = await site.as('h-1');
    assert.equal((await client.resource(site.members.resource, NAMESPACE).get('h-1')).metadata.name, 'h-1');
    await agents.get('h-1')?.end('SIGTERM');
    agents.set('h-1', site.startAgent('h-1', '--annotate', 'zone=h-1'));
    await until('another token', () => tokenOf('h-1') !== token);
    const renewed = await site.as('h-1');
    assert.equal((await renewed.client.resource(site.members.resource, NAMESPACE).get('h-1')).metadata.name, 'h-1');
    await untilAllAgree();
  });

  test('an administrator renews a token: a new one in the same identity, and the old one goes on', async () => {
    const { client } = await site.as('h-1');
    const files = () =>
      ['kubeconfig', 'member.json'].map((file) => readFileSync(join(site.identity('h-1'), file), 'utf8'));
    const [before, old] = [files(), tokenOf('h-1')];
    const renewed = await site.enroll('h-1', '--renew', '--out', site.identity('h-1'));
    assert.equal(renewed.code, 0, renewed.stderr);
    const token = tokenOf('h-1');
    assert.notEqual(token, old);
    assert.ok(!renewed.stdout.includes(token.trim()), 'a token is not printed');
    assert.equal(statSync(join(site.identity('h-1'), 'token')).mode & 0o777, 0o600);
    assert.deepEqual(files(), before);
    const again = await site.as('h-1');
    for (const one of [client, again.client]) {
      assert.equal((await one.resource(site.members.resource, NAMESPACE).get('h-1')).metadata.name, 'h-1');
    }
    const nobody = await site.enroll('h-1', '--renew', '--out', join(site.folder, 'empty'));
    assert.match(nobody.stderr, /holds no identity of an agent.*AGENT_IDENTITY/);
  });

  test('a failover through the member of the replica', async () => {
    const [replica, primary] = [await refTo('h-2'), await refTo('h-0')];
    const outcome = await order({ type: 'failover', replica, primary, mode: 'graceful', why: 'test' });
    assert.equal(outcome.status, 'done', JSON.stringify(outcome));
    await until('the reports tell it', async () => {
      const [was, is] = [await factsOf('h-0'), await factsOf('h-2')];
      return is.role === 'primary' && is.slots === '0-8191' && was.role === 'replica';
    });
    await untilAllAgree();
    assert.deepEqual((await site.members.get('h-2')).spec.orders ?? [], [], 'the order is let go');
  });

  test('slots move through the member of their source, with their keys', async () => {
    await waitUntilAgreed(servers);
    const source = serverOf('h-1');
    const slots = [8192, 8193, 8194];
    for (const slot of slots) {
      for (let n = 0; n < 20; n++) await source.call('SET', `{${tagForSlot(slot)}}${n}`, `value ${n}`);
    }
    const outcome = await order({
      type: 'migrate-slots',
      source: await refTo('h-1'),
      target: await refTo('h-2'),
      slots: '8192-8194',
      others: [],
      engine: 'auto',
      pace: 'gentle',
      why: 'test',
    });
    assert.equal(outcome.status, 'done', JSON.stringify(outcome));
    for (const slot of slots) assert.equal(await serverOf('h-2').call('CLUSTER', 'COUNTKEYSINSLOT', slot), 20);
    await until('the reports tell it', async () => (await factsOf('h-2')).slots === '0-8194');
    assert.equal((await untilAllAgree()).get('h-1')?.facts.slots, '8195-16383');
  });

  test('another’s member is none of an agent’s business', async () => {
    const { client } = await site.as('h-1');
    const own = client.resource(site.members.resource, NAMESPACE);
    const forbidden = (error: unknown) => isKubeError(error, 'KUBE_FORBIDDEN');
    await assert.rejects(own.get('h-0'), forbidden);
    const status = { type: 'merge', value: { status: { highestLease: 1_000 } } } as const;
    await assert.rejects(own.patch('h-0', status, { subresource: 'status' }), forbidden);
    await assert.rejects(own.patch('h-1', { type: 'merge', value: { spec: { fence: 7 } } }), forbidden);
    await assert.rejects(client.resource(accounts, NAMESPACE).post('reeve-agent-h-0', 'token', {}), forbidden);
    await assert.rejects(client.resource(leases, NAMESPACE).get(leaseNameOf('h-0')), forbidden);
    assert.equal((await own.get('h-1')).metadata.name, 'h-1');
  });

  test('no password is in a member, in an identity, or in what agents say', async () => {
    const { items } = await site.members.list();
    const texts = [...items.map((member) => JSON.stringify(member)), ...[...agents.values()].map(({ said }) => said)];
    for (const name of NAMES) texts.push(readFileSync(join(site.identity(name), 'member.json'), 'utf8'));
    for (const text of texts) assert.ok(!text.includes(PASSWORD));
    const line = site.start(['--identity', site.identity('h-0'), '--password', PASSWORD]);
    assert.equal(await line.end(), 2);
    assert.match(line.said, /PASSWORD_ARGUMENT/);
    assert.ok(!line.said.includes(PASSWORD));
  });

  test('in a pod: for the member of that pod, by what the pod is told', async () => {
    const pod = await makePod('db-0');
    const endpoint = serverOf('h-1').endpoint;
    await site.members.create({
      metadata: { name: 'db-0' },
      spec: { system: 'redis', endpoint: { ...endpoint }, pod: { name: 'db-0', uid: pod.uid } },
    });
    const env = {
      KUBECONFIG: pod.kubeconfig,
      POD_NAME: 'db-0',
      POD_NAMESPACE: NAMESPACE,
      NODE_NAME: 'w',
      NODE_ZONE: 'a',
    };
    const where = ['--endpoint', addressOf('h-1')];
    const stranger = site.start(where, { ...env, POD_UID: 'another' });
    const own = site.start(where, { ...env, POD_UID: pod.uid });
    const facts = await until('its report', async () => {
      const known = reportedFacts((await site.members.get('db-0')) as Member);
      return known.known ? known.value : undefined;
    });
    assert.deepEqual(facts.annotations, { host: 'w', zone: 'a' });
    assert.equal(facts.node, await nodeId(serverOf('h-1')));
    for (const agent of [stranger, own]) assert.equal(await agent.end('SIGTERM'), 0, agent.said);
  });

  test('a second agent of one member is refused on the same machine; a killed one is replaced at once', async () => {
    const second = site.startAgent('h-0');
    assert.equal(await second.end(), 3);
    assert.match(second.said, /AGENT_RUNNING/);
    await agents.get('h-0')?.end('SIGKILL');
    const holder = async () =>
      (await site.admin.resource(leases, NAMESPACE).get(leaseNameOf('h-0'))).spec?.holderIdentity;
    const before = await holder();
    agents.set('h-0', site.startAgent('h-0', '--annotate', 'zone=h-0'));
    const began = performance.now();
    await until('the new one holds the lease', async () => (await holder()) !== before);
    assert.ok(performance.now() - began < 20_000, 'without waiting for the lease of the dead one to run out');
    assert.equal(await agents.get('h-2')?.end('SIGTERM'), 0, agents.get('h-2')?.said);
  });

  test('an agent with an open order is revoked by force only: nobody could ask how that ends', async () => {
    // The agent of h-2 was stopped: nobody carries it out.
    const order = { id: 'o-1', verb: 'failover', attempt: 1, lease: 1, deadlineSeconds: 60, arguments: {} };
    await site.members.patch('h-2', { type: 'merge', value: { spec: { orders: [order] } } });
    const busy = await site.enroll('h-2', '--revoke', '--yes');
    assert.equal(busy.code, 3, busy.stderr);
    assert.match(busy.stderr, /h-2 has open orders: failover.*AGENT_BUSY/);
    assert.equal((await site.members.get('h-2')).spec.orders?.length, 1);
    assert.ok(await site.admin.resource(accounts, NAMESPACE).find('reeve-agent-h-2'), 'nothing was deleted');
    const forced = await site.enroll('h-2', '--revoke', '--force', '--yes');
    assert.equal(forced.code, 0, forced.stderr);
    assert.equal(await site.members.find('h-2'), undefined);
    assert.equal(await site.admin.resource(accounts, NAMESPACE).find('reeve-agent-h-2'), undefined);
  });

  test('a revoked agent is nobody; revoking again finds nothing', async () => {
    const { client } = await site.as('h-0');
    const unasked = await site.enroll('h-0', '--revoke');
    assert.equal(unasked.code, 3, unasked.stderr);
    assert.match(unasked.stdout, /ServiceAccount reeve-agent-h-0/);
    assert.ok(await site.members.find('h-0'), 'nothing was changed');
    const revoked = await site.enroll('h-0', '--revoke', '--yes');
    assert.equal(revoked.code, 0, revoked.stderr);
    assert.equal(await site.members.find('h-0'), undefined);
    assert.equal(await site.admin.resource(leases, NAMESPACE).find(leaseNameOf('h-0')), undefined);
    const read = client.resource(site.members.resource, NAMESPACE).get('h-0');
    await assert.rejects(read, (error) => isKubeError(error, 'KUBE_UNAUTHORIZED'));
    await until('its agent says so', () => /nauthorized/.test(agents.get('h-0')?.said ?? ''));
    const renewed = await site.enroll('h-0', '--renew', '--out', site.identity('h-0'));
    assert.match(renewed.stderr, /not enrolled/);
    const again = await site.enroll('h-0', '--revoke', '--yes');
    assert.deepEqual([again.code, again.stdout], [0, 'nothing is left of shop/h-0\n']);
  });
});
