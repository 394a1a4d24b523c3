/** Who owns what after applies and other writes, and what conflicts. */
import type { Case } from './case-testing.ts';
import { thing } from './thing-testing.ts';

const conflict = (message: string) => ({ code: 409, message: `Apply failed with ${message}` });

export const basicCases: readonly Case[] = [
  {
    name: 'apply creates, and owns what it named',
    steps: [{ by: 'a', apply: thing({ text: 'x', number: 1 }) }],
    expected: {
      values: { 'spec.text': 'x', 'spec.number': 1 },
      owns: { 'a Apply': ['.spec.number', '.spec.text'] },
    },
  },
  {
    name: 'the same apply again writes nothing',
    steps: [
      { by: 'a', apply: thing({ text: 'x', items: [{ name: 'n', value: 'v' }], tags: ['t'] }) },
      {
        by: 'a',
        apply: thing({ text: 'x', items: [{ name: 'n', value: 'v' }], tags: ['t'] }),
        unchanged: true,
      },
    ],
    expected: {},
  },
  {
    name: 'two appliers own different fields',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'b', apply: thing({ number: 2 }) },
    ],
    expected: {
      values: { spec: { text: 'x', number: 2 } },
      owns: { 'a Apply': ['.spec.text'], 'b Apply': ['.spec.number'] },
    },
  },
  {
    name: 'two appliers own one field together if they agree',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'b', apply: thing({ text: 'x' }) },
    ],
    expected: { owns: { 'a Apply': ['.spec.text'], 'b Apply': ['.spec.text'] } },
  },
  {
    name: 'another value for a field of another applier conflicts',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'b', apply: thing({ text: 'y' }), fails: conflict('1 conflict: conflict with "a": .spec.text') },
    ],
    expected: { values: { 'spec.text': 'x' }, owns: { 'a Apply': ['.spec.text'] } },
  },
  {
    name: 'a conflict with an updater names its version',
    steps: [
      { by: 'u', create: thing({ text: 'x' }) },
      {
        by: 'b',
        apply: thing({ text: 'y' }),
        fails: conflict('1 conflict: conflict with "u" using example.com/v1: .spec.text'),
      },
    ],
    expected: { values: { 'spec.text': 'x' } },
  },
  {
    name: 'several conflicts are listed by manager and path',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      { by: 'c', apply: thing({ flag: true }) },
      {
        by: 'b',
        apply: thing({ text: 'y', number: 2, flag: false }),
        fails: conflict(
          '3 conflicts: conflicts with "a":\n- .spec.number\n- .spec.text\nconflicts with "c":\n- .spec.flag',
        ),
      },
    ],
    expected: {},
  },
  {
    name: 'force takes the field away',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      { by: 'b', apply: thing({ text: 'y' }), force: true },
    ],
    expected: {
      values: { spec: { text: 'y', number: 1 } },
      owns: { 'a Apply': ['.spec.number'], 'b Apply': ['.spec.text'] },
    },
  },
  {
    name: 'who loses everything by force has no entry any more',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'b', apply: thing({ text: 'y' }), force: true },
    ],
    expected: { owns: { 'b Apply': ['.spec.text'] } },
  },
  {
    name: 'after force the other one conflicts in turn',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'b', apply: thing({ text: 'y' }), force: true },
      { by: 'a', apply: thing({ text: 'x' }), fails: conflict('1 conflict: conflict with "b": .spec.text') },
    ],
    expected: { values: { 'spec.text': 'y' } },
  },
  {
    name: 'a field that its only owner leaves out is removed',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      { by: 'a', apply: thing({ text: 'x' }) },
    ],
    expected: { values: { spec: { text: 'x' } }, owns: { 'a Apply': ['.spec.text'] } },
  },
  {
    name: 'a field that one of two owners leaves out stays',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      { by: 'b', apply: thing({ number: 1 }) },
      { by: 'a', apply: thing({ text: 'x' }) },
    ],
    expected: {
      values: { spec: { text: 'x', number: 1 } },
      owns: { 'a Apply': ['.spec.text'], 'b Apply': ['.spec.number'] },
    },
  },
  {
    name: 'a field that an updater owns, too, stays when its applier leaves it out',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      { by: 'u', update: { spec: { number: 2 } } },
      { by: 'a', apply: thing({ text: 'x' }) },
    ],
    expected: {
      values: { spec: { text: 'x', number: 2 } },
      owns: { 'a Apply': ['.spec.text'], 'u Update': ['.spec.number'] },
    },
  },
  {
    name: 'an update takes the field that it changes',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      { by: 'u', update: { spec: { text: 'y' } } },
    ],
    expected: {
      values: { spec: { text: 'y', number: 1 } },
      owns: { 'a Apply': ['.spec.number'], 'u Update': ['.spec.text'] },
    },
  },
  {
    name: 'an update that changes nothing owns nothing and writes nothing',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'u', update: { spec: { text: 'x' } }, unchanged: true },
    ],
    expected: { owns: { 'a Apply': ['.spec.text'] } },
  },
  {
    name: 'an update removes a field, and its owner owns it no more',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      { by: 'u', update: { spec: { text: null } } },
    ],
    expected: { values: { spec: { number: 1 } }, owns: { 'a Apply': ['.spec.number'] } },
  },
  {
    name: 'the same name applies and updates with an entry each',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'a', update: { spec: { number: 1 } } },
    ],
    expected: { owns: { 'a Apply': ['.spec.text'], 'a Update': ['.spec.number'] } },
  },
  {
    name: 'an applier conflicts with its own updates of before',
    steps: [
      { by: 'a', create: thing({ text: 'x' }) },
      {
        by: 'a',
        apply: thing({ text: 'y' }),
        fails: conflict('1 conflict: conflict with "a" using example.com/v1: .spec.text'),
      },
    ],
    expected: {},
  },
  {
    name: 'an updater keeps what it had when it changes something else',
    steps: [
      { by: 'u', create: thing({ text: 'x' }) },
      { by: 'u', update: { spec: { number: 1 } } },
    ],
    expected: { owns: { 'u Update': ['.spec', '.spec.number', '.spec.text'] } },
  },
  {
    name: 'create owns all it brought, also the places of new structs and maps',
    steps: [
      {
        by: 'u',
        create: thing(
          { nested: { inner: { a: '1' } }, settings: { k: 'v' }, tags: ['t'] },
          { metadata: { labels: { l: '1' } } },
        ),
      },
    ],
    expected: {
      owns: {
        'u Update': [
          '.metadata.labels',
          '.metadata.labels.l',
          '.spec',
          '.spec.nested',
          '.spec.nested.inner',
          '.spec.nested.inner.a',
          '.spec.settings',
          '.spec.settings.k',
          '.spec.tags',
          '.spec.tags[="t"]',
        ],
      },
    },
  },
  {
    name: 'names and what the system sets belong to nobody',
    steps: [{ by: 'a', apply: thing(undefined, { metadata: { labels: { l: '1' } } }) }],
    expected: { owns: { 'a Apply': ['.metadata.labels.l'] } },
  },
  {
    name: 'an empty apply gives everything up',
    steps: [
      {
        by: 'a',
        apply: thing({ text: 'x', tags: ['t'], items: [{ name: 'n' }] }, { metadata: { labels: { l: '1' } } }),
      },
      { by: 'a', apply: thing() },
    ],
    expected: { values: { spec: undefined, 'metadata.labels': undefined }, owns: {} },
  },
  {
    name: 'labels and annotations are owned one by one',
    steps: [
      { by: 'a', apply: thing(undefined, { metadata: { labels: { x: '1' }, annotations: { n: '1' } } }) },
      { by: 'b', apply: thing(undefined, { metadata: { labels: { y: '2' } } }) },
      { by: 'a', apply: thing(undefined, { metadata: { annotations: { n: '1' } } }) },
    ],
    expected: {
      values: { 'metadata.labels': { y: '2' } },
      owns: { 'a Apply': ['.metadata.annotations.n'], 'b Apply': ['.metadata.labels.y'] },
    },
  },
  {
    name: 'finalizers are a set',
    steps: [
      { by: 'a', apply: thing(undefined, { metadata: { finalizers: ['e.com/a'] } }) },
      { by: 'b', apply: thing(undefined, { metadata: { finalizers: ['e.com/b'] } }) },
      { by: 'a', apply: thing() },
    ],
    expected: {
      values: { 'metadata.finalizers': ['e.com/b'] },
      owns: { 'b Apply': ['.metadata.finalizers[="e.com/b"]'] },
    },
  },
  {
    name: 'owner references are told apart by uid and owned whole',
    steps: [
      {
        by: 'a',
        apply: thing(undefined, {
          metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' }] },
        }),
      },
      {
        by: 'b',
        apply: thing(undefined, {
          metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'p', uid: 'u-2' }] },
        }),
      },
    ],
    expected: {
      values: {
        'metadata.ownerReferences': [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' },
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'p', uid: 'u-2' },
        ],
      },
      owns: {
        'a Apply': ['.metadata.ownerReferences[uid="u-1"]'],
        'b Apply': ['.metadata.ownerReferences[uid="u-2"]'],
      },
    },
  },
];
