/** A declared Redis cluster with TLS and users, on `reeve up`, under traffic: certificates renewed, backed up, restored elsewhere, upgraded. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type KubeObject, resource } from '@reeve/kube';
import { pods } from '@reeve/local-node';
import { presentedCertificate, redisClusters, redisTasks, type RedisClusterStatus } from '@reeve/redis';
import { type Access, connect, type Endpoint, invariants, RedirectingClient, startTraffic, until } from '@reeve/rig';
import { Machine, readOr } from '../src/up/plane-testing.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secrets = resource<Secret>({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });
const NAMESPACE = 'default';
const PATIENCE = { timeoutMs: 180_000 };
const APP_PASSWORD = 'secret-of-the-app';
const ENDS = String(Date.parse('2040-01-01T00:00:00Z'));

class Site {
  readonly machine: Machine;

  constructor(machine: Machine) {
    this.machine = machine;
  }

  async declare(name: string, spec: object): Promise<void> {
    const client = await this.machine.client();
    await client
      .resource(redisClusters, NAMESPACE)
      .apply({ metadata: { name }, spec } as never, { fieldManager: 'test', force: true });
  }

  async running(name: string, holds: (status: RedisClusterStatus) => boolean = () => true): Promise<void> {
    const client = await this.machine.client();
    let last: RedisClusterStatus = {};
    const isRunning = async () => {
      last = (await client.resource(redisClusters, NAMESPACE).get(name)).status ?? {};
      return last.phase === 'Running' && last.currentOperation === undefined && last.slots === 16_384 && holds(last);
    };
    await until(`${name} runs`, isRunning, PATIENCE).catch((error: unknown) => {
      const seen = {
        ...last,
        members: undefined,
        conditions: last.conditions?.filter(({ status }) => status === 'True'),
      };
      throw new Error(`${String(error)}\n${JSON.stringify(seen, undefined, 1)}`, { cause: error });
    });
  }

  /** Until it has ended, and well; gives what it says. */
  async task(name: string, spec: object): Promise<string> {
    const client = await this.machine.client();
    await client.resource(redisTasks, NAMESPACE).create({ metadata: { name }, spec } as never);
    const status = await until(
      `task ${name} ends`,
      async () => {
        const seen = (await client.resource(redisTasks, NAMESPACE).get(name)).status;
        return seen?.phase === 'Succeeded' || seen?.phase === 'Failed' ? seen : undefined;
      },
      PATIENCE,
    );
    return status.phase === 'Succeeded' ? (status.message ?? '') : `${status.code}: ${status.message}`;
  }

  async secret(name: string): Promise<Readonly<Record<string, string>>> {
    const client = await this.machine.client();
    const { data = {} } = await client.resource(secrets, NAMESPACE).get(name);
    const texts = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
    return Object.fromEntries(texts) as Readonly<Record<string, string>>;
  }

  async endpoints(cluster: string): Promise<readonly Endpoint[]> {
    const client = await this.machine.client();
    const { items } = await client
      .resource(pods, NAMESPACE)
      .list({ labelSelector: `redis.reeve.dev/cluster=${cluster}` });
    return items.map(({ status }) => ({ host: status?.podIP ?? '', port: 6379 }));
  }

  async access(cluster: string, user?: { readonly username: string; readonly password: string }): Promise<Access> {
    const { 'ca.crt': ca = '', 'tls.crt': cert = '', 'tls.key': key = '' } = await this.secret(`${cluster}-tls`);
    const { password = '' } = await this.secret(`${cluster}-auth`);
    return { ...(user ?? { password }), tls: { ca, cert, key } };
  }

  servers(): readonly number[] {
    return this.machine.processes().filter((pid) => readOr(`/proc/${pid}/comm`).startsWith('redis-server'));
  }
}

const secure = {
  product: 'redis',
  primaries: 3,
  replicasPerPrimary: 1,
  storage: { size: '1Gi' },
  config: { 'cluster-node-timeout': '3000' },
  tls: { mode: 'selfSigned' },
  auth: { users: [{ name: 'app', rules: '~* &* +@all', passwordSecret: { name: 'app', key: 'password' } }] },
};

/** One of each kind. */
const VALUES: readonly (readonly [string, ...string[]])[] = [
  ['SET', 'kept:text', 'text', 'PXAT', ENDS],
  ['RPUSH', 'kept:list', ...Array.from({ length: 500 }, (_, index) => `item ${index}`)],
  ['ZADD', 'kept:scores', '1.5', 'a', '2.5', 'b'],
  ['XADD', 'kept:stream', '1-1', 'field', 'value'],
  ['SETBIT', 'kept:bits', '4000', '1'],
  ['PEXPIREAT', 'kept:scores', ENDS],
];

async function about(client: RedirectingClient): Promise<readonly unknown[]> {
  const keys = [...new Set(VALUES.map(([, key = '']) => key))];
  const asked = keys.map(async (key) => [
    key,
    await client.command(key, ['DUMP', key]),
    await client.command(key, ['PEXPIRETIME', key]),
  ]);
  return Promise.all(asked);
}

async function begin(t: TestContext): Promise<Site> {
  const machine = Machine.start(t);
  const site = new Site(machine);
  await machine.up();
  const client = await machine.client();
  const data = { password: Buffer.from(APP_PASSWORD).toString('base64') };
  await client.resource(secrets, NAMESPACE).create({ metadata: { name: 'app' }, data } as never);
  await site.declare('secure', secure);
  await site.running('secure');
  return site;
}

const sequenceOf = (value: unknown): number => (typeof value === 'string' ? Number.parseInt(value, 10) : 0);

test('a cluster of Redis with TLS and users, under traffic: renewed, backed up, restored, upgraded; nothing acknowledged is lost', async (t) => {
  const site = await begin(t);
  const access = await site.access('secure', { username: 'app', password: APP_PASSWORD });
  const traffic = await startTraffic(await site.endpoints('secure'), { access, keys: 500, patienceMs: 60_000 });
  t.after(() => traffic.abandon());
  const client = new RedirectingClient(await site.endpoints('secure'), access, 30_000);
  t.after(() => client.close());
  for (const words of VALUES) await client.command(words[1] ?? '', words);

  await t.test('servers speak TLS only, and no secret is in an argument list', async () => {
    const [endpoint] = await site.endpoints('secure');
    await assert.rejects(
      connect(endpoint as Endpoint, { username: 'app', password: APP_PASSWORD, connectTimeoutMs: 3_000 }),
    );
    const { password = '' } = await site.secret('secure-auth');
    const api = await site.machine.client();
    const declared = JSON.stringify((await api.resource(pods, NAMESPACE).list()).items);
    assert.ok(declared.includes('"--tls-port"'));
    const lines = site.servers().map((pid) => readOr(`/proc/${pid}/cmdline`));
    assert.equal(lines.length, 6);
    for (const text of [declared, ...lines]) assert.ok(!text.includes(password) && !text.includes('PRIVATE KEY'));
    assert.ok(!('ca.key' in (await site.secret('secure-tls'))), 'the authority’s key is in no pod');
  });

  await t.test('a new certificate reaches every server without a restart', async () => {
    const before = site.servers();
    const { 'ca.crt': ca = '', 'tls.crt': old = '', 'tls.key': key = '' } = await site.secret('secure-tls');
    const shown = async () => {
      const at = { ca, cert: old, key, servername: 'secure.default.svc' };
      return new Set(await Promise.all((await site.endpoints('secure')).map((each) => presentedCertificate(each, at))));
    };
    const [first] = await shown();
    const api = await site.machine.client();
    await api.resource(secrets, NAMESPACE).delete('secure-tls');
    await until(
      'all show another one',
      async () => {
        const now = await shown();
        return now.size === 1 && !now.has(first) && !now.has(undefined);
      },
      PATIENCE,
    );
    assert.deepEqual(site.servers(), before, 'the same processes');
    assert.equal((await site.secret('secure-tls'))['ca.crt'], ca, 'of the same authority');
  });

  await t.test('a backup under traffic is restored into a new cluster of another size', async () => {
    const acknowledged = new Map(traffic.acknowledged);
    assert.ok(acknowledged.size > 100);
    const saved = await site.task('save', { cluster: 'secure', backup: {} });
    assert.match(saved, /^3 shards, \d+ keys/);
    t.diagnostic(saved);
    const manifest = readFileSync(join(site.machine.data, 'backups/default/secure/save/manifest.json'), 'utf8');
    assert.ok(!manifest.includes(APP_PASSWORD) && manifest.includes('"app"'));
    await site.declare('copy', { ...secure, primaries: 4, replicasPerPrimary: 0, auth: undefined });
    await site.running('copy');
    t.diagnostic(await site.task('load', { cluster: 'copy', restore: { cluster: 'secure', name: 'save' } }));
    const there = new RedirectingClient(await site.endpoints('copy'), await site.access('copy'), 30_000);
    t.after(() => there.close());
    assert.deepEqual(await about(there), await about(client));
    for (const [key, value] of acknowledged) {
      const restored = sequenceOf(await there.command(key, ['GET', key]));
      assert.ok(
        restored >= sequenceOf(value),
        `${key}: ${restored} is older than what was acknowledged before the backup`,
      );
      const newest = sequenceOf(traffic.acknowledged.get(key));
      assert.ok(restored <= newest, `${key}: ${restored} was never acknowledged`);
    }
    assert.deepEqual(await invariants(await site.endpoints('copy'), { access: await site.access('copy') }), []);
    assert.match(
      await site.task('load-again', { cluster: 'copy', restore: { cluster: 'secure', name: 'save' } }),
      /^RESTORE_NOT_EMPTY/,
    );
  });

  await t.test('an upgrade goes through all pods while clients write', async () => {
    const api = await site.machine.client();
    await api.resource(redisClusters, NAMESPACE).patch('copy', {
      type: 'merge',
      value: { spec: { paused: true } },
    });
    const before = new Set((await site.endpoints('secure')).map(({ host }) => host));
    assert.match(await site.task('back', { cluster: 'secure', upgrade: { version: '6.2' } }), /^UPGRADE_OLDER/);
    // The catalog has one version of Redis: its exact tag makes all pods outdated as another one would.
    assert.equal(
      await site.task('up', { cluster: 'secure', upgrade: { version: '7.0.15' } }),
      '6 pods run redis:7.0.15',
    );
    await site.running('secure', ({ primaries, replicas }) => primaries === 3 && replicas === 3);
    assert.ok(
      (await site.endpoints('secure')).every(({ host }) => !before.has(host)),
      'every pod is another',
    );
  });

  const { acknowledged, writes, errors } = await traffic.stop();
  assert.ok(writes > 1_000, `${writes} writes`);
  assert.deepEqual(errors, []);
  const expected = { replicasPerPrimary: 1, acknowledged, access };
  assert.deepEqual(await invariants(await site.endpoints('secure'), expected), []);
});
