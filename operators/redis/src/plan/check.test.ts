import assert from 'node:assert/strict';
import { test } from 'node:test';
import { known, unknown } from '@reeve/runtime';
import fc from 'fast-check';
import type { Finding, FindingCode } from '../api/findings.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeReport } from '../api/view.ts';
import { checkCluster, isClean } from './check.ts';
import { clusterNodes, freshNode, idOf, type TestNode, testNode, viewOf, viewOfNodes } from './testing.ts';

function codes(findings: readonly Finding[]): readonly FindingCode[] {
  return [...new Set(findings.map((finding) => finding.code))].sort();
}

function only(findings: readonly Finding[], code: FindingCode): Finding {
  const found = findings.filter((finding) => finding.code === code);
  assert.equal(found.length, 1, `one ${code}, not ${found.length}: ${JSON.stringify(found)}`);
  return found[0] as Finding;
}

/** Changes what a node says of another. */
function saysOf(about: string, changes: Partial<NodeReport['self']>): (report: NodeReport) => NodeReport {
  return (report) => ({
    ...report,
    others: report.others.map((line) => (line.id === idOf(about) ? { ...line, ...changes } : line)),
  });
}

test('a healthy cluster is clean and has no findings', () => {
  for (const product of ['valkey', 'redis'] as const) {
    const findings = checkCluster(viewOf({ primaries: 3, replicas: 1, product }), {
      replicasPerPrimary: 1,
      spreadBy: ['host'],
    });
    assert.deepEqual(findings, []);
    assert.ok(isClean(findings));
  }
});

test('an open slot is degraded and names node, peer and slots', () => {
  const view = viewOf({
    primaries: 3,
    nodes: {
      p0: {
        migrating: [
          { slot: 7, peer: idOf('p1') },
          { slot: 8, peer: idOf('p1') },
        ],
      },
      p1: { importing: [{ slot: 7, peer: idOf('p0') }] },
    },
  });
  const findings = checkCluster(view);
  assert.deepEqual(codes(findings), ['SLOT_OPEN']);
  assert.equal(findings.length, 2);
  assert.deepEqual(findings[0]?.slots, [[7, 8]]);
  assert.deepEqual(findings[0]?.nodes, [idOf('p0'), idOf('p1')]);
  assert.ok(!isClean(findings));
  assert.match(findings[0]?.remedy ?? '', /reeve redis fix 10\.0\.0\.1:7000/);
});

test('slots without owner and slots with several are broken', () => {
  const gap = checkCluster(viewOf({ primaries: 3, nodes: { p0: { slots: '0-99,200-5461' } } }));
  assert.deepEqual(only(gap, 'SLOT_UNCOVERED').slots, [[100, 199]]);
  assert.deepEqual(codes(gap), ['SLOT_UNCOVERED', 'STATE_FAIL']);

  const double = checkCluster(viewOf({ primaries: 3, nodes: { p1: { slots: '5000-10922' } } }));
  const finding = only(double, 'SLOT_MULTIPLE_OWNERS');
  assert.equal(finding.severity, 'broken');
  assert.deepEqual(finding.slots, [[5000, 5461]]);
  assert.deepEqual(finding.nodes, [idOf('p0'), idOf('p1')]);
});

test('slots of a primary that cannot be read are uncovered, and say whose they are', () => {
  const findings = checkCluster(
    viewOf({ primaries: 3, replicas: 1, nodes: { p0: { unreachable: 'connection refused', flags: ['fail'] } } }),
  );
  const uncovered = only(findings, 'SLOT_UNCOVERED');
  assert.deepEqual(uncovered.nodes, [idOf('p0')]);
  assert.match(uncovered.message, /cannot be read/);
  assert.equal(only(findings, 'NODE_UNREACHABLE').severity, 'broken');
  assert.equal(only(findings, 'NODE_FAILED').severity, 'broken');
});

test('a replica in fail is found, unlike by redis-cli', () => {
  const findings = checkCluster(
    viewOf({ primaries: 3, replicas: 1, nodes: { p0r0: { unreachable: 'connection refused', flags: ['fail'] } } }),
  );
  assert.deepEqual(codes(findings), ['NODE_FAILED', 'NODE_UNREACHABLE', 'REPLICA_MISSING']);
  assert.ok(findings.every((finding) => finding.severity === 'degraded'));
});

test('a suspicion is degraded as long as it is one', () => {
  const findings = checkCluster(viewOf({ primaries: 3, nodes: { p0: { flags: ['fail?'] } } }));
  assert.deepEqual(codes(findings), ['NODE_SUSPECTED']);
  assert.equal(only(findings, 'NODE_SUSPECTED').severity, 'degraded');
});

test('a node with another slot map is named with the slots it sees otherwise', () => {
  const findings = checkCluster(
    viewOf({ primaries: 3, replicas: 1, nodes: { p2r0: { report: saysOf('p0', { slots: [[0, 5460]] }) } } }),
  );
  const finding = only(findings, 'VIEWS_DIFFER');
  assert.deepEqual(finding.nodes, [idOf('p2r0')]);
  assert.deepEqual(finding.slots, [[5461, 5461]]);
  assert.match(finding.message, /belongs to nobody, not to 70300000/);
});

test('roles: different opinions, chains of replicas and lost primaries', () => {
  const differ = checkCluster(
    viewOf({ primaries: 3, replicas: 1, nodes: { p1: { report: saysOf('p0r0', { primaryId: idOf('p2') }) } } }),
  );
  assert.deepEqual(only(differ, 'ROLES_DIFFER').nodes, [idOf('p0r0')]);
  const chain = checkCluster(viewOf({ primaries: 3, replicas: 2, nodes: { p0r1: { primaryId: idOf('p0r0') } } }));
  assert.match(only(chain, 'ROLES_DIFFER').message, /which is a replica itself/);
  const lost = checkCluster(viewOf({ primaries: 3, replicas: 2, nodes: { p0r1: { primaryId: idOf('gone') } } }));
  assert.match(only(lost, 'ROLES_DIFFER').message, /nobody knows/);
});

test('whom a dead replica followed is not asked of those who only heard of it; of one that lives it is', () => {
  const newcomer = (report: NodeReport): NodeReport => ({
    ...report,
    others: report.others.map((line) => {
      const { primaryId: _primaryId, ...heard } = line;
      return line.id === idOf('p0r0') ? heard : line;
    }),
  });
  const rolesOf = (p0r0: Partial<TestNode>) =>
    checkCluster(viewOf({ primaries: 3, replicas: 1, nodes: { p0r0, p1r0: { report: newcomer } } })).filter(
      ({ code }) => code === 'ROLES_DIFFER',
    );
  assert.deepEqual(rolesOf({ unreachable: 'silent', flags: ['fail'] }), []);
  assert.equal(rolesOf({}).length, 1);
});

test('what a dead node was is no dispute if it owns nothing: nobody is left who could settle it', () => {
  const turned = saysOf('p0r0', { role: 'primary' });
  const codesOf = (p0r0: Partial<TestNode>, says = turned) =>
    checkCluster(viewOf({ primaries: 3, replicas: 1, nodes: { p0r0, p1r0: { report: says } } })).map(
      ({ code }) => code,
    );
  const dead = codesOf({ unreachable: 'silent', flags: ['fail'] });
  assert.ok(!dead.includes('ROLES_DIFFER'), dead.join());
  assert.ok(dead.includes('NODE_FAILED') && dead.includes('NODE_UNREACHABLE'), dead.join());
  assert.ok(codesOf({}).includes('ROLES_DIFFER'), 'it lives');
  assert.ok(codesOf({ unreachable: 'silent' }).includes('ROLES_DIFFER'), 'it is not failed');
  const owning = saysOf('p0r0', { role: 'primary', slots: [[0, 9]] });
  assert.ok(codesOf({ unreachable: 'silent', flags: ['fail'] }, owning).includes('ROLES_DIFFER'), 'it may own slots');
});

test('membership: a node that does not know another, and handshakes', () => {
  const missing = checkCluster(viewOf({ primaries: 3, nodes: { p0: { knows: [idOf('p1')] } } }));
  assert.deepEqual(only(missing, 'MEMBERSHIP_DIFFERS').nodes, [idOf('p0'), idOf('p2')]);

  const shaking = (host: string) => (report: NodeReport) => ({
    ...report,
    others: [...report.others, { ...report.self, id: idOf('made-up'), host, flags: ['handshake'], slots: [] }],
  });
  const joining = checkCluster(viewOf({ primaries: 3, nodes: { p0: { report: shaking('10.9.9.9') } } }));
  assert.equal(only(joining, 'MEMBERSHIP_DIFFERS').severity, 'degraded');
  const leftOver = checkCluster(viewOf({ primaries: 3, nodes: { p0: { report: shaking('10.0.0.2') } } }));
  assert.equal(only(leftOver, 'MEMBERSHIP_DIFFERS').severity, 'info');
});

test('two clusters asked together are a split, a new node beside the cluster is not', () => {
  const one = clusterNodes({ primaries: 3 });
  const ids = one.map((node) => node.id);
  const other = ['x', 'y'].map((name, i) =>
    testNode(name, {
      host: '10.1.0.1',
      port: 7000 + i,
      slots: i === 0 ? '0-8191' : '8192-16383',
      epoch: i + 1,
      knows: [idOf('x'), idOf('y')],
    }),
  );
  const split = checkCluster(viewOfNodes([...one.map((node): TestNode => ({ ...node, knows: ids })), ...other]));
  assert.deepEqual(codes(split), ['SPLIT_CLUSTER']);
  assert.deepEqual(only(split, 'SPLIT_CLUSTER').nodes, [idOf('x'), idOf('y')]);
  assert.equal(only(split, 'SPLIT_CLUSTER').severity, 'broken');

  const beside = checkCluster(viewOf({ primaries: 3, extra: [freshNode('new')] }));
  assert.ok(isClean(beside));
  assert.deepEqual(only(beside, 'MEMBERSHIP_DIFFERS').nodes, [idOf('new')]);

  const withSlots = checkCluster(viewOf({ primaries: 3, extra: [freshNode('new', { slots: '0' })] }));
  assert.equal(only(withSlots, 'SPLIT_CLUSTER').severity, 'broken');
});

test('epoch collisions between primaries', () => {
  const findings = checkCluster(viewOf({ primaries: 3, replicas: 1, nodes: { p1: { epoch: 1 } } }));
  assert.deepEqual(only(findings, 'EPOCH_COLLISION').nodes, [idOf('p0'), idOf('p1')]);
  assert.equal(only(findings, 'EPOCH_COLLISION').severity, 'degraded');
});

test('replica links and counts', () => {
  const down = checkCluster(viewOf({ primaries: 3, replicas: 1, nodes: { p1r0: { linkUp: false } } }));
  assert.deepEqual(only(down, 'REPLICA_LINK_DOWN').nodes, [idOf('p1r0'), idOf('p1')]);
  assert.doesNotMatch(only(down, 'REPLICA_LINK_DOWN').remedy, /reeve redis fix/, 'a fix does nothing about it');
  const asked = checkCluster(viewOf({ primaries: 3, replicas: 1 }), { replicasPerPrimary: 2 });
  assert.equal(asked.filter((finding) => finding.code === 'REPLICA_MISSING').length, 3);
  const moved = { p0r0: { primaryId: idOf('p1') } };
  const uneven = checkCluster(viewOf({ primaries: 3, replicas: 1, nodes: moved }));
  assert.deepEqual(only(uneven, 'REPLICA_MISSING').nodes, [idOf('p0')]);
  assert.deepEqual(checkCluster(viewOf({ primaries: 3 })), []);
});

test('keys outside their slot: broken when found, info when not looked for, unknown is never silence', () => {
  const found = checkCluster(viewOf({ primaries: 3, nodes: { p0: { keysBeyondSlots: known(3) } } }));
  assert.equal(only(found, 'KEYS_OUTSIDE_SLOT').severity, 'broken');
  const notAsked = checkCluster(viewOf({ primaries: 3, nodes: { p0: { keysBeyondSlots: unknown('not asked') } } }));
  assert.equal(only(notAsked, 'KEYS_OUTSIDE_SLOT').severity, 'info');
  assert.ok(isClean(notAsked));
  const odd = checkCluster(viewOf({ primaries: 3, nodes: { p0: { keysBeyondSlots: known(-1) } } }));
  assert.equal(only(odd, 'KEYS_OUTSIDE_SLOT').severity, 'info');
});

test('state, quorum and silent addresses', () => {
  const state = checkCluster(viewOf({ primaries: 3, nodes: { p2: { state: 'fail' } } }));
  assert.deepEqual(only(state, 'STATE_FAIL').nodes, [idOf('p2')]);
  const dead = { unreachable: 'x', flags: ['fail?'] };
  const lost = checkCluster(viewOf({ primaries: 3, replicas: 1, nodes: { p0: dead, p1: dead } }));
  assert.deepEqual(only(lost, 'NO_QUORUM').nodes, [idOf('p0'), idOf('p1')]);
  const silent = checkCluster(
    viewOf({
      primaries: 3,
      silent: [{ endpoint: { host: '10.7.7.7', port: 1 }, code: 'REDIS_AUTH', why: 'wrong password' }],
    }),
  );
  assert.match(only(silent, 'NODE_UNREACHABLE').message, /10\.7\.7\.7:1: wrong password \(REDIS_AUTH\)/);
});

test('a node that lives elsewhere than the others think', () => {
  const old = { host: '10.0.0.99', linkUp: false };
  const moved = checkCluster(viewOf({ primaries: 3, nodes: { p1: { report: saysOf('p0', old) } } }));
  assert.equal(only(moved, 'ADDRESS_CHANGED').severity, 'degraded');
  const alias = checkCluster(
    viewOf({ primaries: 3, nodes: { p1: { report: saysOf('p0', { ...old, linkUp: true }) } } }),
  );
  assert.equal(only(alias, 'ADDRESS_CHANGED').severity, 'info');
});

test('placement: degraded where these nodes could be placed better, info where they could not', () => {
  const on = (host: string) => ({ annotations: { host } });
  const shared = checkCluster(
    viewOf({
      primaries: 3,
      replicas: 1,
      nodes: { p0: on('a'), p0r0: on('a'), p1: on('b'), p1r0: on('c'), p2: on('c'), p2r0: on('b') },
    }),
  );
  const finding = only(shared, 'PLACEMENT');
  assert.equal(finding.severity, 'degraded');
  assert.deepEqual(finding.nodes, [idOf('p0'), idOf('p0r0')]);

  const oneHost = checkCluster(
    viewOfNodes(clusterNodes({ primaries: 3, replicas: 1 }).map((node) => ({ ...node, ...on('same') }))),
  );
  assert.equal(only(oneHost, 'PLACEMENT').severity, 'info');
  assert.ok(isClean(oneHost));

  const bunched = checkCluster(
    viewOf({
      primaries: 3,
      replicas: 1,
      nodes: { p0: on('a'), p0r0: on('b'), p1: on('a'), p1r0: on('c'), p2: on('c'), p2r0: on('b') },
    }),
  );
  assert.deepEqual(
    bunched.filter((each) => each.severity === 'degraded').map((each) => [each.code, each.nodes]),
    [['PLACEMENT', [idOf('p0'), idOf('p1')]]],
  );

  const nameless = checkCluster(viewOf({ primaries: 3, replicas: 1 }), { spreadBy: ['zone', 'host'] });
  assert.ok(isClean(nameless));
  assert.match(only(nameless, 'PLACEMENT').message, /zone of .* is not known/);
});

test('a running atomic job is told once, although both sides list it', () => {
  const job = {
    name: 'j',
    operation: 'export' as const,
    slots: [[0, 9]] as const,
    sourceId: idOf('p0'),
    targetId: idOf('p1'),
    state: 'snapshotting',
    message: '',
  };
  const view = viewOf({
    primaries: 3,
    nodes: { p0: { atomicJobs: [job] }, p1: { atomicJobs: [{ ...job, operation: 'import' }] } },
  });
  const finding = only(checkCluster(view), 'ATOMIC_JOB');
  assert.equal(finding.severity, 'info');
  assert.deepEqual(finding.slots, [[0, 9]]);
});

test('no cluster at all: everything is uncovered', () => {
  const findings = checkCluster(viewOfNodes([freshNode('a'), freshNode('b', { port: 7001 })]));
  assert.equal(countSlots(only(findings, 'SLOT_UNCOVERED').slots ?? []), 16_384);
  const nothing: ClusterView = { observedAt: 0, nodes: [], silent: [] };
  assert.ok(!isClean(checkCluster(nothing)));
});

test('findings come worst first and each has a message, a remedy and known nodes, whatever the view', () => {
  const damage = fc.record({
    unreachable: fc.option(fc.constant('no answer'), { nil: undefined }),
    flags: fc.subarray(['fail', 'fail?', 'noaddr']),
    slots: fc.option(fc.constantFrom('', '0-10', '5-16383'), { nil: undefined }),
    epoch: fc.nat({ max: 3 }),
    linkUp: fc.boolean(),
    knows: fc.option(fc.subarray([idOf('p0'), idOf('p1'), idOf('p2')]), { nil: undefined }),
  });
  const rank = { broken: 0, degraded: 1, info: 2 };
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('p0', 'p1', 'p2', 'p0r0', 'p1r0'), damage), (damages) => {
      const nodes = Object.fromEntries(
        Object.entries(damages).map(([name, changes]) => [
          name,
          Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)),
        ]),
      );
      const view = viewOf({ primaries: 3, replicas: 1, nodes });
      const findings = checkCluster(view);
      const ids = new Set(view.nodes.map((node) => node.id));
      for (const [index, finding] of findings.entries()) {
        assert.ok(finding.message.length > 10);
        assert.ok(finding.remedy.length > 10);
        assert.ok(!finding.remedy.includes('ADDRESS'));
        for (const id of finding.nodes) assert.ok(ids.has(id));
        const before = findings[index - 1];
        if (before) assert.ok(rank[before.severity] <= rank[finding.severity]);
      }
      const unread = view.nodes.filter((node) => !node.report.known);
      const split = new Set(
        findings.filter((finding) => finding.code === 'SPLIT_CLUSTER').flatMap((finding) => finding.nodes),
      );
      for (const node of unread) {
        if (split.has(node.id) || node.heard.length === 0) continue;
        assert.ok(findings.some((finding) => finding.code === 'NODE_UNREACHABLE' && finding.nodes.includes(node.id)));
      }
    }),
    { numRuns: 150 },
  );
});

test('a shard view for clients that differs from the node table is told and names who is misplaced', () => {
  const view = viewOf({ primaries: 3, replicas: 1, nodes: { p0: { misplacedInShards: [idOf('p1r0')] } } });
  const found = checkCluster(view).filter(({ code }) => code === 'SHARDS_DIFFER');
  assert.deepEqual(
    found.map(({ severity, nodes }) => ({ severity, nodes })),
    [{ severity: 'info', nodes: [idOf('p0'), idOf('p1r0')] }],
  );
});
