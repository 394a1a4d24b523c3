import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, resource } from '@reeve/kube';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { countingIds } from '../manager/setup-testing.ts';
import { seededRandom, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { crdOf, kind } from '../schema/kind.ts';
import { anything } from '../schema/schema.ts';
import { Ledger, type LedgerResource } from './ledger.ts';
import type { Candidate } from './operation.ts';
import { type OperationTurn, type OperationWork, operationTurn } from './turn.ts';

const clusters = kind({
  group: 'test.dev',
  version: 'v1',
  plural: 'clusters',
  kind: 'Cluster',
  namespaced: true,
  spec: anything(),
  status: anything(),
});
const ofClusters = resource<LedgerResource & KubeObject>(clusters);
const snapshot = snapshotOf({ namespaces: ['ns'], definitions: [crdOf(clusters)] });
const signal = new AbortController().signal;

async function setUp() {
  const clock = new VirtualClock();
  const { client, find } = await openApi(clock);
  const ports = { clock, ids: countingIds() };
  const process = () =>
    new Ledger<LedgerResource>(ports, {
      objects: (namespace) => client.resource(ofClusters, namespace),
      historyLimit: 2,
    });
  const objects = client.resource(ofClusters, 'ns');
  const create = async () => objects.create({ metadata: { name: 'c' }, spec: {} } as never);
  const stored: LedgerResource = await create();
  const current = () => find()?.status?.currentOperation;
  return { objects, create, find, process, stored, current };
}

async function openApi(clock: VirtualClock) {
  const api = await ApiWorld.open({ clock, random: seededRandom(1), snapshot: await snapshot });
  const find = () => api.find<LedgerResource & { readonly spec: unknown }>('clusters.test.dev', 'ns', 'c');
  return { client: api.client, find };
}

const wish = (uid: string, more: Partial<Candidate> = {}): Candidate => ({
  kind: 'repair',
  class: 'task',
  trigger: { kind: 'Task', name: uid, uid },
  creationTimestamp: '2030-01-01T00:00:00Z',
  ...more,
});

test('of two processes that want the lock one gets it, and the other sees who', async () => {
  const { process, stored, current } = await setUp();
  const [one, two] = [process(), process()];
  const mine = await one.take(stored, wish('a'), signal);
  const theirs = await two.take(stored, wish('b'), signal);
  assert.equal(mine?.status?.currentOperation?.trigger.uid, 'a');
  assert.deepEqual(theirs?.status?.currentOperation, current());
  assert.equal(current()?.trigger.uid, 'a');
});

test('only its holder gives the lock back, an old view of the object does no harm, and the history is bounded', async () => {
  const { process, stored, current, objects, find } = await setUp();
  const ledger = process();
  for (const uid of ['a', 'b', 'c']) {
    await ledger.take(stored, wish(uid), signal);
    const id = current()?.id ?? '';
    await ledger.end(stored, 'somebody-else', { outcome: 'done' }, signal);
    assert.equal(current()?.id, id);
    await ledger.note(stored, id, 'half', signal);
    assert.equal(current()?.step, 'half');
    // Another process changed the object meanwhile: nothing of that is lost.
    await objects.patch('c', { type: 'merge', value: { spec: { by: uid } } });
    await ledger.end(stored, id, { outcome: 'failed', message: 'no' }, signal);
    assert.equal(current(), undefined);
  }
  const { status, spec } = find() ?? assert.fail('it is gone');
  assert.deepEqual(spec, { by: 'c' });
  assert.deepEqual(
    status?.operations?.map(({ trigger, outcome, message }) => [trigger.uid, outcome, message]),
    [
      ['c', 'failed', 'no'],
      ['b', 'failed', 'no'],
    ],
  );
});

test('uid reuse by name: a lock is never taken on an object that is gone, or on its successor', async () => {
  const { process, stored, objects, create } = await setUp();
  await objects.delete('c');
  assert.equal(await process().take(stored, wish('a'), signal), undefined);
  await create();
  assert.equal(await process().take(stored, wish('a'), signal), undefined);
});

test('a turn takes what is next, goes on with it, ends it, and lets safety go first between two steps', async () => {
  const { process, stored, current } = await setUp();
  const ledger = process();
  const told: string[] = [];
  let answer: OperationTurn = { state: 'running', step: '1 of 2', wakeAt: 77 };
  const turn = (...candidates: Candidate[]) =>
    operationTurn(
      ledger,
      stored,
      candidates,
      async ({ operation, mustYield }: OperationWork) => {
        told.push(`${operation.trigger.uid}${mustYield ? ' must yield' : ''}`);
        return answer;
      },
      signal,
    );
  assert.deepEqual(await turn(), { state: 'resting' });
  const tasks = [wish('b', { interruptible: true }), wish('a', { interruptible: true })];
  const first = await turn(...tasks);
  assert.ok(first.state === 'running' && first.wakeAt === 77);
  assert.equal(current()?.step, '1 of 2');
  await turn(...tasks, wish('order', { class: 'p0' }));
  answer = { state: 'yielded' };
  assert.deepEqual(await turn(...tasks, wish('lost', { class: 'safety' })), { state: 'again' });
  assert.equal(current(), undefined);
  answer = { state: 'ended', outcome: 'done' };
  await turn(...tasks, wish('lost', { class: 'safety' }));
  await turn(...tasks);
  assert.deepEqual(told, ['a', 'a', 'a must yield', 'lost', 'a']);
  assert.equal(current(), undefined);
});

test('an operation whose trigger is no candidate any more is still ended by its work', async () => {
  const { process, stored, current } = await setUp();
  await process().take(stored, wish('a'), signal);
  const work = async (): Promise<OperationTurn> => ({ state: 'ended', outcome: 'cancelled' });
  // A new process, whose cache is from before the lock was taken.
  const ledger = process();
  assert.deepEqual(await operationTurn(ledger, stored, [wish('b')], work, signal), { state: 'again' });
  assert.equal(current(), undefined);
});
