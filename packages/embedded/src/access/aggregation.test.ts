import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregated } from './aggregation.ts';

const get = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const list = { ...get, verbs: ['list'] };
const role = (
  name: string,
  labels: Record<string, string>,
  rules: (typeof get)[],
  selects?: Record<string, string>[],
) => ({
  metadata: { name, labels },
  rules,
  ...(selects && { aggregationRule: { clusterRoleSelectors: selects.map((matchLabels) => ({ matchLabels })) } }),
});

test('a role that selects itself does not keep what nobody else gives', () => {
  const own = role('all', { a: 'b' }, [get, list], [{ a: 'b' }]);
  assert.deepEqual(
    aggregated([own, role('one', { a: 'b' }, [list])]).map(({ rules }) => rules),
    [[list]],
  );
});

test('rules come in order of selectors and names, each once; what is right is not written', () => {
  const parts = [
    role('z', { a: '1' }, [list]),
    role('y', { a: '1', c: '2' }, [get]),
    role('x', { other: '1' }, [list]),
  ];
  const all = role('all', {}, [], [{ c: '2' }, { a: '1' }]);
  const [found] = aggregated([all, ...parts]);
  assert.deepEqual(found?.rules, [get, list]);
  assert.deepEqual(aggregated([{ ...all, rules: [get, list] }, ...parts]), []);
});

test('a role that gathers from roles that gather has everything at once; a circle ends', () => {
  const part = role('part', { to: 'low' }, [get]);
  const low = role('low', { to: 'high' }, [], [{ to: 'low' }]);
  const high = role('high', {}, [list], [{ to: 'high' }]);
  assert.deepEqual(
    aggregated([high, low, part]).map(({ role: { metadata }, rules }) => [metadata.name, rules]),
    [
      ['high', [get]],
      ['low', [get]],
    ],
  );
  const circle = [1, 2, 3].map((n) =>
    role(`c${n}`, { n: `${n}` }, n === 1 ? [get] : [list], [{ n: `${(n % 3) + 1}` }]),
  );
  assert.ok(aggregated(circle).length <= 3);
});
