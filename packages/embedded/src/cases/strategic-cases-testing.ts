/** Strategic merge patch, as kubectl sends it. Only what the patch can reach is compared: servers add defaults. */
import type { Json } from '@reeve/kube';
import type { Case, Step } from './case-testing.ts';
import { builtin, deployment, service } from './thing-testing.ts';
import type { JsonObject } from '../object/draft.ts';

const labels = { app: 'one' };
const account = (rest: JsonObject): JsonObject => builtin('v1', 'ServiceAccount', rest);

const secrets: Step = {
  by: 'u',
  create: account({
    metadata: { finalizers: ['e.com/a', 'e.com/b'] },
    secrets: [{ name: 'x' }, { name: 'y' }, { name: 'z' }],
    imagePullSecrets: [{ name: 'p' }, { name: 'q' }],
  }),
};

function secretsCase(name: string, patch: Json, expected: readonly string[]): Case {
  const values = { secrets: expected.length === 0 ? undefined : expected.map((one) => ({ name: one })) };
  return { name: `strategic: ${name}`, steps: [secrets, { by: 'p', strategic: patch }], expected: { values } };
}

function refused(name: string, patch: Json, fails: { code: number; message: string }): Case {
  return {
    name: `strategic refused: ${name}`,
    steps: [secrets, { by: 'p', strategic: patch, fails }],
    expected: { values: { secrets: [{ name: 'x' }, { name: 'y' }, { name: 'z' }] } },
  };
}

const named = (...names: readonly string[]): Json => names.map((name) => ({ name }));

export const strategicCases: readonly Case[] = [
  secretsCase('items with a new key come first in the place of the patch', { secrets: named('n') }, [
    'n',
    'x',
    'y',
    'z',
  ]),
  secretsCase('$patch: delete removes the item', { secrets: [{ name: 'y', $patch: 'delete' }] }, ['x', 'z']),
  secretsCase('$patch: replace in a list replaces it', { secrets: [{ $patch: 'replace' }, { name: 'n' }] }, ['n']),
  secretsCase('null removes the list', { secrets: null }, []),
  secretsCase('$setElementOrder orders what it names', { '$setElementOrder/secrets': named('z', 'y', 'x') }, [
    'z',
    'y',
    'x',
  ]),
  secretsCase(
    '$setElementOrder orders new items among those of others',
    { '$setElementOrder/secrets': named('y', 'n'), secrets: named('n') },
    ['x', 'y', 'n', 'z'],
  ),
  {
    name: 'strategic: an atomic list is replaced',
    steps: [secrets, { by: 'p', strategic: { imagePullSecrets: named('r') } }],
    expected: { values: { imagePullSecrets: [{ name: 'r' }] } },
  },
  {
    name: 'strategic: a set of scalars is merged',
    steps: [secrets, { by: 'p', strategic: { metadata: { finalizers: ['e.com/c', 'e.com/a'] } } }],
    expected: { values: { 'metadata.finalizers': ['e.com/c', 'e.com/a', 'e.com/b'] } },
  },
  {
    name: 'strategic: $deleteFromPrimitiveList takes scalars away',
    steps: [secrets, { by: 'p', strategic: { metadata: { '$deleteFromPrimitiveList/finalizers': ['e.com/a'] } } }],
    expected: { values: { 'metadata.finalizers': ['e.com/b'] } },
  },
  {
    name: 'strategic: labels merge, and null removes',
    steps: [
      { by: 'u', create: account({ metadata: { labels: { a: '1', b: '2' } } }) },
      { by: 'p', strategic: { metadata: { labels: { a: null, c: '3' } } } },
    ],
    expected: { values: { 'metadata.labels': { b: '2', c: '3' } } },
  },
  {
    name: 'strategic: $patch: replace in a map replaces it',
    steps: [
      { by: 'u', create: account({ metadata: { labels: { a: '1', b: '2' } } }) },
      { by: 'p', strategic: { metadata: { labels: { $patch: 'replace', c: '3' } } } },
    ],
    expected: { values: { 'metadata.labels': { c: '3' } } },
  },
  {
    name: 'strategic: $patch: delete in a map empties it',
    steps: [
      { by: 'u', create: account({ metadata: { labels: { a: '1' } } }) },
      { by: 'p', strategic: { metadata: { labels: { $patch: 'delete' } } } },
    ],
    expected: { values: { 'metadata.labels': undefined } },
  },
  {
    name: 'strategic: $retainKeys keeps only the keys that it names',
    steps: [
      {
        by: 'u',
        create: deployment({
          spec: {
            selector: { matchLabels: labels },
            strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
            template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
          },
        }),
      },
      { by: 'p', strategic: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } } },
    ],
    expected: { values: { 'spec.strategy': { type: 'Recreate' } } },
  },
  {
    name: 'strategic: ports are merged by port alone, whatever the protocol',
    steps: [
      { by: 'u', create: service({ spec: { ports: [{ name: 'web', port: 80, protocol: 'TCP', targetPort: 8080 }] } }) },
      { by: 'p', strategic: { spec: { ports: [{ port: 80, targetPort: 9090 }] } } },
    ],
    expected: { values: { 'spec.ports': [{ name: 'web', protocol: 'TCP', port: 80, targetPort: 9090 }] } },
  },
  {
    name: 'strategic: a selector marked so is replaced, not merged',
    steps: [
      {
        by: 'u',
        create: builtin('policy/v1', 'PodDisruptionBudget', {
          spec: { minAvailable: 1, selector: { matchLabels: { a: '1' } } },
        }),
      },
      { by: 'p', strategic: { spec: { selector: { matchLabels: { b: '2' } } } } },
    ],
    expected: { values: { 'spec.selector': { matchLabels: { b: '2' } } } },
  },
  {
    name: 'strategic: whoever patches owns what changed',
    steps: [
      { by: 'a', apply: account({ secrets: named('x') }) },
      { by: 'p', strategic: { secrets: named('y', 'x') } },
    ],
    expected: { owns: { 'a Apply': ['.secrets[name="x"]'], 'p Update': ['.secrets[name="y"]'] } },
  },
  refused(
    'an item without its merge key',
    { secrets: [{ namespace: 'n' }] },
    {
      code: 500,
      message: 'map: map[namespace:n] does not contain declared merge key: name',
    },
  ),
  refused(
    'a directive that does not exist',
    { secrets: [{ name: 'x', $patch: 'drop' }] },
    {
      code: 500,
      message: 'unknown patch type: drop in map: map[$patch:drop name:x]',
    },
  ),
  refused(
    'items that are not in $setElementOrder',
    { '$setElementOrder/secrets': named('x'), secrets: named('n') },
    {
      code: 500,
      message: "The order in patch list:\n[map[name:n]]\n doesn't match $setElementOrder list:\n[map[name:x]]\n",
    },
  ),
  refused(
    '$retainKeys without a key that is set',
    { metadata: { $retainKeys: ['name'], labels: { a: '1' } } },
    {
      code: 400,
      message: 'invalid patch format of retainKeys',
    },
  ),
  refused('a list instead of a patch', [], {
    code: 400,
    message: 'json: cannot unmarshal array into Go value of type map[string]interface {}',
  }),
];
