/** What the check says of nodes that see the cluster differently, compared with what every single table says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatSlots } from '../api/slots.ts';
import type { ClusterView, NodeId, NodeLine, NodeReport } from '../api/view.ts';
import { checkMembership, checkReachability, checkRoles } from './check-nodes.ts';
import { checkViews } from './check-slots.ts';
import { clusterNodes, idOf, viewOfNodes } from './testing.ts';
import { isHandshake, members, type ReportedNode, reported } from './topology.ts';

const NAMES = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'];

type Change = (others: readonly NodeLine[], about: NodeId, self: NodeLine) => readonly NodeLine[];

const edited =
  (changes: Partial<NodeLine>): Change =>
  (others, about) =>
    others.map((line) => (line.id === about ? { ...line, ...changes } : line));
/** Known by name, so that a failing example can be read. */
const CHANGES: Readonly<Record<string, Change>> = {
  forgotten: (others, about) => others.filter(({ id }) => id !== about),
  failed: edited({ flags: ['master', 'fail'], linkUp: false }),
  suspected: edited({ flags: ['master', 'fail?'] }),
  lost: edited({ flags: ['slave', 'noaddr'], host: '', port: 0 }),
  empty: edited({ slots: [] }),
  moved: edited({ slots: [[0, 99]] }),
  primary: edited({ role: 'primary', primaryId: '' }),
  replica: edited({ role: 'replica', primaryId: idOf('p1') }),
  elsewhere: edited({ host: '10.9.9.9', linkUp: false }),
  same: edited({}),
  greeting: (others, about, self) => [...others, { ...self, id: `${about.slice(2)}ff`, flags: ['handshake'] }],
};

const anyView = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES), fc.constantFrom(...Object.keys(CHANGES))), {
      maxLength: 8,
    }),
    fc.array(fc.constantFrom(...NAMES), { maxLength: 2 }),
  )
  .map(([edits, dead]): ClusterView => {
    const edit = (name: string) => (report: NodeReport) => {
      let { others } = report;
      for (const [by, about, kind] of edits) {
        if (by === name) others = CHANGES[kind]?.(others, idOf(about), report.self) ?? others;
      }
      return { ...report, others };
    };
    const nodes = Object.fromEntries(
      NAMES.map((name) => [name, { report: edit(name), ...(dead.includes(name) && { unreachable: 'refused' }) }]),
    );
    return viewOfNodes(clusterNodes({ primaries: 3, replicas: 1, nodes }));
  });

const linesOf = (node: ReportedNode) => node.report.value.others.filter((line) => !isHandshake(line));

/** Who has a line about a node that is so. */
function whoSees(view: ClusterView, about: NodeId, isSo: (line: NodeLine) => boolean): readonly NodeId[] {
  return reported(view)
    .filter((node) => linesOf(node).some((line) => line.id === about && isSo(line)))
    .map(({ id }) => id);
}

function holds(about: string, property: (view: ClusterView) => void): void {
  test(about, () => fc.assert(fc.property(anyView, property), { numRuns: 150 }));
}

holds('whom a table lacks, for whom it has no address, whom its owner greets', (view) => {
  const expected = reported(view).flatMap((node) => {
    const known = new Set(linesOf(node).map(({ id }) => id));
    const missing = members(view).filter(({ id }) => id !== node.id && !known.has(id));
    const lost = linesOf(node).filter(({ flags }) => flags.includes('noaddr'));
    const groups = [missing, lost].filter(({ length }) => length > 0).map((some) => some.map(({ id }) => id).sort());
    const greetings = node.report.value.others.filter(isHandshake).map(() => []);
    return [...groups, ...greetings].map((ids) => [node.id, ...ids]);
  });
  assert.deepEqual(
    checkMembership(view).map(({ nodes: [by, ...about] }) => [by, ...about.sort()]),
    expected,
  );
});

holds('who sees other owners than most', (view) => {
  const mapOf = (node: ReportedNode) =>
    [node.report.value.self, ...linesOf(node)]
      .filter(({ slots }) => slots.length > 0)
      .map(({ id, slots }) => `${id}:${formatSlots(slots)}`)
      .sort()
      .join(' ');
  const groups = [...Map.groupBy(reported(view), mapOf).values()].sort((a, b) => b.length - a.length);
  assert.deepEqual(
    checkViews(view).map(({ nodes }) => nodes),
    groups.slice(1).map((group) => group.map(({ id }) => id)),
  );
});

holds('who is failed or suspected, and who is looked for elsewhere', (view) => {
  const found = checkReachability(view);
  const about = (code: string) => found.filter((finding) => finding.code === code).flatMap(({ nodes }) => nodes);
  const flagged = (id: NodeId, flag: string) => whoSees(view, id, ({ flags }) => flags.includes(flag)).length > 0;
  const ids = members(view).map(({ id }) => id);
  assert.deepEqual(
    about('NODE_FAILED'),
    ids.filter((id) => flagged(id, 'fail')),
  );
  assert.deepEqual(
    about('NODE_SUSPECTED'),
    ids.filter((id) => flagged(id, 'fail?') && !flagged(id, 'fail')),
  );
  assert.deepEqual(
    about('ADDRESS_CHANGED'),
    reported(view)
      .filter(({ id, endpoint }) => whoSees(view, id, ({ host }) => host !== '' && host !== endpoint.host).length > 0)
      .map(({ id }) => id),
  );
});

holds('whose role is disputed', (view) => {
  const disputed = members(view).filter((node) => {
    const opinions = node.report.known ? [node.report.value.self] : [];
    for (const each of reported(view)) opinions.push(...linesOf(each).filter(({ id }) => id === node.id));
    const known = opinions.filter(
      ({ role, primaryId }) => node.report.known || role === 'primary' || primaryId !== undefined,
    );
    return new Set(known.map(({ role, primaryId }) => (role === 'primary' ? '' : (primaryId ?? '-')))).size > 1;
  });
  const found = checkRoles(view).filter(({ message }) =>
    /^\S+ \(\S+\) is (?:primary|replica of \S+.*) for /.test(message),
  );
  assert.deepEqual(
    found.map(({ nodes }) => nodes[0]),
    disputed.map(({ id }) => id),
  );
});
