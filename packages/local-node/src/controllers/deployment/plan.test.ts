import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DeploymentSpec } from '../../kinds/deployment.ts';
import { planRollout } from './plan.ts';
import { limitsOf, sizeOf, type StoredSet, sum } from './sets.ts';

const template = (image: string) => ({ spec: { containers: [{ name: 'c', image }] } });

function set(name: string, replicas: number, available = replicas): StoredSet {
  return {
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: `2026-01-0${name.slice(1)}T00:00:00Z` },
    spec: { replicas, selector: {}, template: template(name) },
    status: { replicas, availableReplicas: available },
  };
}

function spec(
  replicas: number,
  maxSurge: number | string,
  maxUnavailable: number | string,
  image = 'v2',
): DeploymentSpec {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } as const;
  return { replicas, selector: {}, template: template(image), strategy };
}

const plan = (of: DeploymentSpec, sets: readonly StoredSet[]) =>
  planRollout({ spec: of, sets, isBeingDeleted: false, oldPods: 0 });

const rows: readonly (readonly [name: string, DeploymentSpec, readonly StoredSet[], string])[] = [
  ['nothing there', spec(3, 1, 1), [], 'create 3'],
  ['an old set', spec(4, '25%', '25%'), [set('v1', 4)], 'create 1'],
  ['no surge', spec(4, 0, 1), [set('v1', 4)], 'create 0'],
  ['neither is allowed', spec(4, 0, 0), [set('v1', 4), set('v2', 0)], 'v1=3'],
  ['new ones come up', spec(4, 1, 1), [set('v1', 4), set('v2', 1, 0)], 'v1=3'],
  ['as many as may be missing are', spec(4, 1, 1), [set('v1', 3), set('v2', 1, 0)], 'v2=2'],
  ['the limit is reached', spec(4, 1, 1), [set('v1', 3), set('v2', 2, 0)], ''],
  ['broken old ones go first', spec(4, 1, 1), [set('v1', 3, 1), set('v3', 2), set('v2', 0)], 'v1=1'],
  ['a status that is behind', spec(7, 2, 2), [set('v1', 6, 16), set('v2', 3, 0)], 'v1=5'],
  ['the last step', spec(4, 1, 1), [set('v1', 1), set('v2', 4)], 'v1=0'],
  ['done', spec(4, 1, 1), [set('v1', 0), set('v2', 4)], ''],
];

for (const [name, of, sets, expected] of rows) {
  test(`a rollout: ${name}`, () => {
    const { create, scales } = plan(of, sets);
    const said =
      create === undefined
        ? scales.map((one) => `${one.set.metadata.name}=${one.replicas}`).join()
        : `create ${create}`;
    assert.equal(said, expected);
  });
}

test('with pods that come up in any order a rollout ends, and keeps within its limits all the way', () => {
  const limits = fc.tuple(
    fc.integer({ min: 1, max: 8 }),
    fc.integer({ min: 0, max: 4 }),
    fc.integer({ min: 0, max: 4 }),
  );
  fc.assert(
    fc.property(limits, fc.infiniteStream(fc.boolean()), ([replicas, surge, unavailable], luck) => {
      const of = spec(replicas, surge, unavailable);
      const { surge: over, unavailable: under } = limitsOf(of);
      let sets: StoredSet[] = [set('v1', replicas)];
      for (let turn = 0; turn < 400; turn++) {
        const { create, scales } = plan(of, sets);
        if (create !== undefined) sets.push(set('v2', create, 0));
        // Pods that are taken away were available ones at worst.
        for (const { set: one, replicas: size } of scales) {
          const available = Math.min(size, one.status?.availableReplicas ?? 0);
          sets = sets.map((other) => (other === one ? set(one.metadata.name, size, available) : other));
        }
        const isUp = luck.next().value === true || turn % 4 === 3;
        sets = sets.map((one) => {
          const now = one.status?.availableReplicas ?? 0;
          return isUp && now < sizeOf(one) ? set(one.metadata.name, sizeOf(one), now + 1) : one;
        });
        assert.ok(sum(sets, sizeOf) <= replicas + over);
        assert.ok(sum(sets, ({ status }) => status?.availableReplicas) >= replicas - under);
      }
      assert.deepEqual(sets.map(sizeOf), [0, replicas]);
    }),
  );
});
