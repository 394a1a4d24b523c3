/** Maps, structs and lists: what is one value, what has parts, and in which order lists come out. */
import type { Case } from './case-testing.ts';
import type { JsonObject } from '../object/draft.ts';
import { thing } from './thing-testing.ts';

const conflict = (message: string) => ({
  code: 409,
  message: `Apply failed with 1 conflict: conflict with ${message}`,
});

const item = (name: string, value: string) => ({ name, value });

const appliedBy = (manager: string, spec: JsonObject): JsonObject => ({
  manager,
  operation: 'Apply',
  apiVersion: 'example.com/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': spec },
});

export const structureCases: readonly Case[] = [
  {
    name: 'keys of a map are owned one by one',
    steps: [
      { by: 'a', apply: thing({ settings: { x: '1' } }) },
      { by: 'b', apply: thing({ settings: { y: '2' } }) },
      { by: 'a', apply: thing({ settings: { z: '3' } }) },
    ],
    expected: {
      values: { 'spec.settings': { y: '2', z: '3' } },
      owns: { 'a Apply': ['.spec.settings.z'], 'b Apply': ['.spec.settings.y'] },
    },
  },
  {
    name: 'an atomic map is one value',
    steps: [
      { by: 'a', apply: thing({ frozen: { x: '1' } }) },
      { by: 'b', apply: thing({ frozen: { y: '2' } }), fails: conflict('"a": .spec.frozen') },
      { by: 'b', apply: thing({ frozen: { y: '2' } }), force: true },
    ],
    expected: { values: { 'spec.frozen': { y: '2' } }, owns: { 'b Apply': ['.spec.frozen'] } },
  },
  {
    name: 'an atomic struct is one value',
    steps: [
      { by: 'a', apply: thing({ point: { x: 1, y: 2 } }) },
      { by: 'a', apply: thing({ point: { x: 1 } }) },
    ],
    expected: { values: { 'spec.point': { x: 1 } }, owns: { 'a Apply': ['.spec.point'] } },
  },
  {
    name: 'an updated atomic struct belongs to the updater whole',
    steps: [
      { by: 'a', apply: thing({ point: { x: 1, y: 2 } }) },
      { by: 'u', merge: { spec: { point: { y: 3 } } } },
    ],
    expected: { values: { 'spec.point': { x: 1, y: 3 } }, owns: { 'u Update': ['.spec.point'] } },
  },
  {
    name: 'a nested struct goes with its last field',
    steps: [
      { by: 'a', apply: thing({ nested: { inner: { a: '1' } }, text: 'x' }) },
      { by: 'a', apply: thing({ text: 'x' }) },
    ],
    expected: { values: { spec: { text: 'x' } }, owns: { 'a Apply': ['.spec.text'] } },
  },
  {
    name: 'a nested struct stays while another has a field in it',
    steps: [
      { by: 'a', apply: thing({ nested: { inner: { a: '1' } } }) },
      { by: 'b', apply: thing({ nested: { inner: { b: '2' } } }) },
      { by: 'a', apply: thing({ text: 'x' }) },
    ],
    expected: {
      values: { spec: { nested: { inner: { b: '2' } }, text: 'x' } },
      owns: { 'a Apply': ['.spec.text'], 'b Apply': ['.spec.nested.inner.b'] },
    },
  },
  {
    name: 'an empty struct is owned as such',
    steps: [{ by: 'a', apply: thing({ nested: { inner: {} } }) }],
    expected: { values: { 'spec.nested': { inner: {} } }, owns: { 'a Apply': ['.spec.nested.inner'] } },
  },
  {
    name: 'an empty map is owned, and gives way to keys',
    steps: [
      { by: 'a', apply: thing({ settings: {} }) },
      { by: 'b', apply: thing({ settings: { x: '1' } }) },
    ],
    expected: {
      values: { 'spec.settings': { x: '1' } },
      owns: { 'a Apply': ['.spec.settings'], 'b Apply': ['.spec.settings.x'] },
    },
  },
  {
    name: 'a row of a map of structs is owned by its key and its fields',
    steps: [
      { by: 'a', apply: thing({ rows: { r: { left: '1' } } }) },
      { by: 'b', apply: thing({ rows: { r: { right: '2' } } }) },
      { by: 'a', apply: thing() },
    ],
    expected: {
      values: { 'spec.rows': { r: { right: '2' } } },
      owns: { 'b Apply': ['.spec.rows.r', '.spec.rows.r.right'] },
    },
  },
  {
    name: 'an atomic list is one value',
    steps: [
      { by: 'a', apply: thing({ words: ['x', 'y'] }) },
      { by: 'b', apply: thing({ words: ['x'] }), fails: conflict('"a": .spec.words') },
      { by: 'a', apply: thing({ words: ['z'] }) },
    ],
    expected: { values: { 'spec.words': ['z'] }, owns: { 'a Apply': ['.spec.words'] } },
  },
  {
    name: 'an atomic list of structs is one value',
    steps: [
      { by: 'a', apply: thing({ shapes: [{ kind: 'c', size: 1 }] }) },
      { by: 'u', json: [{ op: 'replace', path: '/spec/shapes/0/size', value: 2 }] },
    ],
    expected: { values: { 'spec.shapes': [{ kind: 'c', size: 2 }] }, owns: { 'u Update': ['.spec.shapes'] } },
  },
  {
    name: 'a set merges',
    steps: [
      { by: 'a', apply: thing({ tags: ['x', 'y'] }) },
      { by: 'b', apply: thing({ tags: ['y', 'z'] }) },
      { by: 'a', apply: thing({ tags: ['x'] }) },
    ],
    expected: {
      values: { 'spec.tags': ['x', 'y', 'z'] },
      owns: { 'a Apply': ['.spec.tags[="x"]'], 'b Apply': ['.spec.tags[="y"]', '.spec.tags[="z"]'] },
    },
  },
  {
    name: 'a set of numbers merges and is ordered as applied',
    steps: [
      { by: 'a', apply: thing({ numbers: [3, 1] }) },
      { by: 'b', apply: thing({ numbers: [2, 1] }) },
    ],
    expected: { values: { 'spec.numbers': [3, 2, 1] } },
  },
  {
    name: 'a set loses its last item and is gone',
    steps: [
      { by: 'a', apply: thing({ tags: ['x'], text: 't' }) },
      { by: 'a', apply: thing({ text: 't' }) },
    ],
    expected: { values: { spec: { text: 't' } } },
  },
  {
    name: 'a set applied with an item twice is refused',
    steps: [
      {
        by: 'a',
        apply: thing({ tags: ['x', 'x'] }),
        fails: {
          code: 500,
          message:
            'failed to create typed patch object (default/one; example.com/v1, Kind=Thing): .spec.tags: duplicate entries for key [="x"]',
        },
      },
    ],
    expected: {},
  },
  {
    name: 'a set in a map',
    steps: [
      { by: 'a', apply: thing({ groups: { g: ['x'] } }) },
      { by: 'b', apply: thing({ groups: { g: ['y'], h: ['z'] } }) },
      { by: 'a', apply: thing() },
    ],
    expected: {
      values: { 'spec.groups': { g: ['y'], h: ['z'] } },
      owns: {
        'b Apply': ['.spec.groups.g', '.spec.groups.g[="y"]', '.spec.groups.h', '.spec.groups.h[="z"]'],
      },
    },
  },
  {
    name: 'items of two appliers are merged by their key',
    steps: [
      { by: 'a', apply: thing({ items: [item('x', '1')] }) },
      { by: 'b', apply: thing({ items: [item('y', '2')] }) },
    ],
    expected: {
      values: { 'spec.items': [item('x', '1'), item('y', '2')] },
      owns: {
        'a Apply': ['.spec.items[name="x"]', '.spec.items[name="x"].name', '.spec.items[name="x"].value'],
        'b Apply': ['.spec.items[name="y"]', '.spec.items[name="y"].name', '.spec.items[name="y"].value'],
      },
    },
  },
  {
    name: 'one item can have fields of two appliers',
    steps: [
      { by: 'a', apply: thing({ items: [item('x', '1')] }) },
      { by: 'b', apply: thing({ items: [{ name: 'x', other: '2' }] }) },
      { by: 'a', apply: thing({ text: 't' }) },
    ],
    expected: {
      values: { 'spec.items': [{ name: 'x', other: '2' }] },
      owns: {
        'a Apply': ['.spec.text'],
        'b Apply': ['.spec.items[name="x"]', '.spec.items[name="x"].name', '.spec.items[name="x"].other'],
      },
    },
  },
  {
    name: 'a value in an item conflicts by its own path',
    steps: [
      { by: 'a', apply: thing({ items: [item('x', '1')] }) },
      { by: 'b', apply: thing({ items: [item('x', '2')] }), fails: conflict('"a": .spec.items[name="x"].value') },
    ],
    expected: {},
  },
  {
    name: 'an item left out goes, one of another stays',
    steps: [
      { by: 'a', apply: thing({ items: [item('x', '1'), item('y', '2')] }) },
      { by: 'b', apply: thing({ items: [item('z', '3')] }) },
      { by: 'a', apply: thing({ items: [item('y', '2')] }) },
    ],
    expected: { values: { 'spec.items': [item('y', '2'), item('z', '3')] } },
  },
  {
    name: 'an item that was there before is merged and kept when it is given up',
    steps: [
      { by: 'u', create: thing({ items: [item('x', '1')] }) },
      { by: 'a', apply: thing({ items: [{ name: 'x', other: '2' }] }) },
      { by: 'a', apply: thing({ text: 't' }) },
    ],
    expected: { values: { 'spec.items': [item('x', '1')] } },
  },
  {
    name: 'the order of an applied list wins',
    steps: [
      { by: 'a', apply: thing({ items: [item('x', '1'), item('y', '2'), item('z', '3')] }) },
      { by: 'a', apply: thing({ items: [item('z', '3'), item('x', '1'), item('y', '2')] }) },
    ],
    expected: { values: { 'spec.items': [item('z', '3'), item('x', '1'), item('y', '2')] } },
  },
  {
    name: 'items of others stay before the item that they stood before',
    steps: [
      { by: 'a', apply: thing({ items: [item('x', '1'), item('y', '2'), item('z', '3')] }) },
      { by: 'b', apply: thing({ items: [item('n', '9'), item('z', '3')] }) },
    ],
    expected: { values: { 'spec.items': [item('x', '1'), item('y', '2'), item('n', '9'), item('z', '3')] } },
  },
  {
    name: 'items of others go before an applied item that moves up past them',
    steps: [
      { by: 'a', apply: thing({ items: [item('x', '1'), item('y', '2'), item('z', '3')] }) },
      { by: 'b', apply: thing({ items: [item('z', '3'), item('x', '1')] }) },
    ],
    expected: { values: { 'spec.items': [item('y', '2'), item('z', '3'), item('x', '1')] } },
  },
  {
    name: 'a field of nobody stays in an item that its applier gives up and another keeps',
    steps: [
      { by: 'u', create: thing({ items: [{ name: 'x', value: '1', other: '2' }] }) },
      {
        by: 'u',
        merge: {
          metadata: {
            managedFields: [
              appliedBy('a', { 'f:items': { 'k:{"name":"x"}': { '.': {}, 'f:name': {}, 'f:value': {} } } }),
              appliedBy('b', { 'f:items': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } } }),
            ],
          },
        },
      },
      { by: 'a', apply: thing({ text: 't' }) },
    ],
    expected: { values: { 'spec.items': [{ name: 'x', other: '2' }] } },
  },
  {
    name: 'items in a list in an item are merged, too',
    steps: [
      { by: 'a', apply: thing({ items: [{ name: 'x', sub: [{ id: '1', v: 'a' }] }] }) },
      { by: 'b', apply: thing({ items: [{ name: 'x', sub: [{ id: '2', v: 'b' }] }] }) },
    ],
    expected: {
      values: {
        'spec.items': [
          {
            name: 'x',
            sub: [
              { id: '1', v: 'a' },
              { id: '2', v: 'b' },
            ],
          },
        ],
      },
    },
  },
  {
    name: 'a key with a default tells items apart as if it were given',
    steps: [
      { by: 'a', apply: thing({ ports: [{ port: 80, name: 'web' }] }) },
      { by: 'b', apply: thing({ ports: [{ port: 80, protocol: 'TCP', target: 8080 }] }) },
    ],
    expected: {
      values: { 'spec.ports': [{ port: 80, protocol: 'TCP', name: 'web', target: 8080 }] },
      owns: {
        'a Apply': [
          '.spec.ports[port=80,protocol="TCP"]',
          '.spec.ports[port=80,protocol="TCP"].name',
          '.spec.ports[port=80,protocol="TCP"].port',
        ],
        'b Apply': [
          '.spec.ports[port=80,protocol="TCP"]',
          '.spec.ports[port=80,protocol="TCP"].port',
          '.spec.ports[port=80,protocol="TCP"].protocol',
          '.spec.ports[port=80,protocol="TCP"].target',
        ],
      },
    },
  },
  {
    name: 'items that differ in one of two keys are two',
    steps: [
      { by: 'a', apply: thing({ ports: [{ port: 53, protocol: 'UDP' }] }) },
      { by: 'b', apply: thing({ ports: [{ port: 53 }] }) },
    ],
    expected: {
      values: {
        'spec.ports': [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      },
    },
  },
  {
    name: 'an item without its key is refused',
    steps: [
      {
        by: 'a',
        apply: thing({ items: [{ value: '1' }] }),
        fails: {
          code: 500,
          message:
            'failed to create typed patch object (default/one; example.com/v1, Kind=Thing): .spec.items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
        },
      },
    ],
    expected: {},
  },
  {
    name: 'int or string changes its form',
    steps: [
      { by: 'a', apply: thing({ either: 1 }) },
      { by: 'b', apply: thing({ either: '50%' }), force: true },
    ],
    expected: { values: { 'spec.either': '50%' }, owns: { 'b Apply': ['.spec.either'] } },
  },
  {
    name: 'unknown fields are guessed: maps have parts, lists have none',
    steps: [
      { by: 'a', apply: thing({ loose: { m: { x: '1' }, l: [1, 2] } }) },
      { by: 'b', apply: thing({ loose: { m: { y: '2' } } }) },
    ],
    expected: {
      values: { 'spec.loose': { m: { x: '1', y: '2' }, l: [1, 2] } },
      owns: {
        'a Apply': ['.spec.loose.l', '.spec.loose.m', '.spec.loose.m.x'],
        'b Apply': ['.spec.loose.m', '.spec.loose.m.y'],
      },
    },
  },
  {
    name: 'a guessed map that becomes a list changes hands whole',
    steps: [
      { by: 'a', apply: thing({ loose: { m: { x: '1' } } }) },
      { by: 'b', apply: thing({ loose: { m: ['z'] } }), force: true },
    ],
    expected: { values: { 'spec.loose': { m: ['z'] } }, owns: { 'b Apply': ['.spec.loose.m'] } },
  },
  {
    name: 'an embedded resource has the metadata of every object',
    steps: [
      {
        by: 'a',
        apply: thing({ template: { apiVersion: 'v1', kind: 'X', metadata: { name: 't', finalizers: ['e.com/a'] } } }),
      },
      { by: 'b', apply: thing({ template: { metadata: { finalizers: ['e.com/b'] } } }) },
    ],
    expected: {
      values: { 'spec.template.metadata': { name: 't', finalizers: ['e.com/a', 'e.com/b'] } },
      owns: {
        'a Apply': [
          '.spec.template.apiVersion',
          '.spec.template.kind',
          '.spec.template.metadata.finalizers[="e.com/a"]',
          '.spec.template.metadata.name',
        ],
        'b Apply': ['.spec.template.metadata.finalizers[="e.com/b"]'],
      },
    },
  },
];
