import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson, known, type Member, MOST_REPORT_BYTES, unknown } from '@reeve/runtime';
import type { NodeLine, NodeReport } from '../api/view.ts';
import { idOf, type TestNode, type ViewOptions, viewOf } from '../plan/testing.ts';
import { boundedAnnotations, factsOf, MOST_ANNOTATION_BYTES, reportedFacts } from './facts.ts';
import { viewDigest } from './view-digest.ts';

const RUN = 'a'.repeat(40);

function reportOf(name: string, options: ViewOptions): NodeReport {
  const node = viewOf(options).nodes.find(({ id }) => id === idOf(name));
  assert.ok(node?.report.known);
  return node.report.value;
}

function edited(edit: (report: NodeReport) => NodeReport): NodeReport {
  return reportOf('p0', { primaries: 3, replicas: 1, nodes: { p0: { report: edit } } });
}

test('a primary: who it is, what it owns, how it sees the others', () => {
  const report = reportOf('p0', {
    primaries: 3,
    replicas: 1,
    nodes: {
      p0: { keys: { 1: 4, 2: 5 }, migrating: [{ slot: 1, peer: idOf('p1') }], maxBytes: 5_000_000 },
      p1: { flags: ['fail'], unreachable: 'dead' },
      p2: { flags: ['fail?'] },
    },
  });
  assert.deepEqual(factsOf(report, RUN, { cluster: 'shop', annotations: { zone: 'a' } }), {
    node: idOf('p0'),
    run: RUN,
    address: '10.0.0.1:7000@17000',
    cluster: 'shop',
    role: 'primary',
    slotCount: 5462,
    slots: '0-5461',
    openSlots: 1,
    jobs: 0,
    configEpoch: 1,
    currentEpoch: 3,
    state: 'ok',
    size: 3,
    product: 'valkey',
    version: '9.1.2',
    capabilities: ['atomicMigration', 'slotStats', 'functions'],
    nodeTimeoutMs: 15_000,
    functions: 0,
    keys: 9,
    usedBytes: 1_000_000,
    maxBytes: 5_000_000,
    offset: 100,
    others: {
      known: 5,
      failed: 1,
      suspected: 1,
      handshakes: 0,
      unlinked: 1,
      missing: [idOf('p1'), idOf('p2')],
    },
    annotations: { zone: 'a' },
  });
});

test('a replica: its primary and the link to it', () => {
  const of = (changes: Partial<TestNode>) =>
    factsOf(reportOf('p0r0', { primaries: 3, replicas: 1, nodes: { p0r0: changes } }), RUN);
  assert.equal(of({}).primary, idOf('p0'));
  assert.deepEqual([of({}).link, of({ linkUp: false }).link], ['up', 'down']);
  const syncing = of({
    report: (report) => ({
      ...report,
      replication: { role: 'replica', offset: 7, linkUp: false, syncInProgress: true },
    }),
  });
  assert.deepEqual([syncing.link, syncing.offset, syncing.slots], ['syncing', 7, '']);
});

test('what the server does not tell is left out, not guessed', () => {
  const facts = factsOf(
    edited((report) => ({
      ...report,
      server: { ...report.server, nodeTimeoutMs: unknown('denied') },
      functionLibraries: unknown('denied'),
      atomicJobs: unknown('denied'),
    })),
    RUN,
  );
  assert.deepEqual([facts.nodeTimeoutMs, facts.functions, facts.jobs], [undefined, undefined, undefined]);
});

test('slots in very many ranges: their number and a digest, which changes with them', () => {
  const everySecond = (count: number) => Array.from({ length: count }, (_, n) => [2 * n, 2 * n] as const);
  const of = (count: number) =>
    factsOf(
      edited((report) => ({ ...report, self: { ...report.self, slots: everySecond(count) } })),
      RUN,
    );
  assert.equal(of(20).slots?.startsWith('0,2,4'), true);
  const many = of(8_000);
  assert.deepEqual([many.slots, many.slotCount, many.slotRanges], [undefined, 8_000, 8_000]);
  assert.notEqual(many.slotsDigest, of(7_999).slotsDigest);
});

test('the longest report fits into a member', () => {
  const missing: NodeLine[] = Array.from({ length: 999 }, (_, n) => ({
    id: idOf(`n${n}`),
    host: '2001:0db8:85a3:0000:0000:8a2e:0370:7334',
    port: 65_535,
    busPort: 55_535,
    flags: ['slave', n % 2 ? 'fail' : 'fail?'],
    role: 'replica',
    primaryId: idOf('p0'),
    configEpoch: Number.MAX_SAFE_INTEGER,
    linkUp: false,
    slots: [],
    migrating: [],
    importing: [],
  }));
  const huge = Number.MAX_SAFE_INTEGER;
  const report = edited((one) => ({
    ...one,
    self: {
      ...one.self,
      host: '2001:0db8:85a3:0000:0000:8a2e:0370:7334',
      role: 'replica',
      primaryId: idOf('p1'),
      configEpoch: huge,
      slots: Array.from({ length: 26 }, (_, n) => [10_000 + 4 * n, 10_001 + 4 * n] as const),
      migrating: Array.from({ length: 8_000 }, (_, slot) => ({ slot, peer: idOf('p1') })),
    },
    others: missing,
    info: { state: 'fail', size: huge, currentEpoch: huge },
    memory: { usedBytes: huge, maxBytes: huge, systemBytes: huge },
    keyspace: { 0: huge },
    replication: { role: 'replica', offset: huge, linkUp: false, syncInProgress: true },
    server: {
      ...one.server,
      version: `255.255.255-${'x'.repeat(500)}`,
      nodeTimeoutMs: known(huge),
      capabilities: { atomicMigration: true, redisAtomicMigration: true, slotStats: true, functions: true },
    },
  }));
  const annotations = { zone: 'z'.repeat(MOST_ANNOTATION_BYTES - '{"zone":""}'.length) };
  const facts = factsOf(report, RUN, { cluster: 'c'.repeat(63), annotations });
  assert.ok(facts.slots && facts.slots.length > 300, 'the slots are told as text');
  const bytes = Buffer.byteLength(canonicalJson({ facts, digest: viewDigest(report) }));
  assert.ok(bytes <= MOST_REPORT_BYTES, `${bytes} bytes`);
});

test('of annotations that are too long together as many are told as fit', () => {
  const rack = 'r'.repeat(MOST_ANNOTATION_BYTES);
  assert.deepEqual(boundedAnnotations({ zone: 'a', rack, host: 'h' }), { host: 'h', zone: 'a' });
  const labels = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`key-${at}`, 'v'.repeat(200)]));
  const kept = boundedAnnotations(labels);
  assert.deepEqual(Object.keys(kept), ['key-0', 'key-1']);
  assert.ok(Buffer.byteLength(JSON.stringify(kept)) <= MOST_ANNOTATION_BYTES);
});

test('the manager reads facts only from a report that can be relied upon', () => {
  const member = (report: NonNullable<Member['status']>['report']): Member => ({
    metadata: { name: 'm' },
    spec: { system: 'redis', endpoint: { host: 'h', port: 1 }, host: 'h' },
    ...(report && { status: { report } }),
  });
  const facts = factsOf(reportOf('p0', { primaries: 3 }), RUN) as unknown as Record<string, unknown>;
  assert.deepEqual(reportedFacts(member({ facts })), known(facts));
  assert.equal(reportedFacts(member(undefined)).known, false);
  assert.deepEqual(reportedFacts(member({ facts, unknown: 'no connection' })), unknown('no connection'));
  for (const wrong of [{}, { ...facts, node: 'me' }, { ...facts, role: 'boss' }, { ...facts, slotCount: '1' }]) {
    assert.equal(reportedFacts(member({ facts: wrong })).known, false);
  }
});
