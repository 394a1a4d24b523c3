/** What the command line refuses (apps/cli/src/bad-input.real.test.ts), of a cluster that is declared: a condition with its cause, and an event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOfKey } from '@reeve/simulation/redis';
import { APPROVE, type RedisClusterStatus } from '../../src/api/cluster.ts';
import { ExternalWorld } from './external-world.ts';
import type { OperatorWorld } from './world.ts';

type Condition = NonNullable<RedisClusterStatus['conditions']>[number];

interface Case {
  readonly what: string;
  /** Brings it about in a cluster of six external members, `h-1` … `h-6`, that is paused and was never created. */
  readonly begin: (world: ExternalWorld) => Promise<unknown>;
  /** Is it to be a cluster first? */
  readonly isCreated?: boolean;
  readonly spec?: object;
  readonly condition: Pick<Condition, 'type' | 'status' | 'reason'>;
  readonly says: RegExp;
  /** Of the event. */
  readonly event: string;
}

const tell = ({ operator }: ExternalWorld, address: string, ...args: string[]) => operator.model.execute(address, args);

const THIRD = '10.1.0.3:7000';

/** In a slot that its server owns then. */
async function holdKey(world: ExternalWorld): Promise<string> {
  const slot = String(slotOfKey('precious'));
  tell(world, THIRD, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
  tell(world, THIRD, 'CLUSTER', 'ADDSLOTS', slot);
  await world.operator.pass(5_000);
  tell(world, THIRD, 'SET', 'precious', 'value');
  return slot;
}

const cases: readonly Case[] = [
  {
    what: 'a server of a version that is too old',
    begin: async (world) => {
      world.operator.disguised = (reply) => reply.replace('valkey_version:9.1.2', 'valkey_version:7.2.5');
    },
    condition: { type: 'Refused', status: 'True', reason: 'UnsupportedVersion' },
    says: /is valkey 7\.2\.5; supported are/,
    event: 'UnsupportedVersion',
  },
  {
    what: 'a server of another cluster',
    begin: async (world) => {
      world.operator.model.addServer({ host: '10.9.0.1', port: 7000 });
      tell(world, THIRD, 'CLUSTER', 'MEET', '10.9.0.1', '7000');
      await world.operator.pass(5_000);
    },
    condition: { type: 'Refused', status: 'True', reason: 'NodeOfOtherCluster' },
    says: /10\.1\.0\.3:7000\)? belongs to a cluster already, with .*10\.9\.0\.1:7000/,
    event: 'NodeOfOtherCluster',
  },
  {
    what: 'a wrong password',
    begin: async ({ operator }) => {
      operator.kubelet.passwordAt = (address) => (address.startsWith('10.1.') ? 'secret' : undefined);
    },
    condition: { type: 'ServersSilent', status: 'True', reason: 'RedisAuth' },
    says: /the servers of h-1, h-2, .* did not let us in/,
    event: 'ServersSilent',
  },
  {
    what: 'a server that is not empty',
    begin: async (world) => {
      const slot = await holdKey(world);
      tell(world, THIRD, 'CLUSTER', 'DELSLOTS', slot);
    },
    condition: { type: 'Refused', status: 'True', reason: 'NodeNotEmpty' },
    says: /member h-3 is not empty: it holds keys \(1 in database 0\)/,
    event: 'NodeNotEmpty',
  },
  {
    what: 'two clusters that do not know each other',
    begin: async (world) => {
      tell(world, '10.1.0.1:7000', 'CLUSTER', 'MEET', '10.1.0.2', '7000');
      tell(world, '10.1.0.1:7000', 'CLUSTER', 'ADDSLOTS', '0');
      await holdKey(world);
    },
    condition: { type: 'SplitCluster', status: 'True', reason: 'Broken' },
    says: /10\.1\.0\.3:7000\): this node does not know the rest/,
    event: 'SplitCluster',
  },
  {
    what: 'a primary that nobody reaches, and all of its replicas',
    isCreated: true,
    begin: async (world) => {
      const members = world.operator.status('c').members ?? [];
      const primary = members.find(({ role }) => role === 'primary')?.pod ?? '';
      for (const { pod, of } of members) if (pod === primary || of === primary) world.killServer(pod);
    },
    condition: { type: 'Refused', status: 'True', reason: 'PrimariesUnreachable' },
    says: /10\.1\.0\.\d:7000/,
    event: 'PrimariesUnreachable',
  },
  {
    what: 'an approval of another plan',
    isCreated: true,
    spec: { fix: 'approve' },
    begin: async (world) => {
      const { operator } = world;
      const ownerOf = (slot: number) => world.servers.find((server) => server.ownerOf(slot) === server.self);
      tell(world, ownerOf(0)?.endpoint ?? '', 'CLUSTER', 'SETSLOT', '0', 'MIGRATING', ownerOf(16_383)?.id ?? '');
      await operator.until('it asks a person', () => operator.status('c').proposal !== undefined);
      await operator.patch('c', { metadata: { annotations: { [APPROVE]: 'v1-of-yesterday' } } });
    },
    condition: { type: 'Refused', status: 'True', reason: 'PlanStale' },
    says: /fix: .*what was approved \(v1-of-yesterday\) is not the plan of now \(v1-[0-9a-f]+\).* approve that one/,
    event: 'PlanStale',
  },
];

const condition = (world: OperatorWorld, name: string) =>
  world.status('c').conditions?.find(({ type }) => type === name);

for (const { what, begin, isCreated, spec, condition: expected, says, event } of cases) {
  test(`${what}: a condition with the cause, and one event`, async (t) => {
    const world = await ExternalWorld.start(t);
    const { operator } = world;
    await operator.create('c', { members: 'external', paused: !isCreated, ...spec });
    await world.enrollAll('c', 6);
    if (isCreated) await operator.until('the cluster runs', () => operator.status('c').phase === 'Running');
    await begin(world);
    if (!isCreated) await operator.patch('c', { spec: { paused: false } });
    await operator.until('it is said', () => condition(operator, expected.type)?.status === expected.status);
    await operator.stopManager();
    operator.startManager();
    await operator.pass(60_000);
    const { type, status, reason, message } = condition(operator, expected.type) as Condition;
    assert.deepEqual({ type, status, reason }, expected);
    assert.match(message, says);
    const told = (await operator.events()).filter((one) => one.reason === event);
    assert.deepEqual(
      told.map((one) => [one.type, one.regarding.name]),
      [['Warning', 'c']],
    );
    assert.match(told[0]?.note ?? '', says);
  });
}

test('a configuration that no server could read: a condition with the cause, and one event', async (t) => {
  const { operator } = await ExternalWorld.start(t);
  await operator.create('c', { config: { 'Port 7000': '7000' } });
  await operator.pass(60_000);
  const { status, reason, message } = condition(operator, 'Valid') as Condition;
  assert.deepEqual([status, reason], ['False', 'ConfigInvalid']);
  const told = (await operator.events()).filter((one) => one.reason === 'ConfigInvalid');
  assert.deepEqual(
    told.map(({ note }) => note),
    [message],
  );
});

const newcomers: readonly {
  readonly what: string;
  readonly begin: Case['begin'];
  readonly reason: string;
  readonly says: RegExp;
}[] = [
  {
    what: 'that owns a slot',
    begin: async (world) => tell(world, '10.1.0.7:7000', 'CLUSTER', 'ADDSLOTS', '0'),
    reason: 'NodeHasSlots',
    says: /owns 1 slots/,
  },
  {
    what: 'of another cluster',
    begin: async (world) => {
      world.operator.model.addServer({ host: '10.9.0.1', port: 7000 });
      tell(world, '10.1.0.7:7000', 'CLUSTER', 'MEET', '10.9.0.1', '7000');
    },
    reason: 'NodeOfOtherCluster',
    says: /knows 1 nodes that nobody of this cluster knows/,
  },
];

for (const { what, begin, reason, says } of newcomers) {
  test(`a task that adds a node ${what} fails with the cause, and nobody joins`, async (t) => {
    const world = await ExternalWorld.start(t);
    const { operator } = world;
    await operator.create('c', { members: 'external' });
    await world.enrollAll('c', 6);
    await operator.until('the cluster runs', () => operator.status('c').phase === 'Running');
    await world.enroll('c', 'h-7');
    await begin(world);
    await operator.pass(10_000);
    await operator.task('in', { cluster: 'c', addNode: { member: 'h-7' } });
    await operator.until('it ended', () => operator.taskStatus('in')?.phase === 'Failed');
    const failed = operator.taskStatus('in')?.conditions?.find(({ type }) => type === 'Failed');
    assert.deepEqual([failed?.status, failed?.reason], ['True', reason]);
    assert.match(failed?.message ?? '', says);
    const told = (await operator.events()).filter((one) => one.reason === 'TaskFailed');
    assert.deepEqual(told.map((one) => one.regarding.name).sort(), ['c', 'in']);
    await operator.pass(30_000);
    assert.deepEqual(
      (operator.status('c').operations ?? []).map(({ kind }) => kind),
      ['create'],
    );
  });
}
