/** The status subresource, resets of managedFields, first applies, and refusals. */
import type { Case } from './case-testing.ts';
import { configMap, thing } from './thing-testing.ts';

export const statusCases: readonly Case[] = [
  {
    name: 'status applied through the resource itself is nobody’s and not stored',
    steps: [{ by: 'a', apply: thing({ text: 'x' }, { status: { phase: 'P' } }) }],
    expected: { values: { status: undefined }, owns: { 'a Apply': ['.spec.text'] } },
  },
  {
    name: 'status applied through status has an entry of its own',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { phase: 'P' } }) },
    ],
    expected: {
      values: { 'status.phase': 'P', 'spec.text': 'x' },
      owns: { 'a Apply': ['.spec.text'], 'a Apply status': ['.status.phase'] },
    },
  },
  {
    name: 'spec applied through status is ignored',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'b', via: 'status', apply: thing({ number: 1 }, { status: { phase: 'P' } }) },
    ],
    expected: {
      values: { spec: { text: 'x' }, status: { phase: 'P' } },
      owns: { 'a Apply': ['.spec.text'], 'b Apply status': ['.status.phase'] },
    },
  },
  {
    name: 'conditions of two controllers live side by side',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { conditions: [{ type: 'A', status: 'True' }] } }) },
      { by: 'b', via: 'status', apply: thing(undefined, { status: { conditions: [{ type: 'B', status: 'True' }] } }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { conditions: [{ type: 'A', status: 'False' }] } }) },
    ],
    expected: {
      values: {
        'status.conditions': [
          { type: 'A', status: 'False' },
          { type: 'B', status: 'True' },
        ],
      },
      owns: {
        'a Apply': ['.spec.text'],
        'a Apply status': [
          '.status.conditions[type="A"]',
          '.status.conditions[type="A"].status',
          '.status.conditions[type="A"].type',
        ],
        'b Apply status': [
          '.status.conditions[type="B"]',
          '.status.conditions[type="B"].status',
          '.status.conditions[type="B"].type',
        ],
      },
    },
  },
  {
    name: 'a conflict in status names the subresource',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { phase: 'P' } }) },
      {
        by: 'b',
        via: 'status',
        apply: thing(undefined, { status: { phase: 'Q' } }),
        fails: {
          code: 409,
          message: 'Apply failed with 1 conflict: conflict with "a" with subresource "status": .status.phase',
        },
      },
    ],
    expected: {},
  },
  {
    name: 'a status update through the resource itself changes no owner',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { phase: 'P' } }) },
      { by: 'u', update: { status: { phase: 'Q' }, spec: { number: 1 } } },
    ],
    expected: {
      values: { 'status.phase': 'P' },
      owns: { 'a Apply': ['.spec.text'], 'a Apply status': ['.status.phase'], 'u Update': ['.spec.number'] },
    },
  },
  {
    name: 'a status update through status owns the status',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'u', via: 'status', merge: { status: { phase: 'P' }, spec: { text: 'y' } } },
    ],
    expected: {
      values: { 'spec.text': 'x', 'status.phase': 'P' },
      owns: { 'a Apply': ['.spec.text'], 'u Update status': ['.status', '.status.phase'] },
    },
  },
  {
    name: 'a status apply again writes nothing',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { phase: 'P', count: 1 } }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { phase: 'P', count: 1 } }), unchanged: true },
    ],
    expected: {},
  },
  {
    name: 'a status field left out is removed',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { phase: 'P', count: 1 } }) },
      { by: 'a', via: 'status', apply: thing(undefined, { status: { phase: 'P' } }) },
    ],
    expected: { values: { status: { phase: 'P' } } },
  },
  {
    name: 'an empty list resets managedFields of a built-in kind',
    steps: [
      { by: 'a', apply: configMap({ data: { x: '1' } }) },
      { by: 'u', merge: { metadata: { managedFields: [] } } },
    ],
    expected: { values: { 'data.x': '1' }, owns: {} },
  },
  {
    name: 'an empty list does not reset managedFields of a custom kind: its metadata is read and written, and loses it',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'u', merge: { metadata: { managedFields: [] } }, unchanged: true },
    ],
    expected: { owns: { 'a Apply': ['.spec.text'] } },
  },
  {
    name: 'one empty entry resets managedFields',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'u', json: [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }] },
    ],
    expected: { owns: {} },
  },
  {
    name: 'without entries the first apply makes an owner for what was there',
    steps: [
      { by: 'u', create: thing({ text: 'x', number: 1 }) },
      { by: 'u', merge: { metadata: { managedFields: [{}] } } },
      { by: 'a', apply: thing({ text: 'x' }) },
    ],
    expected: {
      owns: { 'a Apply': ['.spec.text'], 'before-first-apply Update': ['.spec', '.spec.number', '.spec.text'] },
    },
  },
  {
    name: 'what was there before the first apply conflicts',
    steps: [
      { by: 'u', create: thing({ text: 'x' }) },
      { by: 'u', merge: { metadata: { managedFields: [{}] } } },
      {
        by: 'a',
        apply: thing({ text: 'y' }),
        fails: {
          code: 409,
          message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.text',
        },
      },
    ],
    expected: { owns: {} },
  },
  {
    name: 'without entries updates do not begin to keep books',
    steps: [
      { by: 'u', create: thing({ text: 'x' }) },
      { by: 'u', merge: { metadata: { managedFields: [{}] } } },
      { by: 'v', update: { spec: { number: 1 } } },
    ],
    expected: { owns: {} },
  },
  {
    name: 'managedFields sent by a client that does not know them change nothing',
    steps: [
      { by: 'a', apply: thing({ text: 'x' }) },
      { by: 'u', update: { metadata: { managedFields: null }, spec: { number: 1 } } },
    ],
    expected: { owns: { 'a Apply': ['.spec.text'], 'u Update': ['.spec.number'] } },
  },
  {
    name: 'a client may write managedFields itself',
    steps: [
      { by: 'a', apply: thing({ text: 'x', number: 1 }) },
      {
        by: 'u',
        merge: {
          metadata: {
            managedFields: [
              {
                manager: 'z',
                operation: 'Apply',
                apiVersion: 'example.com/v1',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:spec': { 'f:text': {} } },
              },
            ],
          },
        },
      },
    ],
    expected: { owns: { 'z Apply': ['.spec.text'] } },
  },
  {
    name: 'managedFields must not be applied',
    steps: [
      {
        by: 'a',
        apply: thing({ text: 'x' }, { metadata: { managedFields: [] } }),
        fails: { code: 400, message: 'metadata.managedFields must be nil' },
      },
    ],
    expected: {},
  },
  {
    name: 'an undeclared field cannot be applied',
    steps: [
      {
        by: 'a',
        apply: thing({ nothing: 1 }),
        fails: {
          code: 500,
          message:
            'failed to create typed patch object (default/one; example.com/v1, Kind=Thing): .spec.nothing: field not declared in schema',
        },
      },
    ],
    expected: {},
  },
  {
    name: 'a value of the wrong form cannot be applied',
    steps: [
      {
        by: 'a',
        apply: thing({ tags: 'x' }),
        fails: {
          code: 500,
          message:
            'failed to create typed patch object (default/one; example.com/v1, Kind=Thing): .spec.tags: expected list, got &{x}',
        },
      },
    ],
    expected: {},
  },
  {
    name: 'a number cannot be applied where a string belongs',
    steps: [
      {
        by: 'a',
        apply: configMap({ data: { k: 1 } }),
        fails: {
          code: 500,
          message:
            'failed to create typed patch object (default/one; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:1}',
        },
      },
    ],
    expected: {},
  },
];
