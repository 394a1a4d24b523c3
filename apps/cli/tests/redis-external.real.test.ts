/** Bare Valkey servers with agents, and a RedisCluster with external members on `reeve up`, while clients write all the time. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type KubeObject, resource } from '@reeve/kube';
import { type RedisClusterStatus, redisClusters, type RedisTaskObject, redisTasks } from '@reeve/redis';
import { type Finished, invariants, REEVE, run, type Server, startServer, startTraffic, until } from '@reeve/rig';
import { AgentProcess, PASSWORD } from '../src/agent/site-testing.ts';
import { Machine } from '../src/up/plane-testing.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secrets = resource<Secret>({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });
const PATIENCE = { timeoutMs: 240_000 };
const NAMESPACE = 'default';
const NAME = 'cache';
const ZONES = ['a', 'b', 'c'];

class Site {
  readonly machine: Machine;
  readonly servers = new Map<string, Server>();
  readonly #agents = new Map<string, AgentProcess>();

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** Everything of this test that is no pod. */
  async end(): Promise<void> {
    for (const agent of this.#agents.values()) await agent.end('SIGKILL');
    for (const server of this.servers.values()) await server.stop();
  }

  async declare(spec: object): Promise<void> {
    const client = await this.machine.client();
    const data = { password: Buffer.from(PASSWORD).toString('base64') };
    const options = { fieldManager: 'test', force: true };
    await client.resource(secrets, NAMESPACE).apply({ metadata: { name: 'access' }, data } as never, options);
    await client.resource(redisClusters, NAMESPACE).apply({ metadata: { name: NAME }, spec } as never, options);
  }

  /** A server, its member, and its agent: as docs/adopt-redis.md tells it. */
  async add(name: string): Promise<void> {
    const server = await startServer({ product: 'valkey', password: PASSWORD });
    this.servers.set(name, server);
    const { host, port } = server.endpoint;
    const enrolled = await this.#reeve(
      ...['agent', 'enroll', name, '--cluster', NAME, '--endpoint', `${host}:${port}`],
      ...['--out', this.#identity(name), '--namespace', NAMESPACE],
      ...['--kubeconfig', join(this.machine.data, 'kubeconfig')],
    );
    assert.equal(enrolled.code, 0, enrolled.stderr);
    this.startAgent(name);
  }

  startAgent(name: string): void {
    const zone = ZONES[Number(name.split('-').at(-1)) % ZONES.length] ?? '';
    const where = ['--annotate', `zone=${zone}`, '--annotate', `host=${name}`];
    this.#agents.set(name, new AgentProcess(['--identity', this.#identity(name), ...where], {}));
  }

  async killAgent(name: string): Promise<void> {
    await this.#agents.get(name)?.end('SIGKILL');
  }

  get said(): string {
    return [...this.#agents].map(([name, { said }]) => `${name}: ${said}`).join('\n');
  }

  async status(): Promise<RedisClusterStatus> {
    const client = await this.machine.client();
    return (await client.resource(redisClusters, NAMESPACE).get(NAME)).status ?? {};
  }

  async until(what: string, holds: (status: RedisClusterStatus) => boolean): Promise<RedisClusterStatus> {
    let last: RedisClusterStatus = {};
    try {
      await until(
        what,
        async () => {
          last = await this.status();
          return holds(last);
        },
        { ...PATIENCE, everyMs: 250 },
      );
    } catch (error) {
      const seen = { ...last, conditions: last.conditions?.filter(({ status }) => status === 'True') };
      throw new Error(`${String(error)}\n${JSON.stringify(seen, undefined, 1)}\n${this.said}`, { cause: error });
    }
    return last;
  }

  async task(name: string, spec: object): Promise<void> {
    const client = await this.machine.client();
    const tasks = client.resource(redisTasks, NAMESPACE);
    await tasks.create({ metadata: { name }, spec: { cluster: NAME, ...spec } } as never);
    const ended = await until(
      `${name} has ended`,
      async () => {
        const { status } = (await tasks.get(name)) as RedisTaskObject;
        return /Succeeded|Failed/.test(status?.phase ?? '') && status;
      },
      { ...PATIENCE, everyMs: 250 },
    );
    assert.equal(ended.phase, 'Succeeded', JSON.stringify(ended));
  }

  endpoints(...without: readonly string[]) {
    return [...this.servers].filter(([name]) => !without.includes(name)).map(([, { endpoint }]) => endpoint);
  }

  #identity(name: string): string {
    return join(this.machine.data, '..', 'identities', name);
  }

  #reeve(...args: readonly string[]): Promise<Finished> {
    return run(process.execPath, [REEVE, ...args], { timeoutMs: 60_000 });
  }
}

const isRunning = ({ phase, currentOperation }: RedisClusterStatus) =>
  phase === 'Running' && currentOperation === undefined;
const conditionOf = ({ conditions = [] }: RedisClusterStatus, type: string) =>
  conditions.find((one) => one.type === type)?.status;
const slotsOf = ({ members = [] }: RedisClusterStatus, name: string) => members.find(({ pod }) => pod === name)?.slots;

function siteOf(t: TestContext): Site {
  const site = new Site(Machine.start(t));
  t.after(() => site.end());
  return site;
}

test('external members under traffic: created, an agent lost and back, the control plane killed, a node added and deleted', async (t) => {
  const site = siteOf(t);
  await site.machine.up();
  const access = { passwordSecret: { name: 'access', key: 'password' } };
  await site.declare({ members: 'external', access, primaries: 3, replicasPerPrimary: 1, migration: { pace: 'fast' } });
  for (let at = 1; at <= 6; at++) await site.add(`h-${at}`);
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
    site.startAgent('h-2');
    await site.until('it is back', (status) => conditionOf(status, 'AgentLost') === 'False');
  });

  await t.test('a node is added as a primary and gets its share, while the control plane dies', async () => {
    await site.add('h-7');
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
