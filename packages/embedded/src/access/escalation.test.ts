import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binding, BINDINGS, CLUSTER_BINDINGS, CLUSTER_ROLES, openAccess, role, ROLES, rule } from './access-testing.ts';
import { compacted, uncovered } from './cover.ts';
import { readRules, ruleText } from './rule.ts';

const coverCases: readonly (readonly [string, readonly object[], object, readonly string[]])[] = [
  ['the same', [rule(['get'], '', 'pods')], rule(['get'], '', 'pods'), []],
  [
    'a verb more',
    [rule(['get'], '', 'pods')],
    rule(['get', 'list', 'watch'], '', 'pods'),
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}'],
  ],
  [
    'a star is more than all verbs one has',
    [rule(['get', 'list'], '', 'pods')],
    rule(['*'], '', 'pods'),
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  ['all that there is', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], rule(['*'], '*', '*', 'a/b'), []],
  [
    'several rules together',
    [rule(['get'], '', 'pods'), rule(['get'], '', 'secrets')],
    rule(['get'], '', 'pods', 'secrets'),
    [],
  ],
  ['a subresource of all', [rule(['get'], '', '*/log')], rule(['get'], '', 'pods/log'), []],
  [
    'a resource is not its subresource',
    [rule(['get'], '', 'pods')],
    rule(['get'], '', 'pods/log'),
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  ['a name of all', [rule(['get'], '', 'pods')], { ...rule(['get'], '', 'pods'), resourceNames: ['a'] }, []],
  [
    'all of a name',
    [{ ...rule(['get'], '', 'pods'), resourceNames: ['a'] }],
    rule(['get'], '', 'pods'),
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'a name more',
    [{ ...rule(['get'], '', 'pods'), resourceNames: ['a'] }],
    { ...rule(['get'], '', 'pods'), resourceNames: ['a', 'b'] },
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  [
    'a path below',
    [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }],
    { verbs: ['get'], nonResourceURLs: ['/a/b/*'] },
    [],
  ],
  [
    'a path above',
    [{ verbs: ['get'], nonResourceURLs: ['/a/b'] }],
    { verbs: ['get'], nonResourceURLs: ['/a/*'] },
    ['{NonResourceURLs:["/a/*"], Verbs:["get"]}'],
  ],
];

for (const [name, owned, wanted, missing] of coverCases) {
  test(`covered: ${name}`, () => {
    assert.deepEqual(compacted(uncovered(readRules(owned), readRules([wanted]))).map(ruleText), missing);
  });
}

/** Ann may write roles and bindings, and read pods. */
async function world() {
  const opened = await openAccess();
  const all = ['create', 'get', 'update', 'patch', 'delete'];
  const granting = rule(
    all,
    'rbac.authorization.k8s.io',
    'roles',
    'rolebindings',
    'clusterroles',
    'clusterrolebindings',
  );
  await opened.as('root', 'POST', CLUSTER_ROLES, role('granting', granting));
  await opened.as('root', 'POST', CLUSTER_ROLES, role('reading', rule(['get'], '', 'pods')));
  await opened.as('root', 'POST', CLUSTER_BINDINGS, binding('granting', 'granting', 'ann'));
  await opened.as('root', 'POST', CLUSTER_BINDINGS, binding('reading', 'reading', 'ann'));
  return opened;
}
const WHO =
  'user "ann" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held';

test('a role has no rights that its writer lacks, on any way', async () => {
  const { as } = await world();
  assert.equal((await as('ann', 'POST', ROLES, role('mine', rule(['get'], '', 'pods')))).status, 201);
  const more = role('more', rule(['get', 'list'], '', 'pods'), rule(['get'], '', 'secrets'));
  const missing =
    '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}';
  const refused = await as('ann', 'POST', ROLES, more);
  assert.equal(refused.status, 403);
  assert.equal(refused.json.message, `roles.rbac.authorization.k8s.io "more" is forbidden: ${WHO}:\n${missing}`);
  assert.equal((await as('ann', 'PUT', `${ROLES}/mine`, { ...more, metadata: { name: 'mine' } })).status, 403);
  // A PUT that creates.
  assert.equal((await as('ann', 'PUT', `${ROLES}/more`, more)).status, 403);
  assert.equal((await as('ann', 'POST', CLUSTER_ROLES, more)).status, 403);
});

test('a binding gives no rights that its writer lacks, nor roles that are not there', async () => {
  const { as } = await world();
  assert.equal((await as('ann', 'POST', BINDINGS, binding('fine', 'reading', 'bob'))).status, 201);
  const refused = await as('ann', 'POST', BINDINGS, binding('bad', 'cluster-admin', 'ann'));
  assert.equal(refused.status, 403);
  assert.match(
    refused.json.message ?? '',
    /^rolebindings\.rbac\.authorization\.k8s\.io "bad" is forbidden: user "ann"/,
  );
  assert.equal((await as('ann', 'POST', CLUSTER_BINDINGS, binding('bad', 'cluster-admin', 'ann'))).status, 403);
  const nothing = await as('ann', 'POST', BINDINGS, binding('dangling', 'none', 'bob'));
  assert.equal(nothing.status, 404);
  assert.equal(nothing.json.message, 'rolebindings.rbac.authorization.k8s.io "none" not found');
});

test('escalate and bind are rights of their own', async () => {
  const { as } = await world();
  const escalate = rule(['escalate'], 'rbac.authorization.k8s.io', 'roles');
  const bind = { ...rule(['bind'], 'rbac.authorization.k8s.io', 'clusterroles'), resourceNames: ['edit'] };
  await as('root', 'POST', ROLES, role('beyond', escalate, bind));
  await as('root', 'POST', BINDINGS, binding('beyond', 'beyond', 'ann', 'Role'));
  const more = role('more', rule(['*'], '*', '*'));
  assert.equal((await as('ann', 'POST', ROLES, more)).status, 201);
  assert.equal((await as('ann', 'POST', CLUSTER_ROLES, more)).status, 403);
  assert.equal((await as('ann', 'POST', BINDINGS, binding('edits', 'edit', 'bob'))).status, 201);
  assert.equal((await as('ann', 'POST', BINDINGS, binding('admins', 'admin', 'bob'))).status, 403);
  assert.equal((await as('ann', 'POST', CLUSTER_BINDINGS, binding('edits', 'edit', 'bob'))).status, 403);
});

test('roles of roles need everything; who collects garbage needs nothing', async () => {
  const { as } = await world();
  const gathering = { ...role('all'), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
  const refused = await as('ann', 'POST', CLUSTER_ROLES, gathering);
  assert.equal(refused.status, 403);
  assert.match(refused.json.message ?? '', /must have cluster-admin privileges to use the aggregationRule$/);
  const { json } = await as('root', 'POST', CLUSTER_ROLES, role('strong', rule(['*'], '*', '*')));
  const collected = { ...json, metadata: { ...json.metadata, finalizers: ['example.com/x'] } };
  const written = await as('ann', 'PUT', `${CLUSTER_ROLES}/strong`, collected);
  assert.equal(written.status, 200, written.json.message);
  const labelled = { ...written.json, metadata: { ...written.json.metadata, labels: { a: 'b' } } };
  assert.equal((await as('ann', 'PUT', `${CLUSTER_ROLES}/strong`, labelled)).status, 403);
});

test('roles of roles have the rules of what they select, at once and later', async () => {
  const { as, store, errors } = await openAccess();
  const rulesOf = async (name: string) =>
    JSON.stringify((await as('root', 'GET', `${CLUSTER_ROLES}/${name}`)).json.rules);
  assert.match(await rulesOf('view'), /configmaps/);
  assert.doesNotMatch(await rulesOf('view'), /secrets/);
  assert.match(await rulesOf('admin'), /rolebindings/);
  assert.match(await rulesOf('admin'), /secrets/);
  const widgets = role('widgets', rule(['get'], 'example.com', 'widgets'));
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
  await as('root', 'POST', CLUSTER_ROLES, { ...widgets, metadata: { name: 'widgets', labels } });
  const until = async (name: string, expected: boolean): Promise<void> => {
    for (let turn = 0; turn < 100 && /widgets/.test(await rulesOf(name)) !== expected; turn++);
    assert.equal(/widgets/.test(await rulesOf(name)), expected, name);
  };
  for (const name of ['view', 'edit', 'admin']) await until(name, true);
  await as('root', 'DELETE', `${CLUSTER_ROLES}/widgets`);
  for (const name of ['view', 'edit', 'admin']) await until(name, false);
  // And then it rests.
  const { revision } = store;
  await rulesOf('view');
  assert.deepEqual([store.revision, errors], [revision, []]);
});

const invalidObjects: readonly (readonly [string, object, RegExp])[] = [
  [ROLES, role('x', { apiGroups: [''], resources: ['pods'] }), /rules\[0\]\.verbs: Required value: verbs must contain/],
  [ROLES, role('x', { verbs: ['get'], nonResourceURLs: ['/x'] }), /namespaced rules cannot apply to non-resource URLs/],
  [CLUSTER_ROLES, role('x', { verbs: ['get'], nonResourceURLs: ['/x'], resources: ['a'] }), /cannot apply to both/],
  [CLUSTER_ROLES, role('x', { verbs: ['get'] }), /apiGroups: Required value.*resources: Required value/],
  [CLUSTER_ROLES, { ...role('x'), aggregationRule: {} }, /aggregationRule\.clusterRoleSelectors: Required value/],
  [CLUSTER_BINDINGS, binding('x', 'view', 'bob', 'Role'), /roleRef\.kind: Unsupported value: "Role"/],
  [BINDINGS, binding('x', 'a/b', 'bob'), /roleRef\.name: Invalid value: "a\/b"/],
  [
    BINDINGS,
    { ...binding('x', 'view', ''), subjects: [{ kind: 'Robot', name: 'r' }] },
    /subjects\[0\]\.kind: Unsupported/,
  ],
  [
    CLUSTER_BINDINGS,
    { ...binding('x', 'view', ''), subjects: [{ kind: 'ServiceAccount', name: 'r' }] },
    /namespace: Required/,
  ],
];

test('roles and bindings that make no sense; a binding is of one role for ever', async () => {
  const { as } = await openAccess();
  for (const [path, object, message] of invalidObjects) {
    const { status, json } = await as('root', 'POST', path, object);
    assert.equal(status, 422, json.message ?? path);
    assert.match(json.message ?? '', message);
  }
  await as('root', 'POST', BINDINGS, binding('b', 'view', 'bob'));
  const changed = await as('root', 'PUT', `${BINDINGS}/b`, binding('b', 'edit', 'bob'));
  assert.match(changed.json.message ?? '', /roleRef: Invalid value: .*: cannot change roleRef/);
});
