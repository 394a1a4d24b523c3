/** The manager on our own API server: roles, election, the fence in the server, an end in order; without and with a socket. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '@reeve/kube';
import { until } from '@reeve/rig';
import { systemPorts } from '@reeve/runtime';
import { guarded, leases } from '@reeve/runtime/manager';
import { carrier, configMaps, openWorld, startManager, things, type World } from './embedded-testing.ts';

const COUNT = 20;

/** Every Thing has its ConfigMap and a status that says who wrote it. */
async function allBy({ root }: World, size: number, identity: string): Promise<boolean> {
  const { items } = await root.resource(things, 'default').list();
  const maps = await root.resource(configMaps, 'default').list();
  const sizes = new Map([...maps.items].map(({ metadata, data }) => [metadata.name, data?.size]));
  return [...items].every(
    ({ metadata, status }) =>
      status?.by === identity && status.size === size && sizes.get(metadata.name) === String(size),
  );
}

for (const way of ['in process', 'over HTTP'] as const) {
  test(`two managers ${way}: one leads, the next goes on, and a write of the past is refused by the server`, async (t) => {
    const world = await openWorld(t, way);
    const people = world.root.resource(things, 'default');
    for (let i = 0; i < COUNT; i++) {
      await people.create({ metadata: { name: `t-${i}` }, spec: { size: 1 } });
    }
    const one = startManager(world, 'one');
    await until('the first one has done everything', () => allBy(world, 1, 'one'));
    const two = startManager(world, 'two');
    await until('the second one has lists', () => two.manager.readyz().every(({ ok }) => ok));
    assert.deepEqual([one.manager.phase, two.manager.phase], ['leading', 'standby']);

    const { spec } = await world.root.resource(leases, 'default').get('things');
    await one.end();
    await until('the second one leads', () => two.manager.phase === 'leading');
    for (let i = 0; i < COUNT; i++) {
      await people.patch(`t-${i}`, { type: 'merge', value: { spec: { size: 2 } } });
    }
    await until('the second one has done everything', () => allBy(world, 2, 'two'));

    // A request of the first one's term that was on its way for all this time.
    const token = `${spec?.leaseTransitions}/${spec?.holderIdentity}`;
    const past = { token, isValid: () => true, signal: new AbortController().signal };
    const late = new KubeClient({ ...systemPorts, transport: guarded(one.transport, past, carrier.headers) });
    assert.equal(spec?.holderIdentity, 'one');
    await assert.rejects(late.resource(things, 'default').delete('t-0'), /another leads/);
    const status = { metadata: { name: 't-0' }, status: { size: 9, by: 'one' } } as never;
    const written = late.resource(things, 'default').apply(status, { subresource: 'status', force: true });
    await assert.rejects(written, /another leads/);
    assert.ok(await allBy(world, 2, 'two'));

    await two.end();
    const failures = [...one.lines, ...two.lines].filter((line) => line.startsWith('a reconcile failed'));
    assert.deepEqual([failures, world.errors], [[], []]);
  });
}
