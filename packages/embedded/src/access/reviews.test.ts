import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binding, BINDINGS, openAccess, role, ROLES, rule } from './access-testing.ts';

const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const pods = { namespace: 'default', verb: 'get', resource: 'pods' };

async function world() {
  const opened = await openAccess();
  await opened.as('root', 'POST', BINDINGS, binding('views', 'view', 'ann'));
  const review = (who: string, kind: string, spec: object, metadata?: object) =>
    opened.as(who, 'POST', `${AUTHORIZATION}/${kind}`, { spec, ...(metadata && { metadata }) });
  return { ...opened, review };
}

test('may I, may he', async () => {
  const { review } = await world();
  const mine = await review('ann', 'selfsubjectaccessreviews', { resourceAttributes: pods });
  const reason = 'RBAC: allowed by RoleBinding "views/default" of ClusterRole "view" to User "ann"';
  assert.deepEqual([mine.status, mine.json.status], [201, { allowed: true, reason }]);
  const secrets = { ...pods, resource: 'secrets' };
  const others = await review('ann', 'selfsubjectaccessreviews', { resourceAttributes: secrets });
  assert.deepEqual(others.json.status, { allowed: false });
  const his = await review('root', 'subjectaccessreviews', { user: 'ann', resourceAttributes: pods });
  assert.equal(his.json.status.allowed, true);
  const group = { groups: ['system:unauthenticated'], nonResourceAttributes: { path: '/version', verb: 'get' } };
  assert.equal((await review('root', 'subjectaccessreviews', group)).json.status.allowed, true);
  const denied = await review('ann', 'subjectaccessreviews', { user: 'bob', resourceAttributes: pods });
  assert.equal(denied.status, 403);
});

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ['selfsubjectaccessreviews', {}, /exactly one of nonResourceAttributes or resourceAttributes must be specified/],
  [
    'selfsubjectaccessreviews',
    { resourceAttributes: pods, nonResourceAttributes: { path: '/' } },
    /cannot be specified in combination/,
  ],
  ['subjectaccessreviews', { resourceAttributes: pods }, /at least one of user or group must be specified/],
];

test('questions that make no sense', async () => {
  const { review } = await world();
  for (const [kind, spec, message] of wrong) {
    const { status, json } = await review('root', kind, spec);
    assert.equal(status, 422, kind);
    assert.match(json.message ?? '', message);
  }
  const named = await review('root', 'selfsubjectaccessreviews', { resourceAttributes: pods }, { name: 'x' });
  assert.match(named.json.message ?? '', /metadata: Invalid value: .*must be empty/);
});

test('a question within a namespace stays in it', async () => {
  const { as } = await world();
  const path = `${AUTHORIZATION}/namespaces/default/localsubjectaccessreviews`;
  const fine = await as('root', 'POST', path, { spec: { user: 'ann', resourceAttributes: pods } });
  assert.deepEqual([fine.status, fine.json.status.allowed], [201, true]);
  const there = { ...pods, namespace: 'kube-system' };
  assert.equal((await as('root', 'POST', path, { spec: { user: 'ann', resourceAttributes: there } })).status, 422);
});

test('all that I may', async () => {
  const { review } = await world();
  const { json } = await review('ann', 'selfsubjectrulesreviews', { namespace: 'default' });
  const status = json.status as { resourceRules?: readonly { resources: readonly string[] }[]; incomplete?: boolean };
  assert.ok(status.resourceRules?.some(({ resources }) => resources.includes('configmaps')));
  assert.ok(!status.resourceRules?.some(({ resources }) => resources.includes('secrets')));
  assert.equal(status.incomplete, false);
});

test('who is behind a token', async () => {
  const { as } = await world();
  const known = await as('root', 'POST', TOKEN_REVIEWS, { spec: { token: 'static-token-of-ann' } });
  assert.deepEqual(known.json.status.user, { username: 'ann', groups: ['devs', 'system:authenticated'] });
  const unknown = await as('root', 'POST', TOKEN_REVIEWS, { spec: { token: 'x.y.z' } });
  assert.deepEqual(unknown.json.status, { user: {}, error: 'invalid bearer token' });
  assert.equal((await as('root', 'POST', TOKEN_REVIEWS, { spec: {} })).status, 400);
  assert.equal((await as('ann', 'POST', TOKEN_REVIEWS, { spec: { token: 'x' } })).status, 403);
});

test('reviews are told by discovery, and are made, not read', async () => {
  const { as } = await world();
  const { json } = await as('ann', 'GET', '/apis/authentication.k8s.io/v1');
  const resources = (json as unknown as { resources: readonly { name: string; verbs: readonly string[] }[] }).resources;
  assert.deepEqual(
    resources.map(({ name, verbs }) => [name, verbs]),
    [
      ['selfsubjectreviews', ['create']],
      ['tokenreviews', ['create']],
    ],
  );
  assert.equal((await as('root', 'GET', TOKEN_REVIEWS)).status, 405);
});

test('what everybody may, what nobody may, and in which words', async () => {
  const { as } = await world();
  assert.equal((await as('bob', 'GET', '/api')).status, 200);
  const { status, json } = await as('bob', 'GET', '/api/v1/namespaces/default/pods/web');
  assert.equal(status, 403);
  const text = 'User "bob" cannot get resource "pods" in API group "" in the namespace "default"';
  assert.equal(json.message, `pods "web" is forbidden: ${text}`);
});

test('an update that creates needs the right to create', async () => {
  const { as } = await world();
  await as('root', 'POST', ROLES, role('changing', rule(['update', 'get'], 'rbac.authorization.k8s.io', 'roles')));
  await as('root', 'POST', BINDINGS, binding('changing', 'changing', 'ann', 'Role'));
  const { status, json } = await as('ann', 'PUT', `${ROLES}/new`, role('new'));
  assert.equal(status, 403);
  assert.match(
    json.message ?? '',
    /^roles\.rbac\.authorization\.k8s\.io "new" is forbidden: User "ann" cannot create resource "roles"/,
  );
  await as('root', 'POST', ROLES, role('new'));
  assert.equal((await as('ann', 'PUT', `${ROLES}/new`, role('new'))).status, 200);
});

test('every namespace has its default account, also one that comes later', async () => {
  const { as } = await world();
  await as('root', 'POST', '/api/v1/namespaces', { metadata: { name: 'later' } });
  const found = async () => (await as('root', 'GET', '/api/v1/namespaces/later/serviceaccounts/default')).status;
  for (let turn = 0; turn < 100 && (await found()) !== 200; turn++);
  assert.equal(await found(), 200);
});

test('questions with integers that no double holds are answered', async () => {
  const { as, errors } = await world();
  const most = 9223372036854775807n;
  const self = await as('root', 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    metadata: { generation: most },
  });
  assert.equal(self.status, 201);
  const may = { spec: { resourceAttributes: pods, extra: most } };
  const mine = await as('root', 'POST', `${AUTHORIZATION}/selfsubjectaccessreviews`, may);
  assert.deepEqual([mine.status, mine.json.status.allowed], [201, true]);
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
  const token = await as('root', 'POST', path, { metadata: { generation: most }, spec: { audiences: ['a'] } });
  assert.equal(token.status, 201);
  const long = await as('root', 'POST', path, { spec: { expirationSeconds: most } });
  assert.deepEqual(
    [long.status, long.json.message],
    [
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 9223372036854775807: may not specify a duration larger than 2^32 seconds',
    ],
  );
  const odd = await as('root', 'POST', path, { spec: { expirationSeconds: 600.5 } });
  assert.deepEqual(
    [odd.status, odd.json.message],
    [
      400,
      'TokenRequest in version "v1" cannot be handled as a TokenRequest: json: cannot unmarshal number 600.5 into Go struct field TokenRequestSpec.spec.expirationSeconds of type int64',
    ],
  );
  assert.deepEqual(errors, []);
});
