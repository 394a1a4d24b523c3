import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stored } from '@reeve/kube';
import fc from 'fast-check';
import type { Pod } from '../../kinds/pod.ts';
import type { StatefulSetSpec } from '../../kinds/statefulset.ts';
import { POD_INDEX_LABEL, POD_NAME_LABEL } from './identity.ts';
import { planSet, type SetStep, type SetView } from './plan.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');

/** `2+` ready, `2-` not ready, `2x` terminating, `2!` failed; a star: of the new revision. */
function pod(text: string): Stored<Pod> {
  const [, ordinal = '', state = '', star] = /^(\d+)([-+x!])(\*?)$/.exec(text) ?? [];
  const name = `web-${ordinal}`;
  const ready = { type: 'Ready', status: state === '+' ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
  return {
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      labels: {
        [POD_NAME_LABEL]: name,
        [POD_INDEX_LABEL]: ordinal,
        'controller-revision-hash': star === '*' ? 'new' : 'old',
      },
      ...(state === 'x' && { deletionTimestamp: '2026-01-01T00:00:30Z' }),
    },
    status: { phase: state === '!' ? 'Failed' : 'Running', conditions: [ready as never] },
  };
}

function view(text: string, spec: Partial<StatefulSetSpec> = {}): SetView {
  const pods = text === '' ? [] : text.split(' ').map(pod);
  const rolling = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } as const;
  const full = { replicas: 3, selector: {}, template: {}, updateStrategy: rolling, ...spec };
  const revisions = { currentRevision: 'old', updateRevision: 'new', collisionCount: 0 };
  return { spec: full, status: undefined, generation: 1, isBeingDeleted: false, pods, ...revisions };
}

const said = (steps: readonly SetStep[]) =>
  steps
    .map((one) =>
      one.type === 'create' ? `create ${one.ordinal} ${one.revision}` : `${one.type} ${one.pod.metadata.name}`,
    )
    .join();
const parallel = { podManagementPolicy: 'Parallel' } as const;
const partition = (at: number) =>
  ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: at } } }) as const;

const rows: readonly (readonly [pods: string, spec: Partial<StatefulSetSpec>, steps: string])[] = [
  ['', {}, 'create 0 update'],
  ['0-*', {}, ''],
  ['0+*', {}, 'create 1 update'],
  ['0+ 2+', {}, 'create 1 update'],
  ['0+ 2+', partition(2), 'create 1 current'],
  ['', parallel, 'create 0 update,create 1 update,create 2 update'],
  ['0+* 1+* 2+*', {}, ''],
  ['0+* 1+* 2+* 3+* 4+*', {}, 'delete web-4'],
  ['0+* 1+* 2+* 3+* 4x*', {}, ''],
  ['0+* 1-* 2+* 3+*', {}, ''],
  ['0+* 1+* 2+* 3-* 4+*', {}, 'delete web-4'],
  ['0+* 1+* 2+* 3-* 4-*', {}, ''],
  ['0+* 1+* 2+* 3+* 4-*', {}, 'delete web-4'],
  ['0-* 1+* 2+* 3+* 4x* 5+*', parallel, 'delete web-5,delete web-3'],
  ['0+ 1+ 2+', {}, 'delete web-2'],
  ['0+ 1+ 2x', {}, ''],
  ['0+ 1+ 2-*', {}, ''],
  ['0+ 1+ 2+*', {}, 'delete web-1'],
  ['0+ 1+ 2+*', partition(2), ''],
  ['0+ 1+ 2+', partition(9), ''],
  ['0+ 1+ 2+', { updateStrategy: { type: 'OnDelete' } }, ''],
  [
    '0+ 1+ 2+',
    { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } },
    'delete web-2,delete web-1',
  ],
  ['0+ 1- 2-*', parallel, ''],
  ['0+ 1- 2+*', parallel, 'delete web-1'],
  ['0+* 1!* 2+*', {}, 'delete web-1'],
  ['0+* 1+*', { replicas: 2, ordinals: { start: 1 } }, 'create 2 update'],
  ['0+* 1+* 2+*', { replicas: 2, ordinals: { start: 1 } }, 'delete web-0'],
];

for (const [pods, spec, steps] of rows) {
  test(`a set with ${pods || 'nothing'} and ${JSON.stringify(spec)} does: ${steps || 'nothing'}`, () => {
    assert.equal(said(planSet(view(pods, spec), NOW).steps), steps);
  });
}

test('a set that is being deleted does nothing', () => {
  assert.deepEqual(planSet({ ...view('0+'), isBeingDeleted: true }, NOW).steps, []);
});

test('the current revision follows when all are new and ready, and not before', () => {
  assert.equal(planSet(view('0+* 1+* 2+*'), NOW).status.currentRevision, 'new');
  for (const pods of ['0+* 1+* 2-*', '0+* 1+*', '0+* 1+* 2+']) {
    assert.equal(planSet(view(pods), NOW).status.currentRevision, 'old');
  }
});

test('a set with minReadySeconds waits, and says until when', () => {
  const plan = planSet(view('0+* 1+*', { minReadySeconds: 90 }), NOW);
  assert.deepEqual([plan.steps, plan.status.availableReplicas], [[], 0]);
  assert.equal(plan.wakeAt, NOW + 30_000);
});

test('an ordered set takes at most one step at a time and never makes a healthy set smaller than it may be', () => {
  const one = fc.tuple(fc.constantFrom('+', '-', 'x', '!'), fc.constantFrom('*', ''));
  const sparse = fc.array(fc.option(one), { maxLength: 6 });
  fc.assert(
    fc.property(sparse, fc.integer({ min: 0, max: 5 }), (all, replicas) => {
      const text = all.flatMap((state, at) => (state ? [`${at}${state.join('')}`] : [])).join(' ');
      const { steps } = planSet(view(text, { replicas }), NOW);
      assert.ok(steps.length <= 1, said(steps));
      const [step] = steps;
      if (step?.type !== 'delete' || step.why !== 'update') return;
      const living = text.split(' ').filter((name) => Number.parseInt(name, 10) < replicas);
      assert.ok(
        living.every((name) => name.includes('+')),
        `an update needs all others healthy: ${text}`,
      );
    }),
  );
});
