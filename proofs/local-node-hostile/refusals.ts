/** What the Redis operator will not do is told where people look: by the API at once, or as a condition of the resource. */
import assert from 'node:assert/strict';
import { type RedisClusterStatus } from '@reeve/redis';
import { connect, keySlot, until } from '@reeve/rig';
import { endpointOf, PATIENCE_MS, type Site } from '../site/site.ts';

export interface Refusal {
  readonly name: string;
  run(site: Site): Promise<string>;
}

/** What the API says to it. */
async function refusedByApi(work: Promise<unknown>, reason: RegExp): Promise<string> {
  const told = await work.then(
    () => 'it was taken',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  assert.match(told, reason);
  return told;
}

type Condition = NonNullable<RedisClusterStatus['conditions']>[number];

async function condition(site: Site, name: string, holds: (condition: Condition) => boolean): Promise<string> {
  const found = await until(`a condition of ${name}`, async () => (await site.status(name)).conditions?.find(holds), {
    timeoutMs: PATIENCE_MS,
  });
  return `${found.type}=${found.status} ${found.reason}: ${found.message}`;
}

const SMALL = 'small';
const PRECIOUS = 'precious';
const smallSpec = { primaries: 3, replicasPerPrimary: 0, storage: { size: '1Gi' } };

export const refusals: readonly Refusal[] = [
  {
    name: 'too few primaries, too many nodes',
    async run(site) {
      const few = await refusedByApi(site.declare('few', { primaries: 2 }), /primaries.*greater than or equal to 3/);
      await refusedByApi(site.declare('many', { primaries: 500, replicasPerPrimary: 2 }), /at most 1000 nodes/);
      return few;
    },
  },
  {
    name: 'a directive that would be two lines',
    async run(site) {
      await site.declare('lines', { primaries: 3, config: { 'save ""\nport': '1' } });
      const told = await condition(site, 'lines', ({ type, status }) => type === 'Valid' && status === 'False');
      assert.match(told, /ConfigInvalid/);
      assert.deepEqual(await site.podsOf('lines'), [], 'nothing was started');
      await site.remove('lines');
      return told;
    },
  },
  {
    name: 'an image that nobody knows: pods wait, the cluster is not created, and says what is missing',
    async run(site) {
      await site.declare('strange', { primaries: 3, product: undefined, image: 'nginx:1.29' });
      const status = await until(
        'its pods wait',
        async () => {
          const now = await site.status('strange');
          const isTold = now.waitingFor?.some(({ reason }) => reason === 'ServersSilent');
          return now.phase === 'Pending' && isTold && now;
        },
        { timeoutMs: PATIENCE_MS },
      );
      await site.remove('strange');
      return JSON.stringify(status.waitingFor);
    },
  },
  {
    name: 'a server that is not empty is not taken for a new cluster',
    async run(site) {
      await site.declare(SMALL, { ...smallSpec, creation: 'manual' });
      await until('it proposes', async () => (await site.status(SMALL)).proposal?.kind === 'create', {
        timeoutMs: PATIENCE_MS,
      });
      // Nobody is to look while it owns a slot: that is a cluster, and would be mended.
      await site.declare(SMALL, { ...smallSpec, creation: 'manual', paused: true });
      await until('it is paused', async () => (await site.status(SMALL)).phase === 'Paused');
      const [pod] = await site.podsOf(SMALL);
      const server = await connect(endpointOf(pod?.status?.podIP ?? ''), await site.access(SMALL));
      const slot = keySlot(PRECIOUS);
      await server.call('CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
      await server.call('CLUSTER', 'ADDSLOTS', slot);
      await until('it takes writes', async () => (await server.call('SET', PRECIOUS, 'value')) === 'OK');
      await server.call('CLUSTER', 'DELSLOTS', slot);
      await site.declare(SMALL, { ...smallSpec, creation: 'manual', paused: false });
      const told = await condition(site, SMALL, ({ reason }) => reason === 'NodeNotEmpty');
      await server.call('FLUSHALL');
      await server.call('CLUSTER', 'RESET', 'HARD');
      server.close();
      return told;
    },
  },
  {
    name: 'storage that would change, a task that is two, a node that is not there',
    async run(site) {
      await site.declare(SMALL, { ...smallSpec, creation: 'automatic' });
      await site.settled(SMALL, 'it is created', ({ slots }) => slots === 16_384);
      const changed = site.declare(SMALL, { ...smallSpec, storage: { size: '2Gi' } });
      const storage = await refusedByApi(changed, /storage cannot be changed/);
      await refusedByApi(site.task('two', { cluster: SMALL, check: {}, fix: {} }), /exactly one of/);
      await site.task('nowhere', { cluster: SMALL, failover: { to: 'small-77' } });
      const { phase, code, message } = await site.taskEnded('nowhere');
      assert.deepEqual([phase, code], ['Failed', 'UNKNOWN_NODE']);
      return `${storage}; task: ${code}: ${message}`;
    },
  },
  {
    name: 'a cluster that would lose its data by being deleted keeps it',
    async run(site) {
      await site.declare('volatile', { primaries: 3, replicasPerPrimary: 0 });
      await site.settled('volatile', 'it is created', ({ slots }) => slots === 16_384);
      const removal = site.remove('volatile');
      removal.catch(() => undefined);
      const told = await site.eventOf('volatile', 'DataWouldBeLost');
      assert.equal((await site.podsOf('volatile')).length, 3);
      await site.declare('volatile', { primaries: 3, replicasPerPrimary: 0, deletionPolicy: 'Delete' });
      await removal;
      return told;
    },
  },
];
