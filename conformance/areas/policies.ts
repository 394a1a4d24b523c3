/** Admission policies. A new policy counts after a moment: the first refusal is waited for, on a dry run. */
import type { Json } from '@reeve/kube';
import { type Case, get, merge, post, put, remove, type Step } from '../case.ts';
import { map } from './watch-live.ts';

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = `${ADMISSION}/validatingadmissionpolicies`;
const BINDINGS = `${ADMISSION}/validatingadmissionpolicybindings`;
const maps = '/api/v1/namespaces/<ns>/configmaps';
const leases = '/apis/coordination.k8s.io/v1/namespaces/<ns>/leases';

type Fields = { [key: string]: Json };

const own = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '<ns>' } } };

function policy(validations: readonly Json[], more: Fields = {}): Json {
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
  ];
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: '<id>' },
    spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules }, validations: [...validations], ...more },
  };
}

const binding = (more: Fields = {}): Json => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: '<id>' },
  spec: { policyName: '<id>', validationActions: ['Deny'], matchResources: own, ...more },
});

/** What the policy must refuse before the case goes on. */
const inForce = (body: Json, text: string, path = maps): Step =>
  post(path, body, { query: { dryRun: 'All' }, code: 422, until: text });

interface Options {
  /** What shows that it is in force. Default: a refusal of what is called `bad`. */
  readonly shows?: Step;
  readonly policy?: Fields;
  readonly binding?: Fields;
}

/** Always refuses what is called `bad`, so that its coming into force can be seen. */
const guard = {
  expression: 'request.operation == "DELETE" || object.metadata.name != "bad"',
  message: 'bad is refused',
};

function aCase(name: string, validations: readonly Json[], steps: readonly Step[], options: Options = {}): Case {
  return {
    name: `policy: ${name}`,
    steps: [
      post(POLICIES, policy([guard, ...validations], options.policy)),
      post(BINDINGS, binding(options.binding)),
      options.shows ?? inForce(map('bad'), 'bad is refused'),
      ...steps,
    ],
  };
}

const refusedPolicy = (name: string, validations: readonly Json[], more: Fields = {}): Case => ({
  name: `policy refused: ${name}`,
  steps: [post(POLICIES, policy(validations, more), { code: 422 })],
});

const lease = (holder: string): Json => ({ metadata: { name: 'l' }, spec: { holderIdentity: holder } });
const count = 'has(object.data) ? object.data.size() : 0';

export const policyCases: readonly Case[] = [
  aCase(
    'an expression over the object',
    [{ expression: 'object == null || !has(object.data) || object.data.size() < 2' }],
    [
      post(maps, map('a', {}, { x: '1' })),
      post(maps, map('b', {}, { x: '1', y: '2' }), { code: 422 }),
      merge(`${maps}/a`, { data: { y: '2' } }, { code: 422 }),
      merge(`${maps}/a`, { data: { x: '2' } }),
      remove(`${maps}/a`),
    ],
  ),
  aCase(
    'a message of an expression',
    [
      {
        expression: 'object == null || !has(object.data)',
        messageExpression: '"no data in " + object.metadata.name',
        message: 'no data',
      },
    ],
    [post(maps, map('a', {}, { x: '1' }), { code: 422 }), post(maps, { metadata: { name: 'b' } })],
  ),
  aCase(
    'a reason',
    [{ expression: 'object == null || !has(object.data)', reason: 'Forbidden', message: 'no data here' }],
    [post(maps, map('a', {}, { x: '1' }), { code: 403 })],
  ),
  aCase(
    'the old object',
    [{ expression: 'oldObject == null || object == null || oldObject.data == object.data', message: 'data is fixed' }],
    [
      post(maps, map('a', {}, { x: '1' })),
      merge(`${maps}/a`, { data: { x: '2' } }, { code: 422 }),
      merge(`${maps}/a`, { metadata: { labels: { a: 'b' } } }),
    ],
  ),
  aCase(
    'deletions',
    [{ expression: 'request.operation != "DELETE" || oldObject.metadata.name == "free"', message: 'it stays' }],
    [
      post(maps, map('a')),
      post(maps, map('free')),
      remove(`${maps}/a`, undefined, { code: 422 }),
      remove(`${maps}/free`),
    ],
  ),
  aCase(
    'who asks',
    [
      {
        expression: 'request.userInfo.username != "root" || object == null || object.metadata.name != "mine"',
        message: 'not for root',
      },
    ],
    [post(maps, map('mine'), { code: 422 }), post(maps, map('mine'), { as: 'other-<id>', groups: ['system:masters'] })],
  ),
  aCase(
    'variables',
    [{ expression: 'object == null || variables.count < 2', messageExpression: '"count " + string(variables.count)' }],
    [post(maps, map('a', {}, { x: '1' })), post(maps, map('b', {}, { x: '1', y: '2' }), { code: 422 })],
    { policy: { variables: [{ name: 'count', expression: count }] } },
  ),
  aCase(
    'conditions decide whether it is asked at all',
    [{ expression: 'false', message: 'never' }],
    [post(maps, map('a')), post(maps, map('b', { strict: 'yes' }), { code: 422 })],
    {
      policy: {
        matchConditions: [
          {
            name: 'strict',
            expression:
              'object != null && (object.metadata.name == "bad" || has(object.metadata.labels) && "strict" in object.metadata.labels)',
          },
        ],
      },
    },
  ),
  aCase(
    'an object selector',
    [{ expression: 'false', message: 'selected' }],
    [post(maps, map('a', {}, {})), post(maps, map('b', { app: 'x' }), { code: 422 })],
    {
      shows: inForce(map('bad', { app: 'x' }), 'bad is refused'),
      binding: {
        matchResources: { ...own, objectSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
      },
    },
  ),
  aCase(
    'warnings instead of a refusal',
    [{ expression: 'object == null || !has(object.data)', message: 'data is not welcome' }],
    [post(maps, map('a', {}, { x: '1' })), post(maps, { metadata: { name: 'b' } })],
    {
      shows: post(maps, map('bad'), { query: { dryRun: 'All' }, code: 201, until: 'bad is refused' }),
      binding: { validationActions: ['Warn'] },
    },
  ),
  aCase(
    'an expression that fails, with Fail',
    [{ expression: 'object == null || object.data["none"] == "x"' }],
    [post(maps, map('a', {}, { x: '1' }), { code: 422 })],
  ),
  aCase(
    'an expression that fails, with Ignore',
    [{ expression: 'object == null || object.data["none"] == "x"' }],
    [post(maps, map('a', {}, { x: '1' }))],
    { policy: { failurePolicy: 'Ignore' } },
  ),
  aCase(
    'the namespace',
    [
      {
        expression: 'namespaceObject.metadata.name == "<ns>" && namespaceObject.metadata.labels["team"] == "a"',
        message: 'another team',
      },
    ],
    [
      post(maps, map('a'), { code: 422 }),
      merge('/api/v1/namespaces/<ns>', { metadata: { labels: { team: 'a' } } }),
      post(maps, map('a'), { code: 201, until: '' }),
    ],
  ),
  aCase(
    'the authorizer',
    [
      {
        expression:
          'object == null || authorizer.group("").resource("secrets").namespace("<ns>").check("get").allowed()',
        message: 'may not read secrets',
      },
    ],
    [post(maps, map('a'))],
  ),
  {
    name: 'policy: a Lease as its parameter',
    steps: [
      post(leases, lease('me')),
      post(
        POLICIES,
        policy(
          [
            {
              expression: 'object == null || object.metadata.labels["holder"] == params.spec.holderIdentity',
              message: 'not the holder',
            },
          ],
          { paramKind: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } },
        ),
      ),
      post(BINDINGS, binding({ paramRef: { name: 'l', namespace: '<ns>', parameterNotFoundAction: 'Deny' } })),
      inForce(map('x', { holder: 'nobody' }), 'not the holder'),
      post(maps, map('a', { holder: 'me' })),
      merge(`${leases}/l`, { spec: { holderIdentity: 'you' } }),
      post(maps, map('b', { holder: 'me' }), { code: 422, until: '', query: { dryRun: 'All' } }),
      post(maps, map('c', { holder: 'you' })),
      remove(`${leases}/l`),
      post(maps, map('d', { holder: 'you' }), { code: 422, until: 'no params found', query: { dryRun: 'All' } }),
    ],
  },
  {
    name: 'policy: two bindings, two refusals',
    steps: [
      post(POLICIES, policy([{ expression: 'object == null || object.metadata.name != "bad"', message: 'bad name' }])),
      post(BINDINGS, binding()),
      inForce(map('bad'), 'bad name'),
      remove(`${BINDINGS}/<id>`),
      post(maps, map('bad'), { code: 201, until: '' }),
    ],
  },
  {
    name: 'policy: a changed one',
    steps: [
      post(POLICIES, policy([guard])),
      post(BINDINGS, binding()),
      inForce(map('bad'), 'bad is refused'),
      merge(`${POLICIES}/<id>`, {
        spec: {
          validations: [
            { expression: 'object == null || object.metadata.name != "worse"', message: 'worse is refused' },
          ],
        },
      }),
      inForce(map('worse'), 'worse is refused'),
      post(maps, map('bad')),
      get(`${BINDINGS}/<id>`),
    ],
  },
  refusedPolicy('an expression that is none', [{ expression: 'object.' }]),
  refusedPolicy('an expression that is no boolean', [{ expression: '1' }]),
  refusedPolicy('no validation', []),
  refusedPolicy('a variable that is not there', [{ expression: 'variables.none' }]),
  refusedPolicy('a failure policy that is none', [{ expression: 'true' }], { failurePolicy: 'Maybe' }),
  refusedPolicy('a condition without a name', [{ expression: 'true' }], {
    matchConditions: [{ name: '', expression: 'true' }],
  }),
  refusedPolicy('an operation that is none', [{ expression: 'true' }], {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['LOOK'], resources: ['pods'] }],
    },
  }),
  {
    name: 'policy refused: bindings that are none',
    steps: [
      post(BINDINGS, binding({ validationActions: [] }), { code: 422 }),
      post(BINDINGS, binding({ validationActions: ['Deny', 'Warn'] }), { code: 422 }),
      post(BINDINGS, binding({ policyName: '' }), { code: 422 }),
      post(BINDINGS, binding({ paramRef: { name: 'x', selector: {}, parameterNotFoundAction: 'Deny' } }), {
        code: 422,
      }),
      put(`${BINDINGS}/none-<id>`, binding(), { code: 400 }),
    ],
  },
];
