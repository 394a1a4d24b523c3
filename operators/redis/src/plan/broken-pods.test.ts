import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenPods } from './broken-pods.ts';
import { CLIENT_PORT } from './children.ts';
import { desiredOf } from './desired.ts';
import { nextSteps } from './next.ts';
import { type PodFacts, type PodMember, podMembers } from './pods.ts';
import { clusterNodes, type TestNode, viewOfNodes } from './testing.ts';

const volumes = { storage: { size: '1Gi' } };
/** Of an image that does not exist, where another one is asked for by now. */
const unpulled: Partial<PodFacts> = {
  ip: '10.9.9.9',
  isReady: false,
  isCurrent: false,
  server: 'unstarted',
  trouble: { reason: 'ErrImagePull', message: 'no such image' },
};

/** A cluster whose last pod, that of `p2r0`, is told to be so. */
function look(pod: Partial<PodFacts>, { node = {}, spec = {} }: { node?: Partial<TestNode>; spec?: object } = {}) {
  const silent = { unreachable: 'no answer', flags: ['fail'], ...node };
  const nodes = clusterNodes({ primaries: 3, replicas: 1, nodes: { p2r0: silent } }).map((one) => ({
    ...one,
    port: CLIENT_PORT,
  }));
  const view = viewOfNodes(nodes);
  const pods = nodes.map(
    ({ host }, ordinal): PodFacts => ({
      name: `c-${ordinal}`,
      uid: `uid-${ordinal}`,
      ordinal,
      ip: host,
      isReady: true,
      isDeleting: false,
      isCurrent: true,
      server: 'running',
      annotations: {},
      ...(ordinal === 5 ? pod : {}),
    }),
  );
  const desired = desiredOf({ primaries: 3, replicasPerPrimary: 1, ...spec });
  return { desired, members: podMembers(pods, view), view, findings: [], configured: true };
}

const withoutNode = ({ node: _node, ...pod }: PodMember): PodFacts => pod;
const names = (...args: Parameters<typeof look>) => brokenPods(look(...args)).map(({ pod }) => pod.name);

test('a pod that does not start and is of an old kind is made anew, before anything else, and says why', () => {
  const [wish] = nextSteps(look(unpulled)).wishes;
  assert.ok(wish?.what === 'restart');
  assert.equal(wish.pod.uid, 'uid-5');
  assert.match(wish.why, /c-5 does not start \(ErrImagePull\)/);
  assert.deepEqual(names({ ...unpulled, server: 'down' }), ['c-5']);
});

test('one of the kind that is asked for, one that is ready, and one that goes already are left alone', () => {
  assert.deepEqual(names({ ...unpulled, isCurrent: true }), []);
  assert.deepEqual(names({ ...unpulled, isReady: true }), []);
  assert.deepEqual(names({ ...unpulled, isDeleting: true }), []);
});

test('one that may live is never made anew: its process runs, nobody says, it answers, or others hear it', () => {
  assert.deepEqual(names({ ...unpulled, server: 'running' }, { spec: volumes }), []);
  const { server: _server, ...untold } = unpulled;
  const facts = look(untold, { spec: volumes });
  const silent = facts.members.map(({ server, ...pod }) =>
    pod.ordinal === 5 ? pod : { ...pod, ...(server && { server }) },
  );
  assert.deepEqual(brokenPods({ ...facts, members: silent }), []);
  const own = look({}).members[5]?.ip ?? '';
  const alive: Partial<TestNode> = { unreachable: 'no answer', flags: [] };
  assert.deepEqual(names({ ...unpulled, ip: own }, { spec: volumes, node: alive }), []);
  assert.deepEqual(names({ ...unpulled, ip: own }, { spec: volumes, node: { flags: ['fail?'] } }), ['c-5']);
  const view = viewOfNodes(clusterNodes({ primaries: 3, replicas: 1 }).map((one) => ({ ...one, port: CLIENT_PORT })));
  const answering = look({ ...unpulled, ip: own });
  const members = podMembers(answering.members.map(withoutNode), view);
  assert.deepEqual(brokenPods({ ...answering, view, members }), []);
});

test('without a volume one that ran once holds what nobody else may have: it waits until every slot is served', () => {
  const lost = (pod: Partial<PodFacts>, spec: object) => {
    const facts = look(pod, { spec });
    const nodes = facts.view.nodes.filter(({ id }) => id !== facts.members[4]?.node?.id);
    return brokenPods({ ...facts, view: { ...facts.view, nodes } }).map(({ pod: { name } }) => name);
  };
  assert.deepEqual(lost({ ...unpulled, server: 'down' }, {}), []);
  assert.deepEqual(lost({ ...unpulled, server: 'down' }, volumes), ['c-5']);
  assert.deepEqual(lost(unpulled, {}), ['c-5'], 'nothing was ever in it');
});
