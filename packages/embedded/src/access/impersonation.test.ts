import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binding, CLUSTER_BINDINGS, CLUSTER_ROLES, openAccess, role, rule, tokenOf } from './access-testing.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;
const KEY = 'reeve.dev/term';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** Ann with these rights, which she also has herself. */
async function world(...rules: readonly object[]) {
  const opened = await openAccess();
  await opened.as('root', 'POST', CLUSTER_ROLES, role('acting', ...rules));
  await opened.as('root', 'POST', CLUSTER_BINDINGS, binding('acting', 'acting', 'ann'));
  const list = (headers: Headers) => opened.as('ann', 'GET', CONFIG_MAPS, undefined, headers);
  return { ...opened, list };
}
const users = (...names: readonly string[]) => ({ ...rule(['impersonate'], '', 'users'), resourceNames: names });
const groups = (...names: readonly string[]) => ({ ...rule(['impersonate'], '', 'groups'), resourceNames: names });
const extra = (key: string) => rule(['impersonate'], 'authentication.k8s.io', `userextras/${key}`);
const extraHeader = `impersonate-extra-${encodeURIComponent(KEY).toLowerCase()}`;

test('whoever may not act as somebody does not', async () => {
  const { list } = await world(rule(['list'], '', 'configmaps'));
  const { status, json } = await list({ 'impersonate-user': 'bob' });
  assert.equal(status, 403);
  const text =
    'User "ann" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "default"';
  assert.equal(json.message, `configmaps is forbidden: ${text}`);
  assert.equal((await list({ 'impersonate-user': '' })).status, 200);
});

test('who acts as another has the rights of the other, and no longer his own', async () => {
  const { list, as } = await world(rule(['list'], '', 'configmaps'), users('bob'));
  const refused = await list({ 'impersonate-user': 'bob' });
  assert.match(refused.json.message ?? '', /^configmaps is forbidden: User "bob" cannot list resource/);
  await as('root', 'POST', CLUSTER_BINDINGS, binding('bobs', 'acting', 'bob'));
  assert.equal((await list({ 'impersonate-user': 'bob' })).status, 200);
});

test('to act as oneself with one key more, as the fence does', async () => {
  const { whoami } = await world(users('ann'), groups('devs', 'system:authenticated'), extra(KEY));
  const headers = {
    'impersonate-user': 'ann',
    'impersonate-group': ['devs', 'system:authenticated'],
    [extraHeader]: '7/me',
  };
  assert.deepEqual(await whoami(tokenOf('ann'), headers), {
    name: 'ann',
    groups: ['devs', 'system:authenticated'],
    extra: { [KEY]: ['7/me'] },
  });
});

test('an account acts as itself with one key more, and as no other account', async () => {
  const { as, send, whoami } = await openAccess();
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await as('root', 'POST', accounts, { metadata: { name: 'robot' } });
  const { json } = await as('root', 'POST', `${accounts}/robot/token`, {});
  const token = json.status.token ?? '';
  const own = ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'];
  const itself = { ...rule(['impersonate'], '', 'serviceaccounts'), resourceNames: ['robot'] };
  await as('root', 'POST', CLUSTER_ROLES, role('fence', itself, groups(...own), extra(KEY)));
  const name = 'system:serviceaccount:default:robot';
  await as('root', 'POST', CLUSTER_BINDINGS, binding('fence', 'fence', name));
  const headers = { 'impersonate-user': name, 'impersonate-group': own, [extraHeader]: '7/me' };
  assert.deepEqual(await whoami(token, headers), { name, groups: own, extra: { [KEY]: ['7/me'] } });
  const other = { ...headers, 'impersonate-user': 'system:serviceaccount:default:default' };
  assert.equal((await send(token, 'GET', '/version', undefined, other)).status, 403);
});

const refusals: readonly (readonly [string, Headers])[] = [
  ['another user', { 'impersonate-user': 'root' }],
  ['a group more', { 'impersonate-user': 'ann', 'impersonate-group': ['devs', 'system:masters'] }],
  ['a group with a comma is one group', { 'impersonate-user': 'ann', 'impersonate-group': 'devs, devs' }],
  ['another key', { 'impersonate-user': 'ann', 'impersonate-extra-other': 'x' }],
  ['a key that only looks like it', { 'impersonate-user': 'ann', 'impersonate-extra-reeve.dev%252fterm': 'x' }],
  ['a uid', { 'impersonate-user': 'ann', 'impersonate-uid': 'x' }],
  ['an account', { 'impersonate-user': 'system:serviceaccount:default:default' }],
  ['a node', { 'impersonate-user': 'system:node:n1' }],
  ['one of two names', { 'impersonate-user': ['root', 'ann'] }],
];

for (const [name, headers] of refusals) {
  test(`not allowed to be: ${name}`, async () => {
    const { list } = await world(rule(['list'], '', 'configmaps'), users('ann'), groups('devs'), extra(KEY));
    assert.equal((await list({ 'impersonate-user': 'ann', [extraHeader]: 'fine' })).status, 200);
    assert.equal((await list(headers)).status, 403);
  });
}

test('what is said of nobody is refused', async () => {
  const { list } = await world();
  const { status, json } = await list({ 'impersonate-group': 'devs', 'impersonate-extra-a': ['x', 'y'] });
  assert.equal(status, 400);
  const wanted =
    '&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string{"a":[]string{"x", "y"}}}';
  assert.equal(json.message, `requested ${wanted} without impersonating a user name`);
});

test('groups that are not said: those of an account, of everybody, of nobody', async () => {
  const { whoami } = await openAccess();
  const seen = async (name: string, more: Headers = {}) =>
    (await whoami(tokenOf('root'), { 'impersonate-user': name, ...more }).catch(() => undefined))?.groups;
  assert.deepEqual(await seen('bob'), ['system:authenticated']);
  assert.deepEqual(await seen('system:serviceaccount:a:b'), [
    'system:serviceaccounts',
    'system:serviceaccounts:a',
    'system:authenticated',
  ]);
  assert.deepEqual(await seen('bob', { 'impersonate-group': 'x' }), ['x', 'system:authenticated']);
});

test('the narrow ways: only these requests, never the masters', async () => {
  const inGroup = (verb: string, resource: string) => rule([verb], 'authentication.k8s.io', resource);
  const { list, as } = await world(
    rule(['impersonate-on:user-info:list'], '', 'configmaps'),
    inGroup('impersonate:user-info', 'users'),
    inGroup('impersonate:user-info', 'groups'),
  );
  await as('root', 'POST', CLUSTER_ROLES, role('lists', rule(['list', 'create'], '', 'configmaps')));
  await as('root', 'POST', CLUSTER_BINDINGS, binding('lists', 'lists', 'bob'));
  assert.equal((await list({ 'impersonate-user': 'bob' })).status, 200);
  const create = await as('ann', 'POST', CONFIG_MAPS, { metadata: { name: 'x' } }, { 'impersonate-user': 'bob' });
  assert.equal(create.status, 403);
  const master = await list({ 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' });
  assert.match(master.json.message ?? '', /impersonating the system:masters group is not allowed$/);
});

test('policies see the user that a request acts as', async () => {
  const { as } = await openAccess();
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  await as('root', 'POST', policies, {
    metadata: { name: 'fence' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
      validations: [{ expression: `request.userInfo.?extra[?'${KEY}'].orValue([]) == ['7/me']` }],
    },
  });
  await as('root', 'POST', `${policies.replace(/ies$/, 'ybindings')}`, {
    metadata: { name: 'fence' },
    spec: { policyName: 'fence', validationActions: ['Deny'] },
  });
  const create = (name: string, term: string) =>
    as(
      'root',
      'POST',
      CONFIG_MAPS,
      { metadata: { name } },
      {
        'impersonate-user': 'root',
        'impersonate-group': 'system:masters',
        [extraHeader]: term,
      },
    );
  assert.equal((await create('a', '6/me')).status, 422);
  const { status, json } = await create('b', '7/me');
  assert.equal(status, 201, json.message);
  assert.equal((await as('root', 'POST', CONFIG_MAPS, { metadata: { name: 'c' } })).status, 422);
});
