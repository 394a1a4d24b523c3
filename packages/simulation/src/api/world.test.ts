import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, KubeClient, resource } from '@reeve/kube';
import {
  enumerateCrashes,
  type Incarnation,
  oneAccident,
  type RunOptions,
  runSeeds,
  type Scenario,
  simulate,
  type WorldEvent,
} from '../index.ts';
import { type ApiObject, ApiWorld, type ApiWrite, simulatedTransport, snapshotOf } from './index.ts';

const configMaps = resource<AnyObject>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});
const snapshot = snapshotOf({ namespaces: ['ns'] });

type Maps = ReturnType<typeof mapsOf>;

function mapsOf(api: ApiWorld, life: Incarnation) {
  const { clock, random } = life.ports;
  const client = new KubeClient({ clock, random, transport: simulatedTransport(api, life) });
  return client.resource(configMaps, 'ns');
}

interface Around {
  readonly events?: (api: ApiWorld) => readonly WorldEvent[];
  readonly onWrite?: (write: ApiWrite) => void;
  readonly atEnd?: (api: ApiWorld) => void;
}

/** One process that talks to the server, and what happens around it. */
function scenario(
  program: (maps: Maps, life: Incarnation, api: ApiWorld) => Promise<void>,
  around: Around = {},
): Scenario {
  return {
    name: 'api',
    effects: 20,
    async build(simulation) {
      const api = await ApiWorld.open({
        clock: simulation.environment.ports.clock,
        random: simulation.random(),
        snapshot: await snapshot,
        follow: ['configmaps'],
        ...(around.onWrite && { onWrite: around.onWrite }),
        onError: (error) => simulation.fail('SERVER', String(error)),
      });
      return {
        processes: [{ name: 'client', run: (life) => program(mapsOf(api, life), life, api) }],
        events: () => around.events?.(api) ?? [],
        atEnd: () => around.atEnd?.(api),
      };
    },
  };
}

async function ok(run: Scenario, options: RunOptions = { choices: [] }): Promise<void> {
  const { failure, trace } = await simulate(run, options);
  assert.equal(failure, undefined, trace.join('\n'));
}

const map = (name: string): AnyObject => ({ metadata: { name } });

test('a request that is lost has happened or not, and the caller cannot tell', async () => {
  for (const [accident, isThere] of [
    ['fail-before', false],
    ['fail-after', true],
  ] as const) {
    const run = scenario(
      async (maps) => {
        await assert.rejects(maps.create(map('a')));
      },
      { atEnd: (api) => assert.equal(api.find('configmaps', 'ns', 'a') !== undefined, isThere, accident) },
    );
    await ok(run, { source: oneAccident(accident, 1, { label: 'create configmaps' }) });
  }
});

test('a crash around every contact: what was written before is there, once', async () => {
  const run = scenario(
    async (maps) => {
      for (const name of ['a', 'b', 'c']) if (!(await maps.find(name))) await maps.create(map(name));
    },
    {
      atEnd: (api) => {
        const names = api.list<ApiObject>('configmaps').map(({ metadata }) => metadata.name);
        assert.deepEqual(names, ['a', 'b', 'c']);
      },
    },
  );
  const { runs, failures } = await enumerateCrashes(run);
  assert.deepEqual(failures, []);
  assert.equal(runs, 2 + 2 * 6);
});

test('writes are told with what was there before; people act at once', async () => {
  const writes: string[] = [];
  const run = scenario(
    async (maps, _life, api) => {
      const made = await maps.create({ ...map('a'), data: { x: '1' } } as AnyObject);
      await maps.update({ ...made, data: { x: '2' } } as never);
      await api.client.resource(configMaps, 'ns').delete('a');
    },
    {
      onWrite: ({ verb, before, after }) =>
        writes.push(`${verb} ${before?.metadata.name ?? '-'} ${after?.metadata.name ?? '-'}`),
    },
  );
  await ok(run);
  assert.deepEqual(writes, ['create - a', 'update a a', 'delete a -']);
});

test('a busy server is asked again', async () => {
  const run = scenario(async (maps, life, api) => {
    api.throttle(2);
    await maps.create(map('a'));
    assert.ok(life.ports.clock.now() - Date.UTC(2030, 0, 1) >= 2_000, 'it waited twice');
  });
  await ok(run);
});

/** What a watch tells from a version on, until it ends. */
async function heard(maps: Maps, resourceVersion: string, told: string[]): Promise<string> {
  try {
    for await (const event of maps.watch({ resourceVersion })) {
      told.push(event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata.name}`);
    }
    return 'over';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test('a watch ends in good order, breaks and loses what was on its way, tells events twice, or is too old', async () => {
  const run = scenario(async (maps, life, api) => {
    const { clock } = life.ports;
    const people = api.client.resource(configMaps, 'ns');
    const told: string[] = [];
    const from = (await maps.create(map('a'))).metadata.resourceVersion;
    const first = heard(maps, from, told);
    await clock.sleep(10);
    await people.create(map('b'));
    await clock.sleep(10);
    api.replay(4);
    await clock.sleep(10);
    await people.create(map('c'));
    api.endWatches();
    assert.equal(await first, 'over');
    assert.deepEqual(told, ['ADDED b', 'ADDED b', 'ADDED c'], 'what came before the end is told');

    told.length = 0;
    const second = heard(maps, from, told);
    await clock.sleep(10);
    await people.delete('a');
    api.breakWatches();
    assert.equal(await second, 'KUBE_CONNECTION_LOST');
    assert.deepEqual(told, ['ADDED b', 'ADDED c'], 'the deletion was on its way');

    told.length = 0;
    api.compact();
    assert.equal(await heard(maps, from, told), 'KUBE_GONE');
    assert.deepEqual(told, []);
  });
  await ok(run);
});

test('the same seed is the same run, to the last event', async () => {
  const run = scenario(
    async (maps, _life, api) => {
      void heard(maps, String(api.store.revision), []);
      for (const name of ['a', 'b', 'c']) await maps.create(map(name)).catch(() => undefined);
    },
    {
      events: (api) => [
        { kind: 'break', apply: () => api.breakWatches() },
        { kind: 'replay', apply: () => api.replay(2) },
      ],
    },
  );
  const { failures, accidents } = await runSeeds(run, { count: 40, twiceEvery: 1 });
  assert.deepEqual(failures, []);
  assert.ok(accidents > 20, `${accidents} accidents`);
});
