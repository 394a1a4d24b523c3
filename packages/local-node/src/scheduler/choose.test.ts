import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Affinity, Pod, PodSpec } from '../kinds/pod.ts';
import type { VolumeClaim } from '../kinds/volumeclaim.ts';
import { type Choice, choose } from './choose.ts';
import { type ClusterView, viewsOf } from './cluster.ts';
import { fits } from './fits.ts';
import { requestsOf } from './requests.ts';
import type { Node, Taint } from '../kinds/node.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

function node(name: string, zone = 'z1', more: Partial<Node> = {}): Node {
  const allocatable = { cpu: '2', memory: '4Gi', pods: '3' };
  return { metadata: { name, labels: { [HOST]: name, [ZONE]: zone } }, status: { allocatable }, ...more };
}

function pod(spec: Partial<PodSpec> = {}, labels: Record<string, string> = { app: 'db' }, on?: string): Pod {
  const nodeName = on === undefined ? {} : { nodeName: on };
  return {
    metadata: { name: 'p', namespace: 'ns', labels },
    spec: { containers: [{ name: 'c' }], ...spec, ...nodeName },
  };
}

function cluster(nodes: readonly Node[], placed: readonly Pod[] = [], more: Partial<ClusterView> = {}) {
  return { nodes, placed, claims: new Map(), ...more };
}

const asking = (cpu: string, memory = '0') => ({
  containers: [{ name: 'c', resources: { requests: { cpu, memory } } }],
});
const db = { labelSelector: { matchLabels: { app: 'db' } } };
const shun = (topologyKey: string): Affinity => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...db, topologyKey }] },
});
const join = (topologyKey: string): Affinity => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...db, topologyKey }] },
});
const inZone = (zone: string, operator = 'In'): Affinity => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator, values: [zone] }] }],
    },
  },
});
const tainted = (effect: Taint['effect'], value = 'x') => ({ spec: { taints: [{ key: 'only', value, effect }] } });
const spread = (whenUnsatisfiable: string, maxSkew = 1) => ({
  topologySpreadConstraints: [{ ...db, maxSkew, topologyKey: ZONE, whenUnsatisfiable }],
});
const three = [node('a', 'z1'), node('b', 'z2'), node('c', 'z3')];
const why = (text: string) => `0/3 nodes are available: ${text}.`;

const rows: readonly (readonly [name: string, pod: Pod, view: ClusterView, expected: string])[] = [
  ['the first by name', pod(), cluster(three), 'a'],
  ['the emptier one', pod(), cluster(three, [pod({}, {}, 'a')]), 'b'],
  [
    'the less loaded one, not the one with fewer pods',
    pod(asking('1')),
    cluster([node('a'), node('b')], [pod(asking('1'), {}, 'a'), pod({}, {}, 'b'), pod({}, {}, 'b')]),
    'b',
  ],
  ['a node selector', pod({ nodeSelector: { [ZONE]: 'z3' } }), cluster(three), 'c'],
  ['node affinity', pod({ affinity: inZone('z2') }), cluster(three), 'b'],
  ['node affinity that excludes', pod({ affinity: inZone('z1', 'NotIn') }), cluster(three), 'b'],
  [
    'node affinity nowhere',
    pod({ affinity: inZone('z9') }),
    cluster(three),
    why("3 node(s) didn't match Pod's node affinity/selector"),
  ],
  ['cordoned', pod(), cluster([node('a', 'z', { spec: { unschedulable: true } }), node('b')]), 'b'],
  [
    'taints',
    pod(),
    cluster([node('a', 'z', tainted('NoSchedule')), node('b', 'z', tainted('NoExecute')), node('c')]),
    'c',
  ],
  ['a taint that only asks', pod(), cluster([node('a', 'z', tainted('PreferNoSchedule')), node('b')]), 'b'],
  [
    'tolerated',
    pod({ tolerations: [{ key: 'only', operator: 'Equal', value: 'x' }] }),
    cluster([node('a', 'z', tainted('NoSchedule'))]),
    'a',
  ],
  [
    'tolerated by existence',
    pod({ tolerations: [{ operator: 'Exists' }] }),
    cluster([node('a', 'z', tainted('NoExecute'))]),
    'a',
  ],
  [
    'tolerates another value',
    pod({ tolerations: [{ key: 'only', value: 'y' }] }),
    cluster([node('a', 'z', tainted('NoSchedule'))]),
    '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
  ],
  ['cpu', pod(asking('1500m')), cluster(three, [pod(asking('1'), {}, 'a'), pod(asking('501m'), {}, 'b')]), 'c'],
  ['cpu and memory', pod(asking('3', '5Gi')), cluster(three), why('3 Insufficient cpu, 3 Insufficient memory')],
  [
    'too many',
    pod(),
    cluster(
      [node('a')],
      [1, 2, 3].map(() => pod({}, {}, 'a')),
    ),
    '0/1 nodes are available: 1 Too many pods.',
  ],
  ['anti-affinity', pod({ affinity: shun(HOST) }), cluster(three, [pod({}, { app: 'db' }, 'a')]), 'b'],
  ['anti-affinity of those who are there', pod(), cluster(three, [pod({ affinity: shun(ZONE) }, {}, 'a')]), 'b'],
  [
    'both ways, in zones',
    pod({ affinity: shun(ZONE) }),
    cluster([node('a'), node('b'), node('c')], [pod({}, { app: 'db' }, 'b')]),
    why("3 node(s) didn't match pod anti-affinity rules"),
  ],
  ['affinity', pod({ affinity: join(ZONE) }, {}), cluster(three, [pod({}, { app: 'db' }, 'c')]), 'c'],
  ['the first of a group', pod({ affinity: join(ZONE) }), cluster(three), 'a'],
  [
    'affinity with nobody',
    pod({ affinity: join(ZONE) }, {}),
    cluster(three),
    why("3 node(s) didn't match pod affinity rules"),
  ],
  [
    'zone spread',
    pod(spread('DoNotSchedule')),
    cluster(three, [pod({}, { app: 'db' }, 'a'), pod({}, { app: 'db' }, 'b')]),
    'c',
  ],
  [
    'zone spread without the label',
    pod(spread('DoNotSchedule')),
    cluster([{ metadata: { name: 'x' } }]),
    "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label).",
  ],
  [
    'zone spread that nothing satisfies',
    pod({ ...spread('DoNotSchedule'), ...asking('2') }),
    cluster(three, [pod({}, { app: 'db' }, 'a'), pod({}, { app: 'db' }, 'b'), pod(asking('1'), {}, 'c')]),
    why("1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints"),
  ],
  [
    'zone spread as a wish',
    pod({ ...spread('ScheduleAnyway') }),
    cluster(three, [pod({}, { app: 'db' }, 'a'), pod({}, {}, 'b'), pod({}, {}, 'b')]),
    'c',
  ],
  ['no nodes', pod(), cluster([]), 'no nodes available to schedule pods'],
];

const said = (choice: Choice) => ('node' in choice ? choice.node : choice.unschedulable);

for (const [name, wanted, view, expected] of rows) {
  test(`schedules by: ${name}`, () => assert.equal(said(choose(wanted, view)), expected));
}

const claimed = pod({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
const claim = (phase: 'Pending' | 'Bound'): VolumeClaim => ({
  metadata: { name: 'data' },
  spec: phase === 'Bound' ? { volumeName: 'v1' } : {},
  status: { phase },
});

test('a claim decides where its volume can be reached, and waits for its first consumer', () => {
  const volume = {
    metadata: { name: 'v1' },
    spec: {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: HOST, operator: 'In', values: ['b'] }] }] },
      },
    },
  };
  const with_ = (phase: 'Pending' | 'Bound', waits: boolean) =>
    cluster(three, [], { claims: new Map([['data', { claim: claim(phase), volume, waits }]]) });
  assert.deepEqual(choose(claimed, with_('Bound', false)), { node: 'b', bind: [] });
  assert.deepEqual(choose(claimed, with_('Pending', true)), { node: 'a', bind: ['data'] });
  assert.equal(said(choose(claimed, with_('Pending', false))), why('pod has unbound immediate PersistentVolumeClaims'));
  assert.equal(said(choose(claimed, cluster(three))), why('persistentvolumeclaim "data" not found'));
  const elsewhere = cluster([three[0] as Node], [], with_('Bound', false));
  const message = "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.";
  assert.equal(said(choose(claimed, { ...elsewhere, nodes: [three[0] as Node] })), message);
});

test('what is chosen fits, in whatever order the nodes come; nobody is refused who fits somewhere', () => {
  const placedOn = fc.record({ on: fc.constantFrom('a', 'b', 'c'), cpu: fc.integer({ min: 0, max: 1500 }) });
  const wanted = fc.record({ cpu: fc.integer({ min: 0, max: 2500 }), shuns: fc.boolean(), spreads: fc.boolean() });
  fc.assert(
    fc.property(fc.array(placedOn, { maxLength: 8 }), wanted, (all, { cpu, shuns, spreads }) => {
      const placed = all.map((one) => pod(asking(`${one.cpu}m`), { app: 'db' }, one.on));
      const spec = {
        ...asking(`${cpu}m`),
        ...(shuns && { affinity: shun(HOST) }),
        ...(spreads && spread('DoNotSchedule')),
      };
      const view = cluster(three, placed);
      const choice = choose(pod(spec), view);
      const views = viewsOf(view);
      const fitting = views.filter((one) => fits(pod(spec), one, views, view).length === 0);
      assert.deepEqual(choose(pod(spec), { ...view, nodes: three.toReversed() }), choice);
      if ('node' in choice) assert.ok(fitting.some((one) => one.node.metadata.name === choice.node));
      else assert.equal(fitting.length, 0);
    }),
  );
});

test('what a pod asks for as a whole counts in place of its containers, and what it costs comes on top', () => {
  const of = (spec: Partial<PodSpec>) => Object.fromEntries(requestsOf(pod({ ...asking('1', '1Gi'), ...spec })));
  const gib = 1024 ** 3 * 1_000;
  assert.deepEqual(of({}), { cpu: 1_000, memory: gib });
  assert.deepEqual(of({ resources: { requests: { cpu: '3' } } }), { cpu: 3_000, memory: gib });
  assert.deepEqual(of({ resources: { limits: { cpu: '3', memory: '4Gi' } } }), { cpu: 1_000, memory: gib });
  assert.deepEqual(of({ containers: [{ name: 'c' }], resources: { limits: { cpu: '3' } } }), { cpu: 3_000 });
  assert.deepEqual(of({ overhead: { cpu: '500m' } }), { cpu: 1_500, memory: gib });
});
