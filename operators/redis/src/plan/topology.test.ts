import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLOT_COUNT } from '../api/slots.ts';
import { freshNode, idOf, viewOf, viewOfNodes } from './testing.ts';
import {
  components,
  heardSlots,
  knows,
  likelySlots,
  members,
  nodeName,
  nodeNames,
  ownersBySlot,
  primaries,
  primaryIdOf,
  quorum,
  replicasOf,
  reported,
  roleOf,
} from './topology.ts';

test('owners come from the primaries own reports', () => {
  const view = viewOf({ primaries: 3, replicas: 1, nodes: { p1: { slots: '5460-10921' } } });
  const owners = ownersBySlot(view);
  assert.equal(owners.length, SLOT_COUNT);
  assert.deepEqual(owners[0], [idOf('p0')]);
  assert.deepEqual(owners[5460], [idOf('p0'), idOf('p1')]);
  assert.deepEqual(owners[10922], []);
});

test('a node that cannot be read keeps its role and slots as heard, but owns nothing by its own report', () => {
  const view = viewOf({
    primaries: 3,
    replicas: 1,
    nodes: { p0: { unreachable: 'refused' }, p1r0: { unreachable: 'refused' } },
  });
  const p0 = view.nodes.find((node) => node.id === idOf('p0'));
  assert.ok(p0);
  assert.equal(roleOf(p0), 'primary');
  assert.deepEqual(heardSlots(p0), [[0, 5461]]);
  assert.deepEqual(likelySlots(p0), [[0, 5461]]);
  assert.deepEqual(ownersBySlot(view)[0], []);
  assert.equal(primaries(view).length, 3);
  assert.equal(reported(view).length, 4);
  assert.deepEqual(
    replicasOf(view, idOf('p1')).map((node) => node.id),
    [idOf('p1r0')],
  );
});

test('an entry in handshake is no member, no primary and no acquaintance', () => {
  const phantom = idOf('phantom');
  const view = viewOf({
    primaries: 3,
    nodes: {
      p0: {
        report: (report) => ({
          ...report,
          others: [...report.others, { ...report.self, id: phantom, flags: ['handshake'], slots: [] }],
        }),
      },
    },
  });
  const withPhantom = {
    ...view,
    nodes: [
      ...view.nodes,
      {
        id: phantom,
        endpoint: { host: '10.0.0.9', port: 7000 },
        report: { known: false as const, why: 'handshake' },
        heard: [
          {
            by: [idOf('p0')],
            line: {
              ...(view.nodes[0]?.report.known ? view.nodes[0].report.value.self : assert.fail()),
              id: phantom,
              flags: ['handshake'],
            },
          },
        ],
        annotations: {},
      },
    ],
  };
  assert.equal(members(withPhantom).length, 3);
  assert.equal(primaries(withPhantom).length, 3);
  assert.equal(knows(withPhantom, idOf('p0'), phantom), false);
  assert.deepEqual(
    components(withPhantom).map((group) => group.length),
    [3],
  );
});

test('of several opinions about a silent node the one with the highest epoch counts', () => {
  const asReplica = { role: 'replica' as const, primaryId: idOf('p1'), slots: [], configEpoch: 9 };
  const view = viewOf({
    primaries: 3,
    nodes: {
      p0: { unreachable: 'refused' },
      p2: {
        report: (report) => ({
          ...report,
          others: report.others.map((line) => (line.id === idOf('p0') ? { ...line, ...asReplica } : line)),
        }),
      },
    },
  });
  const p0 = view.nodes.find((node) => node.id === idOf('p0'));
  assert.ok(p0);
  assert.equal(roleOf(p0), 'replica');
  assert.equal(primaryIdOf(p0), idOf('p1'));
});

test('quorum counts primaries with slots, at least as many as anybody counts', () => {
  assert.deepEqual(quorum(viewOf({ primaries: 3 })), { size: 3, reachable: 3, has: true });
  const oneDown = viewOf({ primaries: 3, nodes: { p0: { unreachable: 'x' } } });
  assert.deepEqual(quorum(oneDown), { size: 3, reachable: 2, has: true });
  const twoDown = viewOf({ primaries: 3, nodes: { p0: { unreachable: 'x' }, p1: { unreachable: 'x' } } });
  assert.deepEqual(quorum(twoDown), { size: 3, reachable: 1, has: false });
  const half = viewOf({ primaries: 4, nodes: { p0: { unreachable: 'x' }, p1: { unreachable: 'x' } } });
  assert.equal(quorum(half).has, false);
  const emptyPrimary = viewOf({ primaries: 3, extra: [freshNode('new')] });
  assert.equal(quorum(emptyPrimary).size, 3);
  const forgotten = viewOf({
    primaries: 3,
    nodes: { p0: { report: (report) => ({ ...report, info: { ...report.info, size: 7 } }) } },
  });
  assert.deepEqual(quorum(forgotten), { size: 7, reachable: 3, has: false });
  assert.equal(quorum(viewOfNodes([freshNode('a')])).has, false);
});

test('components: joined nodes are one group, strangers are others, one direction is enough', () => {
  const view = viewOf({
    primaries: 3,
    replicas: 1,
    extra: [freshNode('x'), freshNode('y', { knows: [idOf('z')] }), freshNode('z')],
  });
  assert.deepEqual(
    components(view).map((group) => group.length),
    [8, 1],
  );
  const apart = viewOfNodes([freshNode('a', { knows: [idOf('b')] }), freshNode('b'), freshNode('c')]);
  assert.deepEqual(components(apart), [[idOf('a'), idOf('b')], [idOf('c')]]);
});

test('names are short id and address', () => {
  const view = viewOf({ primaries: 3 });
  assert.equal(nodeName(view, idOf('p0')), '70300000 (10.0.0.1:7000)');
  assert.equal(nodeName(view, idOf('zz')), '7a7a0000');
  assert.equal(nodeNames(view, [idOf('p0'), idOf('p1'), idOf('p2')], 1), '70300000 (10.0.0.1:7000) and 2 more');
});
