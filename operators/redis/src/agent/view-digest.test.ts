import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeReport } from '../api/view.ts';
import { observeNode } from '../observe/node.ts';
import { idOf, type TestNode, viewOf } from '../plan/testing.ts';
import { TestCluster } from '../../tests/migrate/test-cluster.ts';
import { modelPort } from '../../tests/model-port.ts';
import { viewDigest } from './view-digest.ts';

function digestsOf(nodes: Readonly<Record<string, Partial<TestNode>>> = {}): ReadonlySet<string> {
  const reports = viewOf({ primaries: 3, replicas: 2, nodes }).nodes.map(({ report }) => report);
  return new Set(reports.flatMap((report) => (report.known ? [viewDigest(report.value)] : [])));
}

/** A line whose id is made up. */
function withHandshake(report: NodeReport): NodeReport {
  return { ...report, others: [...report.others, { ...report.self, id: idOf('made up'), flags: ['handshake'] }] };
}

function only(digests: ReadonlySet<string>): string {
  assert.equal(digests.size, 1, [...digests].join(' '));
  return [...digests][0] as string;
}

test('nodes that agree have the same digest, whoever looks', () => {
  const digest = only(digestsOf());
  assert.match(digest, /^v\d+-[0-9a-f]+$/);
  assert.equal(only(digestsOf()), digest, 'and it is the same next time');
});

test('what each node has for itself does not count', () => {
  const digest = only(digestsOf());
  const shuffled = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.toReversed().map((line) => ({
      ...line,
      host: '',
      port: 0,
      linkUp: false,
      flags: [...line.flags, 'fail?'],
      configEpoch: line.role === 'replica' ? 77 : line.configEpoch,
    })),
  });
  const nodes = {
    p0: { report: shuffled },
    p1: { migrating: [{ slot: 6_000, peer: idOf('p2') }], keys: { 6_000: 3 }, usedBytes: 7 },
    p2: { report: withHandshake },
  };
  assert.equal(only(digestsOf(nodes)), digest);
});

test('members, roles, primaries, slots and epochs count', () => {
  const digest = only(digestsOf());
  const differences: Readonly<Record<string, Partial<TestNode>>> = {
    p0r0: { primaryId: idOf('p1') },
    p1r1: { role: 'primary', epoch: 9 },
    p2: { slots: '10923-16382' },
    p1: { epoch: 12 },
  };
  for (const [name, change] of Object.entries(differences)) {
    assert.notEqual(only(digestsOf({ [name]: change })), digest, name);
  }
  const everybody = viewOf({ primaries: 3, replicas: 2 }).nodes.map(({ id }) => id);
  const without = digestsOf({ p0: { knows: everybody.filter((id) => id !== idOf('p2r1')) } });
  assert.equal(without.size, 2, 'one that misses a member is told apart');
});

test('servers of the model agree when the cluster has settled, and not before they have heard of a change', async () => {
  const cluster = new TestCluster({ flavour: 'valkey9' });
  const port = modelPort(cluster.model);
  const digests = async () =>
    new Set(
      await Promise.all(
        cluster.servers.map(async ({ host, port: number }) =>
          viewDigest(await observeNode(port, cluster, { host, port: number }, {})),
        ),
      ),
    );
  cluster.pass(10_000);
  const before = only(await digests());
  cluster.call(0, 'CLUSTER', 'BUMPEPOCH');
  cluster.call(3, 'CLUSTER', 'BUMPEPOCH');
  cluster.call(2, 'CLUSTER', 'BUMPEPOCH');
  assert.ok((await digests()).size > 1);
  cluster.pass(10_000);
  assert.notEqual(only(await digests()), before);
});
