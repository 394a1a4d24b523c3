import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryJournal } from '../store/journal.ts';
import { Store } from '../store/store.ts';
import type { Attributes, User } from './access.ts';
import { RBAC } from './groups.ts';
import { rbacAuthorization } from './rbac.ts';
import { Roles } from './roles.ts';
import { type Asked, readRules, ruleAllows } from './rule.ts';

const pods: Asked = { verb: 'get', path: undefined, group: '', resource: 'pods', subresource: '', name: 'web' };

const ruleCases: readonly (readonly [string, object, Partial<Asked>, boolean])[] = [
  ['what it says', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, {}, true],
  ['another verb', { verbs: ['list'], apiGroups: [''], resources: ['pods'] }, {}, false],
  ['all verbs', { verbs: ['*'], apiGroups: [''], resources: ['pods'] }, { verb: 'impersonate' }, true],
  ['another group', { verbs: ['get'], apiGroups: ['apps'], resources: ['pods'] }, {}, false],
  ['all groups', { verbs: ['get'], apiGroups: ['*'], resources: ['pods'] }, { group: 'apps' }, true],
  ['no group', { verbs: ['get'], resources: ['pods'] }, {}, false],
  ['all resources', { verbs: ['get'], apiGroups: [''], resources: ['*'] }, { subresource: 'log' }, true],
  [
    'a resource is not its subresource',
    { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    { subresource: 'log' },
    false,
  ],
  ['a subresource', { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, { subresource: 'log' }, true],
  ['a subresource is not its resource', { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, {}, false],
  ['a subresource of all', { verbs: ['get'], apiGroups: [''], resources: ['*/scale'] }, { subresource: 'scale' }, true],
  [
    'another subresource of all',
    { verbs: ['get'], apiGroups: [''], resources: ['*/scale'] },
    { subresource: 'log' },
    false,
  ],
  [
    'all subresources is no wildcard',
    { verbs: ['get'], apiGroups: [''], resources: ['pods/*'] },
    { subresource: 'log' },
    false,
  ],
  ['a name', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['web'] }, {}, true],
  ['another name', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['db'] }, {}, false],
  [
    'no name, as of a create',
    { verbs: ['*'], apiGroups: [''], resources: ['pods'], resourceNames: ['web'] },
    { name: '' },
    false,
  ],
  ['a star is no name', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['*'] }, {}, false],
  ['a path', { verbs: ['get'], nonResourceURLs: ['/version'] }, { path: '/version' }, true],
  ['a path below', { verbs: ['get'], nonResourceURLs: ['/apis/*'] }, { path: '/apis/apps' }, true],
  ['a path above', { verbs: ['get'], nonResourceURLs: ['/apis/*'] }, { path: '/apis' }, false],
  ['all paths', { verbs: ['*'], nonResourceURLs: ['*'] }, { path: '/x' }, true],
  ['a path is no resource', { verbs: ['*'], nonResourceURLs: ['*'] }, {}, false],
  ['a resource is no path', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { path: '/version' }, false],
  ['a star within a path', { verbs: ['get'], nonResourceURLs: ['/a/*/b'] }, { path: '/a/x/b' }, false],
  ['what is no rule', { verbs: 'get', apiGroups: '*', resources: { '0': '*' } }, {}, false],
];

for (const [name, rule, asked, expected] of ruleCases) {
  test(`a rule allows: ${name}`, () => {
    assert.deepEqual(
      readRules([rule]).map((one) => ruleAllows(one, { ...pods, ...asked })),
      [expected],
    );
  });
}

async function world() {
  const store = await Store.open({ journal: memoryJournal(), clock: { now: () => 0 } });
  const put = (plural: string, namespace: string, name: string, body: object) =>
    store.write({ resource: `${plural}.${RBAC}`, namespace, name }, () => ({
      type: 'put',
      body: JSON.stringify({ metadata: { name, namespace }, ...body }).slice(1),
    }));
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
  await put('clusterroles', '', 'reader', { rules });
  await put('roles', 'here', 'reader', { rules });
  const roles = new Roles(store);
  return { store, put, authorize: rbacAuthorization(roles), roles };
}

const ann: User = { name: 'ann', groups: ['devs', 'system:authenticated'] };
const robot: User = { name: 'system:serviceaccount:here:robot', groups: ['system:serviceaccounts'] };
const ask = (user: User, namespace: string, more: Partial<Attributes> = {}): Attributes => ({
  ...pods,
  user,
  namespace,
  version: 'v1',
  labelSelector: '',
  fieldSelector: '',
  ...more,
});
const refTo = (kind: string, name = 'reader') => ({ roleRef: { apiGroup: RBAC, kind, name } });
const user = { kind: 'User', name: 'ann' };

interface BindingCase {
  readonly plural: 'rolebindings' | 'clusterrolebindings';
  readonly of: object;
  readonly who?: User;
  readonly where?: string;
  readonly verdict: object;
}

const cluster = (subjects: readonly object[], rest: Partial<BindingCase>): BindingCase => ({
  plural: 'clusterrolebindings',
  of: { ...refTo('ClusterRole'), subjects },
  verdict: { allowed: false },
  ...rest,
});
const local = (subjects: readonly object[], rest: Partial<BindingCase>): BindingCase => ({
  ...cluster(subjects, {}),
  plural: 'rolebindings',
  ...rest,
});
const allowedBy = (what: string) => ({ allowed: true, reason: `RBAC: allowed by ${what}` });

const bindingCases: Readonly<Record<string, BindingCase>> = {
  'a user, everywhere': cluster([user], {
    where: 'there',
    verdict: allowedBy('ClusterRoleBinding "b" of ClusterRole "reader" to User "ann"'),
  }),
  'a user, for what has no namespace': cluster([user], {
    where: '',
    verdict: allowedBy('ClusterRoleBinding "b" of ClusterRole "reader" to User "ann"'),
  }),
  'a group': cluster([{ kind: 'Group', name: 'devs' }], {
    verdict: allowedBy('ClusterRoleBinding "b" of ClusterRole "reader" to Group "devs"'),
  }),
  'a user of the name of a group': cluster([{ kind: 'User', name: 'devs' }], {}),
  nobody: cluster([], {}),
  'a kind nobody knows': cluster([{ kind: 'user', name: 'ann' }], {}),
  'a cluster role in one namespace': local([user], {
    verdict: allowedBy('RoleBinding "b/here" of ClusterRole "reader" to User "ann"'),
  }),
  'not in another namespace': local([user], { where: 'there' }),
  'not at the cluster scope': local([user], { where: '' }),
  'a role of the namespace': local([user], {
    of: { ...refTo('Role'), subjects: [user] },
    verdict: allowedBy('RoleBinding "b/here" of Role "reader" to User "ann"'),
  }),
  'an account of the same namespace': local([{ kind: 'ServiceAccount', name: 'robot' }], {
    who: robot,
    verdict: allowedBy('RoleBinding "b/here" of ClusterRole "reader" to ServiceAccount "robot/here"'),
  }),
  'an account of another namespace': local([{ kind: 'ServiceAccount', name: 'robot', namespace: 'there' }], {
    who: robot,
  }),
  'an account without a namespace, everywhere': cluster([{ kind: 'ServiceAccount', name: 'robot' }], { who: robot }),
  'a user who calls himself an account of no namespace': cluster([{ kind: 'ServiceAccount', name: 'robot' }], {
    who: { name: 'system:serviceaccount::robot', groups: [] },
  }),
  'a role that is not there': cluster([user], {
    of: { ...refTo('ClusterRole', 'none'), subjects: [user] },
    verdict: { allowed: false, reason: `RBAC: clusterrole.${RBAC} "none" not found` },
  }),
  'a role of roles that nobody knows': cluster([user], {
    of: { ...refTo('Rôle'), subjects: [user] },
    verdict: { allowed: false, reason: 'RBAC: unsupported role reference kind: "Rôle"' },
  }),
};

for (const [name, { plural, of, who = ann, where = 'here', verdict }] of Object.entries(bindingCases)) {
  test(`bound: ${name}`, async () => {
    const { put, authorize } = await world();
    await put(plural, plural === 'rolebindings' ? 'here' : '', 'b', of);
    assert.deepEqual(authorize(ask(who, where)), verdict);
  });
}

test('rights follow the store: given, changed, taken', async () => {
  const { store, put, authorize, roles } = await world();
  const may = () => authorize(ask(ann, 'here')).allowed;
  assert.equal(may(), false);
  await put('rolebindings', 'here', 'b', { ...refTo('Role'), subjects: [user] });
  assert.equal(may(), true);
  await put('roles', 'here', 'reader', { rules: [] });
  assert.equal(may(), false);
  await put('roles', 'here', 'reader', { rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] });
  assert.equal(may(), true);
  const binding = { resource: `rolebindings.${RBAC}`, namespace: 'here', name: 'b' };
  await store.write(binding, (current) => ({ type: 'delete', body: current?.body ?? '' }));
  assert.equal(may(), false);
  roles[Symbol.dispose]();
});

test('what was decided is not taken for another question', async () => {
  const { put, authorize } = await world();
  await put('roles', 'here', 'reader', { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] });
  await put('rolebindings', 'here', 'b', { ...refTo('Role'), subjects: [user] });
  const may = (more: object) =>
    authorize(ask(ann, 'here', { verb: 'get', group: '', resource: 'pods', ...more })).allowed;
  assert.equal(may({}), true);
  assert.equal(may({ verb: 'create' }), false);
  assert.equal(may({ resource: 'pods","', subresource: '' }), false);
  assert.equal(may({ subresource: 'log' }), false);
  assert.equal(may({ namespace: 'there' }), false);
  assert.equal(may({ name: 'x' }), true);
});

test('what a restart finds counts', async () => {
  const { store, put } = await world();
  await put('rolebindings', 'here', 'b', { ...refTo('Role'), subjects: [user] });
  assert.equal(rbacAuthorization(new Roles(store))(ask(ann, 'here')).allowed, true);
});

test('system:masters may do everything, without any role', async () => {
  const { authorize } = await world();
  const master: User = { name: 'x', groups: ['system:masters'] };
  assert.equal(authorize(ask(master, '', { verb: 'escalate', resource: 'anything' })).allowed, true);
  assert.equal(authorize(ask({ name: 'system:masters', groups: [] }, '')).allowed, false);
});
