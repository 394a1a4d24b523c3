import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestsOf } from './manifest.ts';
import { readDocuments, yamlText } from './yaml.ts';

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;

test('several documents, lists and JSON are read; empty documents are nothing', () => {
  const names = (text: string) => manifestsOf(text, 'f').map(({ metadata }) => metadata.name);
  assert.deepEqual(names(`---\n${map('a')}---\n---\n# nothing\n---\n${map('b')}`), ['a', 'b']);
  assert.deepEqual(names('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j"}}'), ['j']);
  const list = `apiVersion: v1\nkind: List\nitems:\n- ${map('x').trim().replaceAll('\n', '\n  ')}\n- ${map('y').trim().replaceAll('\n', '\n  ')}\n`;
  assert.deepEqual(names(list), ['x', 'y']);
  assert.deepEqual(names(''), []);
});

test('what is no object is told with its place', () => {
  const wrong: readonly [string, RegExp][] = [
    ['just text', /f: is no object/],
    ['kind: Pod\nmetadata: { name: a }', /has no apiVersion/],
    ['apiVersion: v1\nmetadata: { name: a }', /has no kind/],
    ['apiVersion: v1\nkind: Pod', /Pod has no metadata\.name/],
    [`${map('a')}---\napiVersion: v1\nkind: Pod\nmetadata: {}`, /document 2: Pod has no metadata\.name/],
    ['apiVersion: v1\nkind: List\nitems: [3]', /item 1: is no object/],
    ['a: [', /line \d+ is no YAML/],
    ['a: 1\na: 2', /no YAML/],
  ];
  for (const [text, message] of wrong) {
    assert.throws(() => manifestsOf(text, 'f'), { code: 'MANIFEST_INVALID', message }, text);
  }
});

test('numbers are what Kubernetes takes them for', () => {
  const text = 'mode: 0644\nlarge: 9007199254740993\nsmall: 5\nzero: 0\nhalf: 0.5\nquoted: "0644"\nlater: 2026-01-01';
  assert.deepEqual(readDocuments(text, 'f'), [
    { mode: 420, large: 9007199254740993n, small: 5, zero: 0, half: 0.5, quoted: '0644', later: '2026-01-01' },
  ]);
});

test('what is written as YAML is read the same, also by older readers', () => {
  const value = {
    yes: 'yes',
    octal: '0644',
    at: '2026-01-01T00:00:00Z',
    large: 9007199254740993n,
    list: [{ a: 'on' }],
  };
  const text = yamlText(value);
  assert.deepEqual(readDocuments(text, 'f'), [value]);
  for (const word of ['yes', '0644', 'on', '2026-01-01T00:00:00Z']) assert.match(text, new RegExp(`"${word}"`), text);
});
