/** Admission by policy. Expectations were compared with what the real server's plugin answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFieldError } from '../status/field-error.ts';
import type { JsonObject } from '../object/draft.ts';
import { type AdmissionPorts, admit } from './admit.ts';
import { compilePolicy } from './compiled-policy.ts';
import type {
  MatchResources,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation,
} from './policy.ts';
import { bindingErrors, policyErrors } from './policy-check.ts';
import { withBindingDefaults, withPolicyDefaults } from './policy-default.ts';
import type { AdmissionRequest } from './request.ts';

const all: MatchResources = {
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [
    { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['*'], resources: ['foos', 'foos/status'] },
  ],
};

type Spec = Partial<ValidatingAdmissionPolicy['spec']>;

function policy(spec: Spec, ...validations: readonly (string | Validation)[]): ValidatingAdmissionPolicy {
  const listed = validations.map((one) => (typeof one === 'string' ? { expression: one } : one));
  return {
    metadata: { name: 'p' },
    spec: { failurePolicy: 'Fail', matchConstraints: all, validations: listed, ...spec },
  };
}

const binding = (spec: Partial<ValidatingAdmissionPolicyBinding['spec']> = {}): ValidatingAdmissionPolicyBinding => ({
  metadata: { name: 'b' },
  spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
});

const object: JsonObject = {
  apiVersion: 'example.com/v1',
  kind: 'Foo',
  metadata: { name: 'x', namespace: 'ns', labels: { a: 'b' } },
  spec: { n: 1, s: 'str', l: [1, 2] },
};

const request: AdmissionRequest = {
  operation: 'CREATE',
  kind: { group: 'example.com', version: 'v1', kind: 'Foo' },
  resource: { group: 'example.com', version: 'v1', resource: 'foos' },
  name: 'x',
  namespace: 'ns',
  object,
  userInfo: {
    username: 'joe',
    groups: ['g'],
    extra: { 'authentication.kubernetes.io/pod-name': ['pod-1'] },
  },
  namespaceObject: { metadata: { name: 'ns', labels: { team: 'x' } } },
};

const lease: JsonObject = {
  metadata: { name: 'lead', namespace: 'ns', labels: { l: '1' } },
  spec: { holderIdentity: 'me', leaseTransitions: 3 },
};

const ports: AdmissionPorts = {
  params: ({ kind }) =>
    kind === 'Lease'
      ? {
          isNamespaced: true,
          get: (namespace, name) => (namespace === 'ns' && name === 'lead' ? lease : undefined),
          list: (namespace) => (namespace === 'ns' ? [lease] : []),
        }
      : undefined,
  authorize: ({ verb }) => ({ allowed: verb === 'get', reason: 'because' }),
};

/** The refusal without what is always the same, or `allowed`. */
function answer(
  made: ValidatingAdmissionPolicy,
  bindings: readonly ValidatingAdmissionPolicyBinding[] = [binding()],
  over: Partial<AdmissionRequest> = {},
): string {
  const { denied } = admit([compilePolicy(made)], bindings, { ...request, ...over }, ports);
  if (!denied) return 'allowed';
  const prefix = `foos.example.com "x" is forbidden: ValidatingAdmissionPolicy 'p' `;
  const { message = '' } = denied;
  assert.ok(message.startsWith(prefix), message);
  return message.slice(prefix.length);
}

const denied = (message: string): string => `with binding 'b' denied request: ${message}`;

test('a refusal is a Status in the words of the server', () => {
  const made = compilePolicy(
    policy({}, { expression: 'object.spec.n > 5', message: 'too small', reason: 'Forbidden' }),
  );
  const text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too small";
  assert.deepEqual(admit([made], [binding()], request, ports), {
    denied: {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message: `foos.example.com "x" is forbidden: ${text}`,
      reason: 'Forbidden',
      details: { name: 'x', group: 'example.com', kind: 'foos', causes: [{ message: text }] },
      code: 403,
    },
    warnings: [],
  });
  const status = admit([compilePolicy(policy({}, 'false'))], [binding()], request, ports).denied;
  assert.deepEqual([status?.reason, status?.code], ['Invalid', 422]);
});

test('what expressions see', () => {
  const holding = [
    'object.spec.l.all(x, x > 0) && oldObject == null',
    'request.operation == "CREATE" && request.namespace == "ns" && request.name == "x"',
    'request.userInfo.username == "joe" && "g" in request.userInfo.groups',
    'request.userInfo.extra["authentication.kubernetes.io/pod-name"] == ["pod-1"]',
    'request.kind.kind == "Foo" && request.resource.resource == "foos" && !has(request.subResource)',
    'namespaceObject.metadata.labels.team == "x"',
    'authorizer.group("").resource("pods").namespace("ns").check("get").allowed()',
    '!authorizer.requestResource.check("delete").allowed()',
    'authorizer.path("/healthz").check("get").reason() == "because"',
    '!request.dryRun',
  ];
  for (const expression of holding) assert.equal(answer(policy({}, expression)), 'allowed', expression);
  assert.equal(
    answer(policy({}, 'object == null && oldObject.spec.n == 1'), undefined, {
      operation: 'DELETE',
      object: undefined,
      oldObject: object,
    }),
    'allowed',
  );
});

test('messages: an expression, a text, or the expression that failed', () => {
  const rows: readonly (readonly [Omit<Validation, 'expression'>, string])[] = [
    [{}, 'failed expression: false'],
    [{ message: ' m ' }, 'm'],
    [{ messageExpression: '"n is " + string(object.spec.n)' }, 'n is 1'],
    [{ message: 'm', messageExpression: 'object.nope' }, 'm'],
    [{ messageExpression: '"a\\nb"' }, 'failed expression: false'],
    [{ message: 'm', messageExpression: 'authorizer.path("/").check("get").reason()' }, 'm'],
  ];
  for (const [rest, text] of rows) {
    assert.equal(answer(policy({}, { expression: 'false', ...rest })), denied(text));
  }
});

test('what cannot be evaluated refuses, unless failures are ignored', () => {
  const nope = "expression 'object.nope == 1' resulted in error: no such key: nope";
  assert.equal(answer(policy({}, 'object.nope == 1')), denied(nope));
  assert.equal(answer(policy({ failurePolicy: 'Ignore' }, 'object.nope == 1')), 'allowed');
  assert.equal(
    answer(policy({ failurePolicy: 'Ignore' }, 'object.nope == 1', 'false')),
    denied('failed expression: false'),
  );
  assert.equal(answer(policy({}, 'object.spec.s')), denied('compilation error: must evaluate to bool but got dyn'));
  assert.match(answer(policy({}, 'foo(')), /compilation error: compilation failed: ERROR: <input>:1:5: Syntax error/);
});

test('variables are evaluated when they are needed, and know those before them', () => {
  const variables = [
    { name: 'a', expression: 'object.spec.n' },
    { name: 'b', expression: 'variables.a + 1' },
    { name: 'bad', expression: 'object.nope' },
    { name: 'text', expression: '"x"' },
  ];
  assert.equal(answer(policy({ variables }, 'variables.b == 2')), 'allowed');
  assert.equal(
    answer(policy({ variables }, { expression: 'variables.b == 3', messageExpression: '"b=" + string(variables.b)' })),
    denied('b=2'),
  );
  assert.equal(
    answer(policy({ variables }, 'variables.bad == 1')),
    denied(
      `expression 'variables.bad == 1' resulted in error: composited variable "bad" fails to evaluate: no such key: nope`,
    ),
  );
  assert.match(
    answer(policy({ variables }, 'variables.text > 1')),
    /found no matching overload for '_>_' applied to '\(string, int\)'/,
  );
  assert.match(answer(policy({ variables }, 'variables.none == 1')), /undefined field 'none'/);
});

test('match conditions: one that says no ends it, one that fails refuses', () => {
  const when = (...expressions: readonly string[]): Spec => ({
    matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression })),
  });
  assert.equal(answer(policy(when('true'), 'false')), denied('failed expression: false'));
  assert.equal(answer(policy(when('false'), 'false')), 'allowed');
  assert.equal(answer(policy(when('object.nope == 1', 'false'), 'false')), 'allowed');
  assert.equal(
    answer(policy(when('object.nope == 1'), 'false')),
    denied("expression 'object.nope == 1' resulted in error: no such key: nope"),
  );
  assert.equal(answer(policy({ ...when('object.nope == 1'), failurePolicy: 'Ignore' }, 'false')), 'allowed');
});

test('which requests a policy, or a binding, is about', () => {
  const [rule] = all.resourceRules as readonly [object];
  const rows: readonly (readonly [Partial<MatchResources>, boolean, Partial<AdmissionRequest>?])[] = [
    [{}, true],
    [{ resourceRules: [{ ...rule, operations: ['UPDATE'] }] }, false],
    [{ resourceRules: [{ ...rule, apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] }, true],
    [{ resourceRules: [{ ...rule, resources: ['foos/*'] }] }, true, { subResource: 'status' }],
    [{ resourceRules: [{ ...rule, resources: ['foos'] }] }, false, { subResource: 'status' }],
    [{ resourceRules: [{ ...rule, resourceNames: ['y'] }] }, false],
    [{ resourceRules: [{ ...rule, resourceNames: ['x'] }] }, true],
    [{ resourceRules: [{ ...rule, scope: 'Cluster' }] }, false],
    [{ resourceRules: [{ ...rule, scope: 'Namespaced' }] }, true],
    [{ resourceRules: [{ ...rule, apiVersions: ['v2'] }] }, false],
    [{ excludeResourceRules: [rule] }, false],
    [{ namespaceSelector: { matchLabels: { team: 'x' } } }, true],
    [{ namespaceSelector: { matchLabels: { team: 'y' } } }, false],
    [{ objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } }, true],
    [{ objectSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] } }, false],
    [{ objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } }, false],
    [{ objectSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } }, true],
  ];
  for (const [match, isMatch, over] of rows) {
    const expected = isMatch ? denied('failed expression: false') : 'allowed';
    const constraints = { ...all, ...match };
    assert.equal(answer(policy({ matchConstraints: constraints }, 'false'), undefined, over), expected);
    assert.equal(answer(policy({}, 'false'), [binding({ matchResources: constraints })], over), expected);
  }
});

test('a policy that names another version sees the object in that version', () => {
  const older = { group: 'example.com', version: 'v1alpha1' };
  const equivalents = [
    { kind: { ...older, kind: 'Foo' }, resource: { ...older, resource: 'foos' }, object: { spec: { old: true } } },
  ];
  const [rule] = all.resourceRules as readonly [object];
  const matchConstraints = { ...all, resourceRules: [{ ...rule, apiVersions: ['v1alpha1'] }] };
  const made = policy(
    { matchConstraints },
    '!object.spec.old || request.kind.version != "v1alpha1" || request.requestKind.version != "v1"',
  );
  assert.equal(answer(made, undefined, { equivalents }).startsWith("with binding 'b' denied request"), true);
  const exact = policy({ matchConstraints: { ...matchConstraints, matchPolicy: 'Exact' } }, 'false');
  assert.equal(answer(exact, undefined, { equivalents }), 'allowed');
});

test('a missing namespace is a wrong configuration, not a match', () => {
  const matchConstraints = { ...all, namespaceSelector: { matchLabels: { team: 'x' } } };
  assert.equal(
    answer(policy({ matchConstraints }, 'true'), undefined, { namespaceObject: undefined }),
    'denied request: failed to configure policy: namespaces "ns" not found',
  );
});

test('the parameter may be a Lease: a leader of the past is refused', () => {
  const paramKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
  const fence = policy(
    { paramKind },
    {
      expression: 'string(params.spec.leaseTransitions) == object.metadata.annotations["reeve.dev/lease"]',
      messageExpression: '"the lease is at " + string(params.spec.leaseTransitions)',
    },
  );
  const bound = [binding({ paramRef: { name: 'lead', parameterNotFoundAction: 'Deny' } })];
  const written = (lease: string): Partial<AdmissionRequest> => ({
    object: { ...object, metadata: { name: 'x', annotations: { 'reeve.dev/lease': lease } } },
  });
  assert.equal(answer(fence, bound, written('3')), 'allowed');
  assert.equal(answer(fence, bound, written('2')), denied('the lease is at 3'));
});

test('parameters by name, by selector, or none', () => {
  const paramKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
  const made = policy({ paramKind }, 'params == null || params.spec.holderIdentity == "you"');
  const refused = denied('failed expression: params == null || params.spec.holderIdentity == "you"');
  const failed = (problem: string): string => denied(`failed to configure binding: ${problem}`);
  const none = failed('no params found for policy binding with `Deny` parameterNotFoundAction');
  const rows: readonly (readonly [ValidatingAdmissionPolicyBinding['spec']['paramRef'], string])[] = [
    [undefined, 'allowed'],
    [{ name: 'lead', parameterNotFoundAction: 'Deny' }, refused],
    [{ name: 'lead', namespace: 'other', parameterNotFoundAction: 'Deny' }, none],
    [{ name: 'nope', parameterNotFoundAction: 'Allow' }, 'allowed'],
    [{ selector: { matchLabels: { l: '1' } }, parameterNotFoundAction: 'Deny' }, refused],
    [{ selector: { matchLabels: { l: '2' } }, parameterNotFoundAction: 'Deny' }, none],
    [{ parameterNotFoundAction: 'Deny' }, failed('one of name or selector must be provided')],
  ];
  for (const [paramRef, expected] of rows) {
    assert.equal(answer(made, [binding(paramRef ? { paramRef } : {})]), expected);
  }
  const unknown = policy({ paramKind: { apiVersion: 'v1', kind: 'Nope' } }, 'true');
  assert.equal(
    answer(unknown, [binding({ paramRef: { name: 'x' } })]),
    failed('paramKind kind `v1, Kind=Nope` not known'),
  );
});

test('actions: only Deny refuses, Warn tells, and without a binding nothing happens', () => {
  const made = [compilePolicy(policy({}, { expression: 'false', message: 'm' }))];
  assert.deepEqual(admit(made, [binding({ validationActions: ['Warn'] })], request, ports), {
    warnings: ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': m"],
  });
  assert.deepEqual(admit(made, [binding({ validationActions: ['Audit'] })], request, ports), { warnings: [] });
  assert.deepEqual(admit(made, [], request, ports), { warnings: [] });
});

test('policies cannot lock themselves', () => {
  const resource = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' };
  const matchConstraints = { ...all, resourceRules: [] };
  const made = [compilePolicy(policy({ matchConstraints }, 'false'))];
  assert.deepEqual(admit(made, [binding()], { ...request, resource }, ports), { warnings: [] });
});

test('runaway expressions end with the budget', () => {
  assert.match(
    answer(policy({}, 'lists.range(1000000000).size() > 0')),
    /operation cancelled: actual cost limit exceeded/,
  );
});

test('what is not said is filled in, and then nothing is missing', () => {
  const [rule] = all.resourceRules as readonly [object];
  const matchConstraints = { resourceRules: [rule] };
  const bare = { metadata: { name: 'p' }, spec: { matchConstraints, validations: [{ expression: 'true' }] } };
  const filled = withPolicyDefaults<ValidatingAdmissionPolicy>(bare);
  assert.deepEqual(filled.spec, {
    failurePolicy: 'Fail',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [{ scope: '*', ...rule }],
    },
    validations: [{ expression: 'true' }],
  });
  assert.deepEqual(policyErrors(filled), []);
  assert.deepEqual(withPolicyDefaults(filled), filled);
  assert.deepEqual(bindingErrors(withBindingDefaults(binding({ matchResources: matchConstraints }))), []);
});

test('what is refused when a policy or a binding is written', () => {
  assert.deepEqual(policyErrors(policy({}, 'true')), []);
  const errors = policyErrors(
    policy({ failurePolicy: 'Maybe', variables: [{ name: 'a-b', expression: 'true' }] }, '1', {
      expression: 'true',
      reason: 'Why',
      message: ' ',
    }),
  );
  assert.deepEqual(errors.map(describeFieldError), [
    'spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
    'spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier',
    'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
    'spec.validations[1].message: Invalid value: " ": must be non-empty if specified',
    'spec.validations[1].reason: Unsupported value: "Why": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"',
  ]);
  assert.deepEqual(bindingErrors(binding()), []);
  assert.deepEqual(
    bindingErrors(binding({ policyName: '', validationActions: ['Deny', 'Warn'], paramRef: { name: 'x' } })).map(
      ({ field }) => field,
    ),
    ['spec.policyName', 'spec.paramRef.parameterNotFoundAction', 'spec.validationActions'],
  );
});
