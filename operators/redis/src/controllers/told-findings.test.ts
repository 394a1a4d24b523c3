import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../api/findings.ts';
import type { NodeId } from '../api/view.ts';
import { MOST_NEWS, ToldFindings } from './told-findings.ts';

const node = (at: number) => `${at}`.repeat(40) as NodeId;
const finding = (code: Finding['code'], ...nodes: readonly NodeId[]): Finding => ({
  code,
  severity: 'degraded',
  message: `${code} of ${nodes.length}`,
  remedy: '',
  nodes,
});
const stands = (type: string) =>
  [{ type, status: 'True', reason: 'Degraded', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }] as const;
const told = (findings: ToldFindings, now: readonly Finding[], before?: Parameters<ToldFindings['news']>[1]) =>
  findings.news(now, before).map(({ reason, node: about }) => `${reason} ${about?.[0] ?? ''}`.trim());

test('a finding is told when it comes, once, and again when it went away and came back', () => {
  const all = new ToldFindings();
  assert.deepEqual(told(all, [finding('NODE_FAILED', node(1))]), ['NodeFailed 1']);
  assert.deepEqual(told(all, [finding('NODE_FAILED', node(1))], stands('NodeFailed')), []);
  assert.deepEqual(told(all, []), []);
  assert.deepEqual(told(all, [finding('NODE_FAILED', node(1))]), ['NodeFailed 1']);
  assert.deepEqual(told(all, [{ ...finding('SLOT_OPEN', node(1)), severity: 'info' }]), []);
});

test('another node of the same kind is told while the first stands, also when both are in one finding', () => {
  const all = new ToldFindings();
  told(all, [finding('NODE_FAILED', node(1)), finding('STATE_FAIL', node(1))]);
  const both = [finding('NODE_FAILED', node(1)), finding('NODE_FAILED', node(2))];
  assert.deepEqual(told(all, [...both, finding('STATE_FAIL', node(1), node(2))], stands('NodeFailed')), [
    'NodeFailed 2',
    'StateFail 2',
  ]);
});

test('a new process does not tell again what conditions say already', () => {
  const all = new ToldFindings();
  assert.deepEqual(told(all, [finding('NODE_FAILED', node(1)), finding('SLOT_UNCOVERED')], stands('NodeFailed')), [
    'SlotUncovered',
  ]);
  const two = [finding('NODE_FAILED', node(1)), finding('NODE_FAILED', node(2))];
  assert.deepEqual(told(all, two, stands('NodeFailed')), ['NodeFailed 2']);
});

test('of very many only the worst are told, and how many there are besides', () => {
  const all = new ToldFindings();
  const many = Array.from({ length: 9 }, (_, at) => finding('NODE_FAILED', node(at)));
  const broken: Finding = { ...finding('SLOT_UNCOVERED'), severity: 'broken' };
  const news = all.news([...many, broken], undefined);
  assert.equal(news.length, MOST_NEWS);
  assert.equal(news[0]?.reason, 'SlotUncovered');
  assert.match(news.at(-1)?.note ?? '', /and 2 more findings/);
  assert.deepEqual(all.news([...many, broken], undefined), []);
});

test('of very many each kind is told once before any is told again, however many kinds there are', () => {
  const broken = Array.from(
    { length: 20 },
    (_, at): Finding => ({
      ...finding('NODE_UNREACHABLE', node(at)),
      severity: 'broken',
    }),
  );
  const degraded = [
    finding('NODE_SUSPECTED', node(1)),
    finding('SLOT_OPEN', node(2)),
    finding('NODE_UNREACHABLE', node(2)),
  ];
  assert.deepEqual(told(new ToldFindings(), [...broken, ...degraded]), [
    'NodeUnreachable 0',
    'NodeSuspected 1',
    'SlotOpen 2',
    ...[1, 2, 3, 4, 5].map((at) => `NodeUnreachable ${at}`),
  ]);
  const codes = [
    'NODE_FAILED',
    'NODE_SUSPECTED',
    'STATE_FAIL',
    'SLOT_UNCOVERED',
    'VIEWS_DIFFER',
    'SLOT_OPEN',
    'ROLES_DIFFER',
    'EPOCH_COLLISION',
    'REPLICA_MISSING',
    'PLACEMENT',
  ] as const;
  assert.ok(codes.length > MOST_NEWS);
  const kinds = codes.flatMap((code) => [finding(code, node(1)), finding(code, node(2))]);
  const news = new ToldFindings().news(kinds, undefined);
  assert.equal(new Set(news.map(({ reason }) => reason)).size, codes.length);
  assert.equal(news.length, codes.length);
  assert.match(news.at(-1)?.note ?? '', /and 10 more findings/);
});
