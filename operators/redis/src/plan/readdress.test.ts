import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeReport } from '../api/view.ts';
import { fixOperation } from './fix.ts';
import { brief } from './moves-testing.ts';
import { lostSights, movedNodes, planReaddress } from './readdress.ts';
import { clusterNodes, idOf, type TestNode, viewOfNodes } from './testing.ts';

/** Everybody looks for the moved nodes at their old addresses, and the moved ones for everybody who moved. */
function restarted(moved: readonly string[]): readonly TestNode[] {
  const ids = new Set(moved.map(idOf));
  const old = new Map(clusterNodes({ primaries: 3, replicas: 1 }).map((node) => [node.id, node.host]));
  return clusterNodes({ primaries: 3, replicas: 1 }).map((node) => ({
    ...node,
    ...(ids.has(node.id) ? { host: node.host.replace('10.0.0', '10.9.9') } : {}),
    report: (report: NodeReport): NodeReport => ({
      ...report,
      others: report.others.map((line) =>
        ids.has(line.id) ? { ...line, host: old.get(line.id) ?? '', linkUp: false } : line,
      ),
    }),
  }));
}

test('a healthy cluster is left alone', () => {
  assert.equal(planReaddress(viewOfNodes(clusterNodes({ primaries: 3, replicas: 1 })), 0, []), undefined);
});

test('one node moved: each of the others meets it once, at its new address', () => {
  const view = viewOfNodes(restarted(['p1r0']));
  assert.deepEqual(movedNodes(view), [idOf('p1r0')]);
  const plan = planReaddress(view, 0, []);
  assert.deepEqual(brief(plan?.commands ?? []), ['meet p0→p1r0 p0r0→p1r0 p1→p1r0 p2→p1r0 p2r0→p1r0']);
  const [meet] = plan?.commands ?? [];
  assert.ok(meet?.type === 'meet');
  assert.ok(meet.pairs.every(({ to, toBusPort }) => to.endpoint.host === '10.9.9.4' && toBusPort === 17000));
});

test('all moved: every pair meets once', () => {
  const all = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'];
  const view = viewOfNodes(restarted(all));
  assert.equal(lostSights(view).length, 30);
  const [meet] = planReaddress(view, 0, [])?.commands ?? [];
  assert.ok(meet?.type === 'meet');
  assert.equal(meet.pairs.length, 15);
  const names = new Set(meet.pairs.map(({ from, to }) => [from.id, to.id].sort().join(' ')));
  assert.equal(names.size, 15);
});

test('what has been sent is not sent again: a running MEET, an open handshake', () => {
  const nodes = restarted(['p1r0']);
  const [command] = planReaddress(viewOfNodes(nodes), 0, [])?.commands ?? [];
  assert.ok(command);
  const running = planReaddress(viewOfNodes(nodes), 0, [{ command, startedAt: 0 }]);
  assert.deepEqual(running?.commands, []);
  assert.deepEqual(
    running?.waitingFor?.map(({ reason }) => reason),
    ['AddressSpread'],
  );
  const shaking = nodes.map((node) => ({
    ...node,
    report: (report: NodeReport): NodeReport => {
      const own = node.report?.(report) ?? report;
      const line = { ...own.self, id: 'f'.repeat(40), host: '10.9.9.4', flags: ['handshake'], slots: [] };
      return node.id === idOf('p0') ? { ...own, others: [...own.others, line] } : own;
    },
  }));
  const plan = planReaddress(viewOfNodes(shaking), 0, []);
  assert.deepEqual(brief(plan?.commands ?? []), ['meet p0r0→p1r0 p1→p1r0 p2→p1r0 p2r0→p1r0']);
});

test('a link that is up proves the address, whatever it is', () => {
  const nodes = clusterNodes({ primaries: 3 }).map((node) => ({
    ...node,
    report: (report: NodeReport): NodeReport => ({
      ...report,
      others: report.others.map((line) => ({ ...line, host: 'inside.example' })),
    }),
  }));
  assert.deepEqual(lostSights(viewOfNodes(nodes)), []);
});

test('reached by name, a node is introduced at the address it says itself', () => {
  const view = viewOfNodes(restarted(['p1r0']));
  const named = {
    ...view,
    nodes: view.nodes.map((node) => ({ ...node, endpoint: { host: 'localhost', port: node.endpoint.port } })),
  };
  const [meet] = planReaddress(named, 0, [])?.commands ?? [];
  assert.ok(meet?.type === 'meet');
  assert.ok(meet.pairs.every(({ to }) => to.endpoint.host === '10.9.9.4'));
});

test('a fix introduces nodes at their new addresses before it does anything else', () => {
  const nodes = restarted(['p1r0']).map((node) => (node.id === idOf('p0') ? { ...node, slots: '0-5000' } : node));
  const decision = fixOperation.decide({}, viewOfNodes(nodes));
  assert.ok('goal' in decision);
  const plan = fixOperation.plan(decision.goal, viewOfNodes(nodes), 0, []);
  assert.deepEqual(
    plan.commands.map(({ type }) => type),
    ['meet'],
  );
});
