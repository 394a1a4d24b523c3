/** JSON patch and merge patch. */
import type { Json } from '@reeve/kube';
import type { Case, Step } from './case-testing.ts';
import { thing } from './thing-testing.ts';

const invalid = { code: 422, message: 'the server rejected our request due to an error in our request' };

const start: Step = {
  by: 'u',
  create: thing(
    { text: 'x', number: 1, settings: { k: '1', 'a/b': '2', 'c~d': '3' }, words: ['p', 'q', 'r'], tags: ['t'] },
    { metadata: { labels: { l: '1' } } },
  ),
};

function jsonCase(name: string, operations: Json, values: Case['expected']['values']): Case {
  return {
    name: `JSON patch: ${name}`,
    steps: [start, { by: 'p', json: operations }],
    expected: values ? { values } : {},
  };
}

function refused(name: string, operations: Json, fails: { code: number; message?: string } = invalid): Case {
  return {
    name: `JSON patch refused: ${name}`,
    steps: [start, { by: 'p', json: operations, fails }],
    expected: { values: { 'spec.text': 'x', 'spec.words': ['p', 'q', 'r'] } },
  };
}

function mergeCase(name: string, patch: Json, values: Case['expected']['values']): Case {
  return {
    name: `merge patch: ${name}`,
    steps: [start, { by: 'p', merge: patch }],
    expected: values ? { values } : {},
  };
}

const add = (path: string, value: Json): Json => ({ op: 'add', path, value });
const replace = (path: string, value: Json): Json => ({ op: 'replace', path, value });
const remove = (path: string): Json => ({ op: 'remove', path });
const check = (path: string, value: Json): Json => ({ op: 'test', path, value });

export const patchCases: readonly Case[] = [
  jsonCase('add sets a field', [add('/spec/flag', true)], { 'spec.flag': true }),
  jsonCase('add replaces a field that is there', [add('/spec/text', 'y')], { 'spec.text': 'y' }),
  jsonCase('add inserts into a list', [add('/spec/words/1', 'n')], { 'spec.words': ['p', 'n', 'q', 'r'] }),
  jsonCase('add appends at - and at the length', [add('/spec/words/-', 'y'), add('/spec/words/4', 'z')], {
    'spec.words': ['p', 'q', 'r', 'y', 'z'],
  }),
  jsonCase('a negative index counts from the end', [add('/spec/words/-1', 'z'), remove('/spec/words/-2')], {
    'spec.words': ['p', 'q', 'z'],
  }),
  jsonCase('remove takes an item away', [remove('/spec/words/0')], { 'spec.words': ['q', 'r'] }),
  jsonCase('replace of a key that is not there adds it', [replace('/spec/flag', false)], { 'spec.flag': false }),
  jsonCase(
    'slashes and tildes in keys are escaped',
    [replace('/spec/settings/a~1b', 'x'), remove('/spec/settings/c~0d')],
    {
      'spec.settings': { k: '1', 'a/b': 'x' },
    },
  ),
  jsonCase('move takes a value elsewhere', [{ op: 'move', from: '/spec/settings/k', path: '/spec/settings/m' }], {
    'spec.settings': { 'a/b': '2', 'c~d': '3', m: '1' },
  }),
  jsonCase(
    'copy leaves it there, too, and the copy is its own',
    [{ op: 'copy', from: '/spec/words', path: '/spec/tags' }, remove('/spec/words/0')],
    { 'spec.words': ['q', 'r'], 'spec.tags': ['p', 'q', 'r'] },
  ),
  jsonCase('test lets the rest happen when it holds', [check('/spec/text', 'x'), replace('/spec/text', 'y')], {
    'spec.text': 'y',
  }),
  jsonCase(
    'test compares maps without order',
    [check('/spec/settings', { 'c~d': '3', 'a/b': '2', k: '1' }), add('/spec/flag', true)],
    {
      'spec.flag': true,
    },
  ),
  jsonCase('test for null holds where nothing is', [check('/spec/flag', null), add('/spec/flag', true)], {
    'spec.flag': true,
  }),
  jsonCase('an empty patch changes nothing', [], { 'spec.text': 'x' }),
  refused('test fails', [replace('/spec/text', 'y'), check('/spec/text', 'x')]),
  refused('test of another sort fails', [check('/spec/number', '1')]),
  refused('remove of nothing', [remove('/spec/flag')]),
  refused('the way to the place is missing', [add('/spec/nested/inner/a', '1')]),
  refused('an index beyond the end', [add('/spec/words/4', 'z')]),
  refused('an index that is no number', [replace('/spec/words/x', 'z')]),
  refused('an operation that does not exist', [{ op: 'merge', path: '/spec', value: {} }]),
  refused('no path', [{ op: 'add', value: 1 }]),
  refused('move of what is not there', [{ op: 'move', from: '/spec/flag', path: '/spec/text' }]),
  refused(
    'not a list',
    { op: 'add' },
    {
      code: 400,
      message: 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    },
  ),
  refused('a path that is no text', [{ op: 'add', path: 1 }], {
    code: 400,
    message: 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
  }),
  refused(
    'more than ten thousand operations',
    Array.from({ length: 10_001 }, () => check('/spec/text', 'x')),
    {
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    },
  ),
  {
    name: 'JSON patch: whoever patches owns what changed, and nothing else',
    steps: [
      { by: 'a', apply: thing({ text: 'x', words: ['p'] }) },
      { by: 'p', json: [replace('/spec/text', 'x'), add('/spec/words/-', 'q')] },
    ],
    expected: { owns: { 'a Apply': ['.spec.text'], 'p Update': ['.spec.words'] } },
  },
  mergeCase(
    'sets, changes and removes',
    { spec: { text: 'y', number: null, flag: true } },
    {
      'spec.text': 'y',
      'spec.number': undefined,
      'spec.flag': true,
    },
  ),
  mergeCase(
    'maps merge',
    { spec: { settings: { n: '9', k: null } } },
    {
      'spec.settings': { 'a/b': '2', 'c~d': '3', n: '9' },
    },
  ),
  mergeCase('lists are replaced', { spec: { words: ['z'] } }, { 'spec.words': ['z'] }),
  mergeCase(
    'nulls in what is new are left out',
    { spec: { nested: { inner: { a: '1', b: null } } } },
    {
      'spec.nested': { inner: { a: '1' } },
    },
  ),
  mergeCase(
    'an empty map changes nothing',
    { spec: { settings: {} } },
    {
      'spec.settings': { k: '1', 'a/b': '2', 'c~d': '3' },
    },
  ),
  mergeCase(
    'labels are removed by null',
    { metadata: { labels: { l: null, m: '2' } } },
    {
      'metadata.labels': { m: '2' },
    },
  ),
  {
    name: 'merge patch refused: a list',
    steps: [
      start,
      {
        by: 'p',
        merge: [],
        fails: {
          code: 400,
          message: 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
        },
      },
    ],
    expected: {},
  },
  {
    name: 'merge patch refused: null',
    steps: [start, { by: 'p', merge: null, fails: { code: 400, message: 'Invalid JSON Patch' } }],
    expected: {},
  },
];
