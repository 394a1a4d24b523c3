/** Templates that do not work, after the cluster was created: told by name, and mended by the spec alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisClusterSpec } from '../../src/api/cluster.ts';
import type { Pod } from '../../src/api/kinds.ts';
import { SLOT_COUNT } from '../../src/api/slots.ts';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;
const imageOf = ({ spec }: Pod) => spec?.containers?.[0]?.image;
const configOf = ({ metadata }: Pod) => metadata?.annotations?.['redis.reeve.dev/config'];
const condition = (world: OperatorWorld) => world.status('c').conditions?.find(({ type }) => type === 'PodStuck');
const reasons = (world: OperatorWorld) => world.status('c').waitingFor?.map(({ reason }) => reason) ?? [];
const notReady = [{ type: 'Ready', status: 'False' }];

/** All is served and nothing is to be done. Where a new node found its place is not what is looked at here. */
const isServed = (world: OperatorWorld) => {
  const { slots, replicas, waitingFor, currentOperation } = world.status('c');
  return slots === SLOT_COUNT && replicas === 3 && waitingFor?.length === 0 && currentOperation === undefined;
};
const specs: readonly Partial<RedisClusterSpec>[] = [{}, { storage: { size: '1Gi' } }];

for (const spec of specs) {
  const kept = spec.storage ? 'with volumes' : 'without volumes';

  test(`${kept}: an image that does not exist stops at one pod, which says so and is made anew once the spec is right`, async (t) => {
    const world = await OperatorWorld.start(t);
    world.kubelet.ails = (pod) =>
      imageOf(pod) === 'no-such'
        ? {
            phase: 'Pending',
            podIP: '10.9.0.1',
            conditions: notReady,
            containerStatuses: [
              { name: 'server', restartCount: 0, state: { waiting: { reason: 'ErrImagePull', message: 'unknown' } } },
            ],
          }
        : undefined;
    await world.create('c', spec);
    await world.until('the cluster runs', isRunning(world));
    const keys = await write(world, 100);
    await world.patch('c', { spec: { image: 'no-such' } });
    await world.until('it says why', () => reasons(world).includes('ErrImagePull'));
    await world.pass(60_000);
    const stuck = world.pods.filter((pod) => imageOf(pod) === 'no-such').map(({ metadata }) => metadata?.name);
    assert.equal(stuck.length, 1);
    assert.deepEqual([condition(world)?.status, condition(world)?.reason], ['True', 'ErrImagePull']);
    assert.equal(condition(world)?.message, `${stuck[0]}: ErrImagePull: unknown`);
    await world.patch('c', { spec: { image: 'valkey:9.1' } });
    await world.until(
      'every pod runs the new one',
      () => isServed(world) && world.pods.length === 6 && world.pods.every((pod) => imageOf(pod) === 'valkey:9.1'),
      900_000,
    );
    assert.equal(condition(world)?.status, 'False');
    assertHeld(world, keys);
  });

  test(`${kept}: a configuration that no server starts with is taken back, and its pod follows`, async (t) => {
    const world = await OperatorWorld.start(t);
    await world.create('c', spec);
    await world.until('the cluster runs', isRunning(world));
    const keys = await write(world, 100);
    const good = configOf(world.pods[0] as Pod);
    assert.ok(good);
    world.kubelet.ails = (pod) =>
      configOf(pod) === good
        ? undefined
        : {
            phase: 'Running',
            podIP: '10.9.0.1',
            conditions: notReady,
            containerStatuses: [
              {
                name: 'server',
                restartCount: 4,
                state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
                lastState: { terminated: { exitCode: 1, reason: 'Error' } },
              },
            ],
          };
    await world.patch('c', { spec: { config: { 'maxmemory-policy': 'nonsense' } } });
    await world.until('it says why', () => reasons(world).includes('CrashLoopBackOff'));
    await world.pass(30_000);
    assert.equal(world.pods.filter((pod) => configOf(pod) !== good).length, 1);
    await world.patch('c', { spec: { config: null } });
    await world.until(
      'every pod has the old one again',
      () => isServed(world) && world.pods.length === 6 && world.pods.every((pod) => configOf(pod) === good),
      900_000,
    );
    assertHeld(world, keys);
  });
}

test('a server that lives and cannot be reached from here is not replaced, whatever is asked for by now', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 50);
  const uidOf = (name: string) => world.pods.find(({ metadata }) => metadata?.name === name)?.metadata?.uid;
  const [pod = ''] = (world.status('c').members ?? []).filter(({ role }) => role === 'primary').map((one) => one.pod);
  const before = uidOf(pod);
  world.hidden.add(world.serverOf(pod).endpoint);
  await world.kubelet.tell(pod, { conditions: notReady });
  await world.patch('c', { spec: { image: 'valkey:9.1' } });
  await world.until('it is silent', () => reasons(world).includes('ServersSilent'));
  await world.pass(120_000);
  assert.equal(uidOf(pod), before);
  world.hidden.clear();
  await world.kubelet.tell(pod, { conditions: [{ type: 'Ready', status: 'True' }] });
  await world.until('the upgrade is done', () => isRunning(world)() && uidOf(pod) !== before, 900_000);
  assertHeld(world, keys);
});
