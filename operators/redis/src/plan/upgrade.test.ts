import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisClusterSpec } from '../api/cluster.ts';
import { CLIENT_PORT } from './children.ts';
import { type PodFacts, podMembers } from './pods.ts';
import { testPods } from './pods-testing.ts';
import { clusterNodes, type TestNode, viewOfNodes } from './testing.ts';
import { upgradeStep } from './upgrade.ts';

function members(images: readonly string[], changes: Partial<TestNode> = {}, pods: Partial<PodFacts> = {}) {
  const nodes = clusterNodes({ primaries: 3, replicas: 1 }).map((node) => ({ ...node, ...changes, port: CLIENT_PORT }));
  const facts = testPods(nodes, (ordinal) => ({
    image: images[ordinal] ?? images.at(-1) ?? '',
    ...(ordinal === 5 ? pods : {}),
  }));
  return podMembers(facts, viewOfNodes(nodes));
}

const spec: RedisClusterSpec = { primaries: 3, version: '9.0' };
const codes = (step: ReturnType<typeof upgradeStep>) =>
  step.step === 'refuse' ? step.refused.map(({ code }) => code) : step.step;

test('it sets what the cluster is to run, waits for every pod, and is done', () => {
  const old = members(['valkey:9.0']);
  assert.deepEqual(upgradeStep({ version: '9.1.2' }, { spec, members: old }), {
    step: 'set',
    version: '9.1.2',
    image: null,
  });
  const told = { ...spec, version: '9.1.2' };
  const half = members(['valkey:9.1.2', 'valkey:9.1.2', 'valkey:9.0']);
  assert.deepEqual(upgradeStep({ version: '9.1.2' }, { spec: told, members: half }), {
    step: 'wait',
    progress: '2 of 6 pods run valkey:9.1.2',
    waitingFor: 'c-2, c-3, c-4, c-5',
  });
  const leaving = members(['valkey:9.1.2'], {}, { isDeleting: true });
  assert.equal(upgradeStep({ version: '9.1.2' }, { spec: told, members: leaving }).step, 'wait');
  assert.equal(upgradeStep({ version: '9.1.2' }, { spec: told, members: leaving.slice(0, 5) }).step, 'wait');
  const trouble = { reason: 'ErrImagePull', message: 'unknown' };
  const stuck = upgradeStep(
    { version: '9.1.2' },
    { spec: told, members: members(['valkey:9.1.2'], {}, { image: 'valkey:9.0', trouble }) },
  );
  assert.equal(stuck.step === 'wait' && stuck.waitingFor, 'c-5 (ErrImagePull)');
  const all = members(['valkey:9.1.2']);
  assert.equal(upgradeStep({ version: '9.1.2' }, { spec: told, members: all }).step, 'done');
});

test('an image takes the place of a version, and the other way round', () => {
  const old = members(['valkey:9.0']);
  assert.deepEqual(upgradeStep({ image: 'own/valkey:9.2' }, { spec, members: old }), {
    step: 'set',
    version: null,
    image: 'own/valkey:9.2',
  });
  const byImage: RedisClusterSpec = { primaries: 3, image: 'own/valkey:9.0' };
  assert.deepEqual(upgradeStep({ version: '9.1.2' }, { spec: byImage, members: old }), {
    step: 'set',
    version: '9.1.2',
    image: null,
  });
});

test('another product, an older version, and pods that would lose their keys are refused', () => {
  const old = members(['valkey:9.1.2']);
  assert.deepEqual(codes(upgradeStep({ image: 'redis:8' }, { spec, members: old })), ['MIXED_PRODUCTS']);
  assert.deepEqual(codes(upgradeStep({ version: '8.1' }, { spec, members: old })), ['UPGRADE_OLDER']);
  assert.deepEqual(codes(upgradeStep({ version: '9.1.1' }, { spec, members: old })), ['UPGRADE_OLDER']);
  assert.equal(codes(upgradeStep({ version: '9' }, { spec, members: old })), 'set');
  assert.equal(codes(upgradeStep({ version: '10' }, { spec, members: old })), 'set');
  const alone = { ...spec, replicasPerPrimary: 0 };
  assert.deepEqual(codes(upgradeStep({ version: '10' }, { spec: alone, members: old })), ['UPGRADE_LOSES_DATA']);
  const kept = { ...alone, storage: { size: '1Gi' } };
  assert.equal(codes(upgradeStep({ version: '10' }, { spec: kept, members: old })), 'set');
});

test('what external members run is not ours to set', () => {
  const external = { ...spec, members: 'external' as const };
  assert.deepEqual(codes(upgradeStep({ version: '10' }, { spec: external, members: [] })), ['MEMBERS_EXTERNAL']);
});

test('one whose image is held back is refused with the reason: it would be waited for for ever', () => {
  const held = { code: 'UPGRADE_OLDER', message: 'c-0 runs 9.1.2, and valkey:9.0 is older', subjects: ['c-0'] };
  const running = members(['valkey:9.1.2'], { version: '9.1.2' });
  assert.deepEqual(codes(upgradeStep({ version: '9.0' }, { spec, members: running, held })), ['UPGRADE_OLDER']);
});
