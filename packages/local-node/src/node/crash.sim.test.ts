/** The node dies after each single thing that it does to the machine or the API server, and another one takes its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Manager } from '@reeve/runtime/manager';
import { countingIds, seededRandom, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { plainDriver } from '../driver/plain.ts';
import { MemoryMachine } from '../host/memory-host-testing.ts';
import { hostImages } from '../image/images.ts';
import { configMaps } from '../kinds/config-map.ts';
import { type Pod, pods } from '../kinds/pod.ts';
import { COOKIE } from '../shim/runs.ts';
import { AddressPool } from './addresses.ts';
import { Life } from './life-testing.ts';
import { LocalNode } from './local-node.ts';
import { RELOCATABLE } from './pod-keeper.ts';

const snapshot = await snapshotOf({});
/** The second one dies within so many effects of its own. */
const SOON = 40;
/** What goes on while nodes come and go. */
interface Scene {
  readonly api: ApiWorld;
  readonly machine: MemoryMachine;
  find(name: string): (Pod & { metadata: { uid: string } }) | undefined;
  isReady(name: string): boolean;
  until(is: () => boolean, what: string): Promise<void>;
}

/** The first node lives for so many effects, the second for so many more. How many there were. */
async function run(play: (scene: Scene) => Promise<void>, most: number, next = Number.POSITIVE_INFINITY) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const random = seededRandom(7);
  const api = await ApiWorld.open({ clock, random, snapshot });
  const machine = new MemoryMachine(() => clock.now());
  const ids = countingIds();
  let life = new Life(most);
  const effects: number[] = [];
  const begin = async () => {
    const one = life;
    const ports = {
      clock: one.clock(clock),
      random,
      ids,
      host: one.host(machine.host),
    };
    const transport = one.transport(api.transport);
    const node = await LocalNode.open(ports, {
      folder: '/node',
      transport,
      addresses: new AddressPool(ports.host.files, random, '/addresses'),
      images: hostImages,
      drivers: [plainDriver],
      sandboxRemedy: '',
      facts: {
        name: 'n',
        labels: {},
        taints: [],
        capacity: {},
        address: '127.0.0.1',
        apiServer: undefined,
        hostPathRoots: [],
      },
    });
    await new Manager(ports, { name: 'n', transport }).add(node).run(new AbortController().signal);
  };
  void begin();
  const find = (name: string) => api.find<Pod & { metadata: { uid: string } }>('pods', 'default', name);
  const until = async (is: () => boolean, what: string) => {
    for (let tries = 0; !is(); tries++) {
      assert.ok(
        tries < 600,
        `${what}: ${JSON.stringify(api.list<Pod>('pods').map(({ status }) => status))} ${machine.running.join(' ')}`,
      );
      await clock.advance(100);
      assert.equal(new Set(machine.running).size, machine.running.length, 'no program twice');
      if (!life.isDead) continue;
      effects.push(life.done);
      life = new Life(effects.length === 1 ? next : Number.POSITIVE_INFINITY);
      void begin();
    }
  };
  const isReady = (name: string) =>
    find(name)?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  try {
    await play({ api, machine, find, isReady, until });
  } catch (error) {
    throw new Error(`after effect ${most}, then ${next}: ${(error as Error).message}`, { cause: error });
  }
  const total = (effects[0] ?? 0) + life.done;
  life.isDead = true;
  return total;
}

/** `a` runs until it is deleted and comes again; `b` runs once. */
async function twoPods({ api, machine, find, isReady, until }: Scene): Promise<void> {
  const client = api.client.resource(pods, 'default');
  const create = (name: string, command: string[], restartPolicy: 'Always' | 'Never') =>
    client.create({
      metadata: { name },
      spec: { nodeName: 'n', restartPolicy, containers: [{ name: 'main', image: 'host', command }] },
    });
  const first = await create('a', ['forever'], 'Always');
  const once = await create('b', ['exit', '3'], 'Never');
  await until(() => isReady('a') && find('b')?.status?.phase === 'Failed', 'a is ready and b has ended');
  assert.equal(find('b')?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3);
  await client.delete('a');
  await until(() => find('a') === undefined, 'a is gone');
  const second = await create('a', ['forever'], 'Always');
  await until(() => isReady('a'), 'a is ready again');
  // Each began once, and only the last one is left.
  const beginsOf = (uid: string) => machine.begun.filter((cookie) => cookie.includes(uid)).length;
  for (const { metadata } of [first, second, once]) assert.equal(beginsOf(metadata.uid), 1);
  await until(
    () => machine.running.length === 1 && (machine.running[0] ?? '').includes(second.metadata.uid),
    'one is left',
  );
  await until(() => ![...machine.files.keys()].some((path) => path.includes(first.metadata.uid)), 'its folder is gone');
}

/** A pod of several containers and volumes, of which one container ends and runs again. */
async function manyContainers({ api, machine, find, isReady, until }: Scene): Promise<void> {
  await api.client.resource(configMaps, 'default').create({ metadata: { name: 'c' }, data: { key: 'value' } });
  const volumeMounts = [
    { name: 'e', mountPath: '/e' },
    { name: 'c', mountPath: '/c' },
  ];
  const container = (name: string, ...command: string[]) => ({ name, image: 'host', command, volumeMounts });
  const { metadata } = await api.client.resource(pods, 'default').create({
    metadata: { name: 'a', annotations: { [RELOCATABLE]: 'true' } },
    spec: {
      nodeName: 'n',
      volumes: [
        { name: 'e', emptyDir: {} },
        { name: 'c', configMap: { name: 'c' } },
      ],
      initContainers: [
        { ...container('side', 'forever'), restartPolicy: 'Always' },
        container('first', 'exit', '0'),
        container('second', 'exit', '0'),
      ],
      containers: [container('main', 'forever'), container('other', 'forever')],
    },
  });
  const cookieOf = (run: string) => `${metadata.uid}/${run}`;
  await until(() => isReady('a'), 'a is ready');
  const [ending] = [...machine.processes.values()].filter(
    ({ env, folder }) => folder !== undefined && env[COOKIE]?.endsWith(cookieOf('main/0')),
  );
  machine.exit(ending?.pid ?? 0, 3);
  const mainOf = () => find('a')?.status?.containerStatuses?.[0];
  await until(() => isReady('a') && mainOf()?.restartCount === 1, 'it runs again');
  assert.equal(mainOf()?.lastState?.terminated?.exitCode, 3);
  const begun = machine.begun.map((cookie) => cookie.slice(cookie.indexOf(metadata.uid) + metadata.uid.length + 1));
  assert.deepEqual(begun, ['side/0', 'first/0', 'second/0', 'main/0', 'other/0', 'main/1'], 'each once, in order');
  assert.equal(machine.running.length, 3);
  const at = `/pods/${metadata.uid}/volumes/`;
  assert.ok([...machine.files.keys()].some((path) => path.includes(`${at}c/`) && path.endsWith('/key')));
  await api.client.resource(pods, 'default').delete('a');
  await until(() => find('a') === undefined && machine.running.length === 0, 'it is gone');
  await until(() => ![...machine.files.keys()].some((path) => path.includes(metadata.uid)), 'with its folder');
}

for (const [what, play, every] of [
  ['two pods', twoPods, 1],
  // Of the second deaths only some: there are many effects.
  ['a pod of many containers', manyContainers, 2],
] as const) {
  test(`${what}: a node that dies after any one of its effects leaves nothing twice, nothing lost and nothing behind`, async () => {
    const effects = await run(play, Number.POSITIVE_INFINITY);
    assert.ok(effects > 30, `${effects} effects`);
    for (let most = 1; most <= effects; most++) await run(play, most);
    // And the next one soon after it.
    for (let most = 1; most <= effects; most += every) await run(play, most, ((most * 7) % SOON) + 1);
  });
}
