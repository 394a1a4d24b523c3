/** Who may do what: roles, bindings, escalation, reviews, tokens, impersonation. */
import type { Json } from '@reeve/kube';
import { type Area, type Call, type Case, get, merge, post, put, remove, type Step } from '../case.ts';
import { policyCases } from './policies.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROLES = `${RBAC}/namespaces/<ns>/roles`;
const BINDINGS = `${RBAC}/namespaces/<ns>/rolebindings`;
const CLUSTER_ROLES = `${RBAC}/clusterroles`;
const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;
const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const AUTHENTICATION = '/apis/authentication.k8s.io/v1';
const maps = '/api/v1/namespaces/<ns>/configmaps';
const accounts = '/api/v1/namespaces/<ns>/serviceaccounts';
const WHO = `${AUTHENTICATION}/selfsubjectreviews`;

const ann = { as: 'ann-<id>' };
const group = 'rbac.authorization.k8s.io';

const rule = (verbs: readonly string[], resources: readonly string[], more: { [key: string]: Json } = {}): Json => ({
  apiGroups: [''],
  verbs: [...verbs],
  resources: [...resources],
  ...more,
});
const role = (name: string, ...rules: readonly Json[]): Json => ({ metadata: { name }, rules: [...rules] });
const binding = (
  name: string,
  to: string,
  kind = 'Role',
  subject: Json = { apiGroup: group, kind: 'User', name: 'ann-<id>' },
): Json => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind, name: to },
  subjects: [subject],
});

/** Gives a role in the namespace, and waits until it counts. */
const given = (...rules: readonly Json[]): readonly Step[] => [
  post(ROLES, role('given', ...rules)),
  post(BINDINGS, binding('given', 'given')),
];
/** The first thing that the role allows is asked until it is. */
const allowed = (call: Call): Call => ({ ...call, until: '', code: call.code ?? (call.method === 'POST' ? 201 : 200) });

const aCase = (name: string, ...steps: readonly Step[]): Case => ({ name, steps });
const refused = (name: string, call: Call): Case => aCase(`refused: ${name}`, { ...ann, code: 403, ...call });

const managing = rule(['create', 'get', 'update', 'patch', 'delete'], ['roles', 'rolebindings'], {
  apiGroups: [group],
});

const accessCases: readonly Case[] = [
  refused('get of one object', get(`${maps}/a`)),
  refused('a list', get(maps)),
  refused('a list of all namespaces', get('/api/v1/configmaps')),
  refused('a watch', get(maps, { query: { watch: 'true' } })),
  refused('a list of one name', get(maps, { query: { fieldSelector: 'metadata.name=a' } })),
  refused('a creation', post(maps, { metadata: { name: 'a' } })),
  refused('an update', put(`${maps}/a`, { metadata: { name: 'a' } })),
  refused('a patch', merge(`${maps}/a`, {})),
  refused('a deletion', remove(`${maps}/a`)),
  refused('a deletion of all', remove(maps)),
  refused('a subresource', get('/api/v1/namespaces/<ns>/pods/a/status')),
  refused('a kind without namespaces', get('/api/v1/nodes/n')),
  refused('a kind of another group', get('/apis/apps/v1/namespaces/<ns>/statefulsets/a')),
  refused('a kind that is not there', get('/apis/example.org/v1/namespaces/<ns>/things/a')),
  refused('a path without a resource', get('/metrics')),
  refused('a namespace itself', get('/api/v1/namespaces/<ns>')),
  aCase(
    'everybody may look at what there is',
    get('/version', { ...ann, any: true, query: {} }),
    get('/apis/apps', ann),
  ),
  aCase(
    'nobody in particular',
    get(maps, { token: '', code: 403 }),
    get('/healthz', { token: '' }),
    post(WHO, {}, { token: '', code: 403 }),
  ),
  aCase(
    'a token that is none',
    get(maps, { token: 'nonsense', code: 401 }),
    get('/version', { token: 'a.b.c', code: 401 }),
  ),
  aCase(
    'a role gives its verbs and no others',
    ...given(rule(['get', 'list'], ['configmaps'])),
    post(maps, { metadata: { name: 'a' } }),
    allowed(get(`${maps}/a`, ann)),
    get(maps, ann),
    get(maps, { ...ann, query: { watch: 'true' }, code: 403 }),
    remove(`${maps}/a`, undefined, { ...ann, code: 403 }),
    get('/api/v1/namespaces/default/configmaps', { ...ann, code: 403 }),
    get('/api/v1/namespaces/<ns>/secrets', { ...ann, code: 403 }),
  ),
  aCase(
    'a role for one name',
    post(maps, { metadata: { name: 'a' } }),
    post(maps, { metadata: { name: 'b' } }),
    ...given(rule(['get', 'list', 'update', 'create'], ['configmaps'], { resourceNames: ['a'] })),
    allowed(get(`${maps}/a`, ann)),
    get(`${maps}/b`, { ...ann, code: 403 }),
    get(maps, { ...ann, code: 403 }),
    get(maps, { ...ann, query: { fieldSelector: 'metadata.name=a' } }),
    get(maps, { ...ann, query: { fieldSelector: 'metadata.name=b' }, code: 403 }),
    post(maps, { metadata: { name: 'a' } }, { ...ann, code: 403 }),
  ),
  aCase(
    'a role for a subresource',
    post('/api/v1/namespaces/<ns>/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
    ...given(rule(['patch', 'get'], ['pods/status'])),
    allowed(get('/api/v1/namespaces/<ns>/pods/p/status', ann)),
    merge('/api/v1/namespaces/<ns>/pods/p/status', { status: { message: 'x' } }, ann),
    merge('/api/v1/namespaces/<ns>/pods/p', { metadata: { labels: { a: 'b' } } }, { ...ann, code: 403 }),
  ),
  aCase(
    'stars',
    ...given(rule(['*'], ['*'], { apiGroups: ['*'] })),
    allowed(get(maps, ann)),
    post('/apis/coordination.k8s.io/v1/namespaces/<ns>/leases', { metadata: { name: 'l' } }, ann),
    get('/api/v1/nodes', { ...ann, code: 403 }),
  ),
  aCase(
    'an update that creates needs the right to create',
    ...given(rule(['update', 'patch'], ['endpoints', 'configmaps'])),
    merge(`${maps}/none`, {}, { ...ann, code: 404, until: '' }),
    put('/api/v1/namespaces/<ns>/endpoints/e', { metadata: { name: 'e' } }, { ...ann, code: 403 }),
    {
      method: 'PATCH',
      path: `${maps}/none`,
      patch: 'apply',
      query: { fieldManager: 'm' },
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'none' } },
      ...ann,
      code: 403,
    },
  ),
  aCase(
    'a cluster role in one namespace, and in all',
    post(CLUSTER_ROLES, role('reading-<id>', rule(['list'], ['configmaps']))),
    post(BINDINGS, binding('one', 'reading-<id>', 'ClusterRole')),
    allowed(get(maps, ann)),
    get('/api/v1/namespaces/default/configmaps', { ...ann, code: 403 }),
    post(CLUSTER_BINDINGS, binding('all-<id>', 'reading-<id>', 'ClusterRole')),
    allowed(get('/api/v1/namespaces/kube-public/configmaps', { ...ann, query: { labelSelector: 'none=<id>' } })),
  ),
  aCase(
    'groups and service accounts',
    post(ROLES, role('given', rule(['list'], ['configmaps']))),
    post(BINDINGS, binding('group', 'given', 'Role', { apiGroup: group, kind: 'Group', name: 'team-<id>' })),
    allowed(get(maps, { as: 'bob-<id>', groups: ['team-<id>'] })),
    get(maps, { as: 'bob-<id>', groups: ['other'], code: 403 }),
    post(BINDINGS, binding('account', 'given', 'Role', { kind: 'ServiceAccount', name: 'robot', namespace: '<ns>' })),
    allowed(get(maps, { as: 'system:serviceaccount:<ns>:robot' })),
    get(maps, { as: 'system:serviceaccount:default:robot', code: 403 }),
  ),
  aCase(
    'a binding that is gone gives nothing',
    ...given(rule(['list'], ['configmaps'])),
    allowed(get(maps, ann)),
    remove(`${BINDINGS}/given`),
    get(maps, { ...ann, code: 403, until: '' }),
  ),
  aCase(
    'nobody gives more than he has',
    ...given(managing, rule(['get'], ['configmaps'])),
    allowed(post(ROLES, role('same', rule(['get'], ['configmaps'])), ann)),
    post(ROLES, role('more', rule(['get', 'list'], ['configmaps'])), { ...ann, code: 403 }),
    post(ROLES, role('other', rule(['get'], ['secrets']), rule(['get'], ['configmaps'])), { ...ann, code: 403 }),
    put(`${ROLES}/same`, role('same', rule(['list'], ['pods'])), { ...ann, code: 403 }),
    merge(`${ROLES}/same`, { metadata: { labels: { a: 'b' } } }, ann),
    post(ROLES, role('named', rule(['get'], ['configmaps'], { resourceNames: ['x'] })), ann),
  ),
  aCase(
    'nobody binds more than he has',
    ...given(managing, rule(['get'], ['configmaps'])),
    post(ROLES, role('small', rule(['get'], ['configmaps']))),
    post(ROLES, role('large', rule(['*'], ['secrets']))),
    allowed(post(BINDINGS, binding('small', 'small'), ann)),
    post(BINDINGS, binding('large', 'large'), { ...ann, code: 403 }),
    post(BINDINGS, binding('admin', 'cluster-admin', 'ClusterRole'), { ...ann, code: 403 }),
    post(BINDINGS, binding('none', 'not-there'), { ...ann, code: 404 }),
  ),
  aCase(
    'unless he may bind or escalate',
    ...given(managing, rule(['bind', 'escalate'], ['roles'], { apiGroups: [group] })),
    allowed(post(ROLES, role('large', rule(['*'], ['secrets'])), ann)),
    post(BINDINGS, binding('large', 'large'), ann),
    post(BINDINGS, binding('admin', 'cluster-admin', 'ClusterRole'), { ...ann, code: 403 }),
  ),
  aCase(
    'roles and bindings that are none',
    post(ROLES, role('a', { apiGroups: [''], resources: ['pods'] } as Json), { code: 422 }),
    post(ROLES, role('b', { verbs: ['get'], nonResourceURLs: ['/x'] }), { code: 422 }),
    post(ROLES, role('c', { verbs: ['get'], resources: ['pods'] }), { code: 422 }),
    post(BINDINGS, { metadata: { name: 'd' }, roleRef: { kind: 'Odd', name: 'x' } }, { code: 422 }),
    post(BINDINGS, { metadata: { name: 'e' }, roleRef: { kind: 'Role', name: '' } }, { code: 422 }),
    post(BINDINGS, binding('f', 'x', 'Role', { kind: 'Thing', name: 'y' }), { code: 422 }),
    post(BINDINGS, binding('g', 'x', 'Role', { kind: 'ServiceAccount', name: 'y' })),
    post(CLUSTER_BINDINGS, binding('h-<id>', 'x', 'Role'), { code: 422 }),
  ),
  aCase(
    'the role of a binding cannot be changed',
    ...given(rule(['get'], ['pods'])),
    merge(`${BINDINGS}/given`, { roleRef: { name: 'other' } }, { code: 422 }),
    merge(`${BINDINGS}/given`, { subjects: [] }),
  ),
  aCase(
    'reviews of oneself',
    ...given(rule(['get'], ['configmaps'])),
    allowed(get(`${maps}/none`, { ...ann, code: 404 })),
    ...['get', 'list'].map((verb) =>
      post(
        `${AUTHORIZATION}/selfsubjectaccessreviews`,
        { spec: { resourceAttributes: { namespace: '<ns>', verb, resource: 'configmaps' } } },
        ann,
      ),
    ),
    post(
      `${AUTHORIZATION}/selfsubjectaccessreviews`,
      { spec: { nonResourceAttributes: { path: '/none', verb: 'get' } } },
      ann,
    ),
    post(`${AUTHORIZATION}/selfsubjectaccessreviews`, { spec: {} }, { ...ann, code: 422 }),
    post(WHO, {}, { ...ann, groups: ['team'] }),
  ),
  aCase(
    'reviews of somebody',
    ...given(rule(['get'], ['configmaps'])),
    allowed(get(`${maps}/none`, { ...ann, code: 404 })),
    ...['get', 'delete'].map((verb) =>
      post(`${AUTHORIZATION}/subjectaccessreviews`, {
        spec: { user: 'ann-<id>', resourceAttributes: { namespace: '<ns>', verb, resource: 'configmaps' } },
      }),
    ),
    post(`${AUTHORIZATION}/namespaces/<ns>/localsubjectaccessreviews`, {
      spec: { user: 'ann-<id>', resourceAttributes: { namespace: '<ns>', verb: 'get', resource: 'configmaps' } },
    }),
    post(
      `${AUTHORIZATION}/namespaces/<ns>/localsubjectaccessreviews`,
      { spec: { user: 'ann-<id>', resourceAttributes: { namespace: 'other', verb: 'get', resource: 'configmaps' } } },
      { code: 422 },
    ),
    post(
      `${AUTHORIZATION}/subjectaccessreviews`,
      { spec: { resourceAttributes: { verb: 'get', resource: 'x' } } },
      { code: 422 },
    ),
  ),
  aCase(
    'tokens of service accounts',
    post(accounts, { metadata: { name: 'robot' } }),
    post(ROLES, role('given', rule(['list'], ['configmaps']))),
    post(`${accounts}/robot/token`, { spec: { expirationSeconds: 3600 } }, { save: 't' }),
    post(WHO, {}, { token: '<t.token>' }),
    get(maps, { token: '<t.token>', code: 403 }),
    post(BINDINGS, binding('robot', 'given', 'Role', { kind: 'ServiceAccount', name: 'robot', namespace: '<ns>' })),
    allowed(get(maps, { token: '<t.token>' })),
    post(`${AUTHENTICATION}/tokenreviews`, { spec: { token: '<t.token>' } }),
    post(`${AUTHENTICATION}/tokenreviews`, { spec: { token: '<t.token>', audiences: ['elsewhere'] } }),
    post(`${AUTHENTICATION}/tokenreviews`, { spec: { token: 'nonsense' } }),
    post(`${accounts}/robot/token`, { spec: { expirationSeconds: 1 } }, { code: 422 }),
    post(`${accounts}/none/token`, {}, { code: 404 }),
  ),
  aCase(
    'tokens of pods end with them',
    post(accounts, { metadata: { name: 'robot' } }),
    post('/api/v1/namespaces/<ns>/pods', {
      metadata: { name: 'p' },
      spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] },
    }),
    post(
      `${accounts}/robot/token`,
      { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } } },
      { save: 't' },
    ),
    post(WHO, {}, { token: '<t.token>' }),
    remove('/api/v1/namespaces/<ns>/pods/p'),
    post(WHO, {}, { token: '<t.token>', code: 401, until: '' }),
    post(
      `${accounts}/robot/token`,
      { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'gone' } } },
      { code: 404 },
    ),
  ),
  aCase(
    'impersonation must be allowed',
    post(accounts, { metadata: { name: 'robot' } }),
    post(`${accounts}/robot/token`, {}, { save: 't' }),
    get(maps, { token: '<t.token>', headers: { 'impersonate-user': 'root' }, code: 403 }),
    get(maps, {
      token: '<t.token>',
      headers: { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' },
      code: 403,
    }),
    get(maps, { headers: { 'impersonate-group': 'x' }, any: true }),
    post(
      WHO,
      {},
      { as: 'carl', groups: ['a', 'b, c'], headers: { 'impersonate-uid': 'u', 'impersonate-extra-scope': 'x' } },
    ),
    post(WHO, {}, { as: 'system:serviceaccount:a:b' }),
  ),
];

export const accessArea: Area = { name: 'access', cases: [...accessCases, ...policyCases] };
