/** Bare Valkey servers with agents, and a RedisCluster with external members on `reeve up`, while clients write all the time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisClusterStatus } from '@reeve/redis';
import { invariants, startServer, startTraffic } from '@reeve/rig';
import { PASSWORD } from '../src/agent/site-testing.ts';
import { ExternalSite, isRunning } from './external-site.ts';

const ZONES = ['a', 'b', 'c'];

const conditionOf = ({ conditions = [] }: RedisClusterStatus, type: string) =>
  conditions.find((one) => one.type === type)?.status;
const slotsOf = ({ members = [] }: RedisClusterStatus, name: string) => members.find(({ pod }) => pod === name)?.slots;

/** A new server, its member, and its agent. */
async function add(site: ExternalSite, name: string): Promise<void> {
  await site.enroll(name, await startServer({ product: 'valkey', password: PASSWORD }));
  startAgent(site, name);
}

function startAgent(site: ExternalSite, name: string): void {
  const zone = ZONES[Number(name.split('-').at(-1)) % ZONES.length] ?? '';
  site.startAgent(name, '--annotate', `zone=${zone}`, '--annotate', `host=${name}`);
}

test('external members under traffic: created, an agent lost and back, the control plane killed, a node added and deleted', async (t) => {
  const site = ExternalSite.of(t);
  await site.machine.up();
  const access = { passwordSecret: { name: 'access', key: 'password' } };
  await site.declare({ members: 'external', access, primaries: 3, replicasPerPrimary: 1, migration: { pace: 'fast' } });
  for (let at = 1; at <= 6; at++) await add(site, `h-${at}`);
  const created = await site.until('it is created', (status) => isRunning(status) && status.slots === 16_384);
  assert.deepEqual([created.primaries, created.replicas], [3, 3]);
  const zone = (name: string) => Number(name.split('-').at(-1)) % ZONES.length;
  for (const { pod, of } of created.members ?? []) {
    if (of !== undefined) assert.notEqual(zone(pod), zone(of), `${pod} shares its zone with its primary ${of}`);
  }
  const traffic = await startTraffic(site.endpoints(), {
    access: { password: PASSWORD },
    keys: 500,
    patienceMs: 60_000,
  });
  t.after(() => traffic.abandon());

  await t.test('an agent that is killed is lost, its server is not; started again it is back', async () => {
    await site.killAgent('h-2');
    const lost = await site.until('it is lost', (status) => conditionOf(status, 'AgentLost') === 'True');
    assert.equal(lost.phase, 'Running');
    startAgent(site, 'h-2');
    await site.until('it is back', (status) => conditionOf(status, 'AgentLost') === 'False');
  });

  await t.test('a node is added as a primary and gets its share, while the control plane dies', async () => {
    await add(site, 'h-7');
    await site.task('in', { addNode: { member: 'h-7', as: 'primary' } });
    const kinds = ({ currentOperation, operations = [] }: RedisClusterStatus) =>
      [currentOperation, ...operations].map((operation) => operation?.kind);
    await site.until('slots begin to move', (status) => kinds(status).includes('rebalance'));
    await site.machine.down('SIGKILL');
    await site.machine.up();
    const grown = await site.until(
      'it has its share',
      (status) =>
        status.currentOperation === undefined &&
        slotsOf(status, 'h-7') !== undefined &&
        status.operations?.some(({ kind, outcome }) => kind === 'rebalance' && outcome === 'done') === true,
    );
    assert.deepEqual([grown.primaries, grown.slots], [4, 16_384]);
  });

  await t.test('it is deleted again: its slots move to the others, and all forget it', async () => {
    await site.task('out', { deleteNode: { node: 'h-7' } });
    const shrunk = await site.until('it is out', (status) => isRunning(status) && status.members?.length === 6);
    assert.deepEqual([shrunk.primaries, shrunk.slots], [3, 16_384]);
  });

  const { acknowledged, writes, errors } = await traffic.stop();
  assert.ok(writes > 1_000, `${writes} writes`);
  assert.deepEqual(errors, []);
  const oracle = { replicasPerPrimary: 1, acknowledged, access: { password: PASSWORD } };
  assert.deepEqual(await invariants(site.endpoints('h-7'), oracle), []);
  const { operations = [] } = await site.status();
  t.diagnostic(
    operations
      .map(({ kind, outcome }) => `${kind} ${outcome}`)
      .reverse()
      .join('; '),
  );
  assert.ok(!site.said.includes(PASSWORD), 'no password is in what agents say');
});
