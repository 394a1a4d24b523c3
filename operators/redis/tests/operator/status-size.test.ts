/** The resource of a thousand nodes, as an API server keeps it: who owns which field is a part of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crdOf } from '@reeve/runtime';
import { seededRandom, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { type MemberStatus, redisClusterKind, type RedisClusterStatus } from '../../src/api/cluster.ts';
import type { FindingCode } from '../../src/api/findings.ts';
import { redisClusters } from '../../src/api/kinds.ts';
import { statusOf, type TurnFacts } from '../../src/controllers/turn-status.ts';
import { MOST_STATUS_BYTES } from '../../src/plan/bounded-status.ts';
import { desiredOf } from '../../src/plan/desired.ts';
import { NAMESPACE } from './kubelet.ts';

/** DESIGN: objects stay under 256 KB at 1,000 nodes. */
const MOST_OBJECT_BYTES = 256 * 1_024;
const SHARDS = 500;
/** Longer than people like them. */
const NAME = 'payments-and-orders-cache-of-the-production';
const NOW = Date.parse('2026-01-01T00:00:00Z');
const spec = { primaries: SHARDS, replicasPerPrimary: 1, config: { maxmemory: '10gb' }, storage: { size: '100Gi' } };

const id = (at: number) => at.toString(16).padStart(40, 'abcdef0123456789');
const podName = (at: number) => `${NAME}-${at}`;
const clause = (length: number) => 'a node of the cluster and what is said of it, '.repeat(length).slice(0, length);

function members(change: (at: number) => Partial<MemberStatus>, slots: string): readonly MemberStatus[] {
  return Array.from({ length: 2 * SHARDS }, (_, at) => {
    const role =
      at < SHARDS ? ({ role: 'primary', slots } as const) : ({ role: 'replica', of: podName(at - SHARDS) } as const);
    return { pod: podName(at), id: id(at), ...role, ...change(at) };
  });
}

function statusWith(all: readonly MemberStatus[], changes: Partial<TurnFacts> = {}): RedisClusterStatus {
  const view = { observedAt: NOW, nodes: [], silent: [] };
  const topology = { primaries: SHARDS, replicas: SHARDS, slots: 16_384, server: 'valkey 9.1.2', members: all };
  return statusOf({
    before: {},
    generation: 1_234,
    now: NOW,
    isPaused: false,
    configured: true,
    desired: desiredOf(spec),
    roster: undefined,
    seen: { members: [], view, findings: [] },
    chosen: [],
    topology,
    problems: [],
    setbacks: [],
    approvals: 0,
    strays: undefined,
    undeclared: undefined,
    unproved: undefined,
    unseen: undefined,
    offer: undefined,
    taken: undefined,
    waitingFor: [],
    progress: undefined,
    proposed: undefined,
    current: undefined,
    history: [],
    ...changes,
  });
}

/** What the server keeps, as it would be sent to whoever asks. */
async function stored(
  status: RedisClusterStatus,
): Promise<{ readonly bytes: number; readonly status: RedisClusterStatus }> {
  const api = await ApiWorld.open({
    clock: new VirtualClock(NOW),
    random: seededRandom(1),
    snapshot: await snapshotOf({ namespaces: [NAMESPACE], definitions: [crdOf(redisClusterKind)] }),
    onError: (error) => assert.fail(String(error)),
  });
  const own = api.client.resource(redisClusters, NAMESPACE);
  await own.create({ metadata: { name: NAME }, spec } as never);
  const asOperator = { subresource: 'status', fieldManager: 'redis', force: true } as const;
  await own.apply({ metadata: { name: NAME }, status } as never, asOperator);
  const kept = await own.get(NAME);
  return { bytes: Buffer.byteLength(JSON.stringify(kept)), status: kept.status ?? {} };
}

/** Sixteen ranges of each primary: the most that is told. */
const scattered = Array.from({ length: 16 }, (_, at) => `${10_000 + at * 10}-${10_001 + at * 10}`).join(',');

test('a thousand nodes with long names whose slots lie scattered: all of them are told, within what an object may hold', async (t) => {
  const { bytes, status } = await stored(statusWith(members(() => ({}), scattered)));
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes < MOST_OBJECT_BYTES, `${bytes} bytes`);
  assert.equal(status.members?.length, 2 * SHARDS);
  assert.deepEqual([status.members[0]?.slots, status.members[SHARDS]?.of], ['32 slots in 16 ranges', podName(0)]);
});

test('with short names and whole ranges nothing is left out', () => {
  const all = members(
    (at) => ({ pod: `cache-${at}`, ...(at >= SHARDS && { of: `cache-${at - SHARDS}` }) }),
    '0-31,16000',
  );
  assert.deepEqual(statusWith(all).members, all);
});

test('a zone dies in the middle of a move of all slots: the silent are told, within what an object may hold', async (t) => {
  const collectedAt = '2026-01-01T00:00:00Z';
  const all = members((at) => (at % 3 === 0 ? { silent: true, collectedAt } : {}), '0-31');
  const codes: readonly FindingCode[] = [
    'NODE_FAILED',
    'NODE_UNREACHABLE',
    'SLOT_OPEN',
    'SLOT_UNCOVERED',
    'VIEWS_DIFFER',
    'REPLICA_MISSING',
    'REPLICA_LINK_DOWN',
    'PLACEMENT',
  ];
  const findings = codes.flatMap((code) =>
    Array.from(
      { length: 20 },
      () => ({ code, severity: 'broken', message: clause(150), remedy: clause(50), nodes: [] }) as const,
    ),
  );
  const moves = Array.from({ length: 250 }, (_, at) => ({
    source: id(at),
    target: id(at + 250),
    slots: '10000-10032',
  }));
  const standIns = Object.fromEntries(Array.from({ length: SHARDS }, (_, at) => [id(at), [id(at + SHARDS)]]));
  const operation = {
    id: 'rebalance-0123456789',
    kind: 'rebalance',
    why: clause(300),
    trigger: { kind: 'RedisCluster', name: NAME, uid: '00000000-0000-0000-0000-000000000000' },
    startedAt: collectedAt,
  };
  const goal = { moves, standIns, engine: 'auto', pace: 'gentle' };
  const past = { ...operation, endedAt: collectedAt, outcome: 'failed', message: clause(500) } as const;
  const subjects = Array.from({ length: 16 }, (_, at) => podName(at));
  const status = statusWith(all, {
    seen: { members: [], view: { observedAt: NOW, nodes: [], silent: [] }, findings },
    current: { ...operation, goal },
    history: Array.from({ length: 10 }, () => past),
    chosen: Array.from({ length: 50 }, (_, at) => id(at)),
    waitingFor: Array.from({ length: 8 }, () => ({ reason: 'ServersSilent', message: clause(500), subjects })),
  });
  const kept = await stored(status);
  t.diagnostic(`${kept.bytes} bytes, ${kept.status.members?.length ?? 0} members`);
  assert.ok(kept.bytes < MOST_OBJECT_BYTES, `${kept.bytes} bytes`);
  assert.ok(Buffer.byteLength(JSON.stringify(kept.status)) <= MOST_STATUS_BYTES);
  assert.deepEqual(
    kept.status.members,
    all.filter(({ silent }) => silent),
  );
  assert.deepEqual(kept.status.currentOperation?.goal, goal, 'a goal is never cut');
});
