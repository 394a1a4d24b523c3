import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackupManifest } from '../api/backup.ts';
import { formatSlots } from '../api/slots.ts';
import { decideBackup, decideRestore, manifestProblem, shardSources, shardsText } from './backup.ts';
import { clusterNodes, idOf, type TestNode, type ViewOptions, viewOfNodes } from './testing.ts';
import { known } from '@reeve/runtime';

const request = { name: 'ns/c/b', by: 'uid', users: [] };
const view = (nodes: ViewOptions['nodes'] = {}) => viewOfNodes(clusterNodes({ primaries: 3, replicas: 1, nodes }));
const codes = (decision: object) =>
  'refused' in decision ? (decision.refused as readonly { readonly code: string }[]).map(({ code }) => code) : [];

test('each shard is taken from a replica in sync, else from its primary', () => {
  const sources = shardSources(view({ p1r0: { linkUp: false } }));
  assert.deepEqual(
    sources.map(({ primary, replicas }) => [primary.id, replicas.map(({ id }) => id)]),
    [
      [idOf('p0'), [idOf('p0r0')]],
      [idOf('p1'), []],
      [idOf('p2'), [idOf('p2r0')]],
    ],
  );
  const decision = decideBackup(request, view({ p1r0: { linkUp: false } }));
  assert.ok(!('refused' in decision) && decision.goal.name === 'ns/c/b' && decision.reasons.length === 1);
});

test('no backup while a slot has no owner, two owners, or is on its way', () => {
  const unsound: readonly Readonly<Record<string, Partial<TestNode>>>[] = [
    { p0: { slots: '1-5460' } },
    { p0: { slots: '0-6000' } },
    { p0: { migrating: [{ slot: 7, peer: idOf('p1') }] } },
    { p0: { unreachable: 'silent' } },
  ];
  for (const nodes of unsound) {
    assert.deepEqual(
      [...new Set(codes(decideBackup(request, view(nodes))))],
      ['CLUSTER_UNSOUND'],
      JSON.stringify(nodes),
    );
  }
});

test('what shards are does not depend on who is primary', () => {
  const [first] = shardSources(view());
  const slots = formatSlots(first?.slots ?? []);
  const after = view({ p0: { role: 'replica', primaryId: idOf('p0r0'), slots: '' }, p0r0: { role: 'primary', slots } });
  assert.equal(shardsText(after), shardsText(view()));
  assert.notEqual(shardsText(view({ p0: { slots: '0-5459' }, p1: { slots: '5460-10922' } })), shardsText(view()));
});

test('nothing is restored into a cluster that holds something, or may', () => {
  assert.deepEqual(codes(decideRestore({ name: 'ns/c/b' }, view())), []);
  assert.deepEqual(codes(decideRestore({ name: 'ns/c/b' }, view({ p0: { keys: { 5: 1 } } }))), ['RESTORE_NOT_EMPTY']);
  const libraries = view({ p2: { functionLibraries: known(1) } });
  assert.deepEqual(codes(decideRestore({ name: 'ns/c/b' }, libraries)), ['RESTORE_NOT_EMPTY']);
  const silent = view({ p2r0: { unreachable: 'silent' } });
  assert.deepEqual(codes(decideRestore({ name: 'ns/c/b' }, silent)), ['RESTORE_NOT_EMPTY']);
});

test('a manifest must have each slot once, and a format that is known', () => {
  const shard = { file: 'f', node: 'n', role: 'replica', rdbVersion: 10, keys: 0, bytes: 0, sha256: '' } as const;
  const manifest = (...slots: readonly string[]) =>
    ({ format: 1, shards: slots.map((each) => ({ ...shard, slots: each })) }) as unknown as BackupManifest;
  assert.equal(manifestProblem(manifest('0-8000', '8001-16383')), undefined);
  assert.match(manifestProblem(manifest('0-8000')) ?? '', /each slot once/);
  assert.match(manifestProblem(manifest('0-8001', '8001-16383')) ?? '', /each slot once/);
  assert.match(manifestProblem(manifest('0-x')) ?? '', /cannot be read/);
  assert.match(manifestProblem({ ...manifest('0-16383'), format: 2 as 1 }) ?? '', /format is 2/);
});
