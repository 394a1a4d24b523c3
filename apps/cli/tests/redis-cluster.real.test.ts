/** A declared Valkey cluster on `reeve up`, with clients that write all the time: it comes up, heals, grows, shrinks, and loses nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, readBody, resource } from '@reeve/kube';
import { type Pod, pods } from '@reeve/local-node';
import { type RedisClusterStatus, redisClusters } from '@reeve/redis';
import { invariants, startTraffic, until } from '@reeve/rig';
import { Machine, readOr } from '../src/up/plane-testing.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secrets = resource<Secret>({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });
const PATIENCE = { timeoutMs: 240_000 };
const NAME = 'cache';

class Site {
  readonly machine: Machine;

  constructor(machine: Machine) {
    this.machine = machine;
  }

  async declare(spec: object): Promise<void> {
    const client = await this.machine.client();
    await client
      .resource(redisClusters, 'default')
      .apply({ metadata: { name: NAME }, spec } as never, { fieldManager: 'test', force: true });
  }

  async status(): Promise<RedisClusterStatus> {
    const client = await this.machine.client();
    return (await client.resource(redisClusters, 'default').get(NAME)).status ?? {};
  }

  /** A pod that has just been made anew may be news to its cluster, whose status then still tells of before. */
  async #arePodsReady(): Promise<boolean> {
    return (await this.pods()).every(
      ({ status }) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false,
    );
  }

  /** Until it runs, and is what is asked for. */
  async until(what: string, holds: (status: RedisClusterStatus) => boolean): Promise<RedisClusterStatus> {
    let last: RedisClusterStatus = {};
    try {
      await until(
        what,
        async () => {
          if (!(await this.#arePodsReady())) return false;
          last = await this.status();
          return last.phase === 'Running' && last.currentOperation === undefined && holds(last);
        },
        PATIENCE,
      );
    } catch (error) {
      const seen = {
        ...last,
        members: undefined,
        conditions: last.conditions?.filter(({ status }) => status === 'True'),
      };
      throw new Error(`${String(error)}\n${JSON.stringify(seen, undefined, 1)}`, { cause: error });
    }
    return last;
  }

  async metrics(): Promise<string> {
    const { transport } = await this.machine.connection();
    const { status, body } = await transport({ method: 'GET', path: '/metrics' });
    assert.equal(status, 200);
    return (await readBody(body, 1 << 22)).toString();
  }

  async pods(): Promise<readonly Pod[]> {
    const client = await this.machine.client();
    return (await client.resource(pods, 'default').list()).items;
  }

  async endpoints() {
    return (await this.pods()).map(({ status }) => ({ host: status?.podIP ?? '', port: 6379 }));
  }

  async password(): Promise<string> {
    const client = await this.machine.client();
    const { data } = await client.resource(secrets, 'default').get(`${NAME}-auth`);
    return Buffer.from(data?.password ?? '', 'base64').toString();
  }

  /** The servers' own processes. */
  servers(): readonly number[] {
    return this.machine.processes().filter((pid) => readOr(`/proc/${pid}/comm`).startsWith('valkey-server'));
  }
}

/** What was done, newest last, for the table of a run. */
function told({ operations = [] }: RedisClusterStatus): string {
  const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1_000;
  return operations
    .map(
      ({ kind, outcome, startedAt, endedAt }) =>
        `${startedAt.slice(11, 19)} ${kind} ${outcome} ${seconds(startedAt, endedAt)} s`,
    )
    .reverse()
    .join('; ');
}

const three = {
  primaries: 3,
  replicasPerPrimary: 1,
  storage: { size: '1Gi' },
  config: { 'cluster-node-timeout': '3000' },
};

test('a declared cluster under traffic: killed, deleted, taken over, grown, shrunk, configured anew; nothing acknowledged is lost', async (t) => {
  const machine = Machine.start(t);
  const site = new Site(machine);
  await machine.up();
  await site.declare(three);
  const created = await site.until('it is created', ({ slots }) => slots === 16_384);
  assert.equal(created.primaries, 3);
  assert.equal(created.replicas, 3);
  const zones = new Map((await site.pods()).map(({ metadata, spec }) => [metadata.name, spec?.nodeName]));
  for (const { pod, of } of created.members ?? []) {
    if (of !== undefined) assert.notEqual(zones.get(pod), zones.get(of), `${pod} and its primary ${of} share a node`);
  }
  assert.match(await site.metrics(), /^reeve_redis_slots_served\{namespace="default",cluster="cache"\} 16384$/m);
  const password = await site.password();
  assert.equal(
    site.servers().some((pid) => readOr(`/proc/${pid}/cmdline`).includes(password)),
    false,
    'no password is in an argument list',
  );
  const access = { password };
  const traffic = await startTraffic(await site.endpoints(), { access, keys: 500, patienceMs: 60_000 });
  t.after(() => traffic.abandon());
  const isWhole = ({ primaries, replicas, slots }: RedisClusterStatus) =>
    primaries === 3 && replicas === 3 && slots === 16_384;

  await t.test('a server that is killed comes back', async () => {
    const [victim] = site.servers();
    process.kill(victim as number, 'SIGKILL');
    await until(
      'another process has its place',
      () => Promise.resolve(site.servers().length === 6 && !site.servers().includes(victim as number)),
      PATIENCE,
    );
    await site.until('it is whole', isWhole);
  });

  await t.test('a pod that is deleted comes back elsewhere as the same node', async () => {
    const before = await site.status();
    const primary = before.members?.find(({ role }) => role === 'primary');
    const client = await machine.client();
    const old = (await client.resource(pods, 'default').get(primary?.pod ?? '')).metadata.uid;
    await client.resource(pods, 'default').delete(primary?.pod ?? '');
    await until(
      'there is another pod',
      async () => (await client.resource(pods, 'default').find(primary?.pod ?? ''))?.metadata.uid !== old,
      PATIENCE,
    );
    // Its status may still be that of before.
    await until('its server runs', () => Promise.resolve(site.servers().length === 6), PATIENCE);
    const after = await site.until('it is whole', isWhole);
    assert.ok(after.members?.some(({ id, pod }) => id === primary?.id && pod === primary?.pod));
  });

  await t.test('the control plane is killed: the servers do not notice, and the next one goes on', async () => {
    const before = site.servers();
    await machine.down('SIGKILL');
    assert.deepEqual(site.servers(), before);
    await machine.up();
    await site.until('it is whole', isWhole);
    assert.deepEqual(site.servers(), before);
  });

  await t.test('it grows, also while its control plane dies, and shrinks', async () => {
    await site.declare({ ...three, primaries: 4, migration: { pace: 'fast' } });
    await until('something has begun', async () => (await site.status()).currentOperation !== undefined, PATIENCE);
    await machine.down('SIGKILL');
    await machine.up();
    const grown = await site.until('it has grown', ({ members = [], replicas }) => {
      const owners = members.filter(({ slots }) => slots !== undefined);
      return owners.length === 4 && replicas === 4;
    });
    t.diagnostic(told(grown));
    assert.equal(grown.slots, 16_384);
    await site.declare({ ...three, migration: { pace: 'fast' } });
    t.diagnostic(told(await site.until('it has shrunk', isWhole)));
    await until('the pods are gone', async () => (await site.pods()).length === 6, PATIENCE);
  });

  await t.test('a new configuration reaches all servers', async () => {
    const before = new Set(site.servers());
    await site.declare({
      ...three,
      config: { ...three.config, 'maxmemory-policy': 'noeviction', 'slowlog-max-len': '64' },
    });
    await until(
      'every server was started anew',
      () => Promise.resolve(site.servers().length === 6 && site.servers().every((pid) => !before.has(pid))),
      PATIENCE,
    );
    await site.until('it is whole', isWhole);
    // Its status may be of the moment before the last one went.
    const broken = async () => invariants(await site.endpoints(), { replicasPerPrimary: 1, access });
    await until('all know where the last one is', async () => (await broken()).length === 0, PATIENCE);
  });

  // The last server has only just begun, and the status is that of a look before.
  const wellFormed = { replicasPerPrimary: 1, access };
  await until('all is well', async () => (await invariants(await site.endpoints(), wellFormed)).length === 0, PATIENCE);
  const { acknowledged, writes, errors } = await traffic.stop();
  assert.ok(writes > 1_000, `${writes} writes`);
  assert.deepEqual(errors, []);
  assert.deepEqual(await invariants(await site.endpoints(), { ...wellFormed, acknowledged }), []);
});
