/** Admission policies, end to end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, KubeClient, resource } from '@reeve/kube';
import type { Attributes } from '../access/access.ts';
import type { EmbeddedError } from '../errors/errors.ts';
import { bodyOf, draftOf, objectOf } from '../object/draft.ts';
import { memoryJournal } from '../store/journal.ts';
import { Store } from '../store/store.ts';
import { ApiServer } from './server.ts';
import {
  configMaps,
  crds,
  namespaces,
  openServer,
  refused,
  setSpec,
  statefulSets,
  testClock,
  testRandom,
  widgetDefinition,
  widgets,
} from './server-testing.ts';

const GROUP = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const policies = resource({ ...GROUP, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' });
const bindings = resource({
  ...GROUP,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
});
const leases = resource({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE'];
const rule = (resources: readonly string[], group = '', operations: readonly string[] = OPERATIONS) => ({
  resourceRules: [{ apiGroups: [group], apiVersions: ['v1'], operations, resources }],
});

const policy = (spec: object): AnyObject => ({
  metadata: { name: 'p' },
  spec: { matchConstraints: rule(['configmaps']), ...spec },
});
const binding = (spec: object = {}): AnyObject => ({
  metadata: { name: 'b' },
  spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
});

async function openWith(spec: object, bound: object = {}, options: Parameters<typeof openServer>[0] = {}) {
  const server = await openServer(options);
  await server.of(policies).create(policy(spec));
  await server.of(bindings).create(binding(bound));
  return server;
}

const map = (data: Record<string, string>, name = 'a') => ({ metadata: { name }, data });

test('creations, updates, patches, applies and deletions are asked about; nothing is written when refused', async () => {
  const expression = "request.operation == 'DELETE' ? !has(oldObject.data.keep) : object.data.a != 'bad'";
  const { of, store } = await openWith({ validations: [{ expression, message: 'no' }] });
  const text = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`;
  const status = await refused(of(configMaps).create(map({ a: 'bad' })));
  assert.deepEqual([status.code, status.reason, status.message], [422, 'Invalid', text]);
  const made = await of(configMaps).create(map({ a: 'good', keep: 'x' }));
  const before = store.revision;
  assert.equal((await refused(of(configMaps).update({ ...made, data: { a: 'bad' } }))).message, text);
  const patch = { type: 'strategic', value: { data: { a: 'bad' } } } as const;
  assert.equal((await refused(of(configMaps).patch('a', patch))).message, text);
  assert.equal((await refused(of(configMaps).apply(map({ a: 'bad' }), { force: true }))).message, text);
  assert.equal((await refused(of(configMaps).delete('a'))).message, text);
  assert.equal((await refused(of(configMaps).apply(map({ a: 'bad' }, 'new')))).code, 422);
  assert.equal(store.revision, before);
});

test('warnings are told, and a policy without a binding or with another one does nothing', async () => {
  const { of, request } = await openWith(
    { validations: [{ expression: 'false', message: 'hm' }] },
    { validationActions: ['Warn'] },
  );
  const { status, headers } = await request('POST', '/api/v1/namespaces/default/configmaps', map({}));
  assert.equal(status, 201);
  assert.match(String(headers.warning), /Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': hm/);
  await of(bindings).delete('b');
  const quiet = await request('POST', '/api/v1/namespaces/default/configmaps', map({}, 'b'));
  assert.deepEqual([quiet.status, quiet.headers.warning], [201, undefined]);
});

test('a Lease is the parameter: only its holder may write', async () => {
  const { of } = await openWith(
    {
      paramKind: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      validations: [
        {
          expression: 'object.data.epoch == string(params.spec.leaseTransitions)',
          messageExpression: "'the lease is at ' + string(params.spec.leaseTransitions)",
          reason: 'Forbidden',
        },
      ],
    },
    { paramRef: { name: 'leader', parameterNotFoundAction: 'Deny' } },
  );
  const none = await refused(of(configMaps).create(map({ epoch: '1' })));
  assert.match(none.message ?? '', /no params found for policy binding with `Deny` parameterNotFoundAction$/);
  await of(leases).create({ metadata: { name: 'leader' }, spec: { holderIdentity: 'me', leaseTransitions: 1 } });
  const made = await of(configMaps).create(map({ epoch: '1' }));
  await of(leases).patch('leader', { type: 'merge', value: { spec: { leaseTransitions: 2 } } });
  const late = await refused(of(configMaps).update({ ...made, data: { epoch: '1', more: 'x' } }));
  assert.deepEqual([late.code, late.reason], [403, 'Forbidden']);
  assert.match(late.message ?? '', /denied request: the lease is at 2$/);
});

test('a custom kind is as good a parameter, and a kind that is not served is told', async () => {
  const paramKind = { apiVersion: 'example.com/v1', kind: 'Widget' };
  const { of } = await openWith(
    { paramKind, validations: [{ expression: 'params.spec.open == true' }] },
    { paramRef: { selector: { matchLabels: { gate: 'yes' } }, parameterNotFoundAction: 'Allow' } },
  );
  const unknown = await refused(of(configMaps).create(map({})));
  assert.match(unknown.message ?? '', /failed to configure binding: .*`example\.com\/v1, Kind=Widget` not known/);
  await of(crds).create(widgetDefinition());
  await of(configMaps).create(map({}));
  await of(widgets).create({ metadata: { name: 'g', labels: { gate: 'yes' } }, spec: { open: false } });
  assert.match(
    (await refused(of(configMaps).delete('a'))).message ?? '',
    /failed expression: params\.spec\.open == true$/,
  );
});

test('the authorizer in expressions is the server’s, asked for the user of the request', async () => {
  const asked: Attributes[] = [];
  const expression =
    "authorizer.group('example.com').resource('widgets').namespace('default').check('bless').allowed()";
  const server = await openWith(
    { validations: [{ expression }] },
    {},
    {
      authorize: (attributes) => {
        if (attributes.verb === 'bless') asked.push(attributes);
        return { allowed: attributes.verb !== 'bless' || attributes.user.name === 'ann' };
      },
    },
  );
  const as = (name: string) =>
    new KubeClient({
      transport: server.server.transport({ name, groups: [] }),
      clock: server.clock,
      random: testRandom(),
      retries: 0,
    }).resource(configMaps, 'default');
  await as('ann').create(map({}));
  assert.equal((await refused(as('bob').create(map({}, 'b')))).code, 422);
  assert.deepEqual(
    asked.map(({ user, group, resource: plural, namespace }) => [user.name, group, plural, namespace]),
    [
      ['ann', 'example.com', 'widgets', 'default'],
      ['bob', 'example.com', 'widgets', 'default'],
    ],
  );
});

test('an authorizer that answers later has no answer for expressions', async () => {
  const expression = "authorizer.group('').resource('pods').check('get').errored()";
  const { of } = await openWith({ validations: [{ expression }] }, {}, { authorize: async () => ({ allowed: true }) });
  await of(configMaps).create(map({}));
});

test('user, namespace and subresources are what expressions see', async () => {
  const { of } = await openWith({
    matchConstraints: rule(['configmaps', 'statefulsets/scale', 'statefulsets/status'], '*'),
    validations: [
      { expression: "request.userInfo.username == 'reeve:admin' && 'system:masters' in request.userInfo.groups" },
      { expression: "namespaceObject.metadata.name == 'default'" },
      {
        expression:
          "!has(request.subResource) || request.subResource != 'scale' || (object.kind == 'Scale' && object.spec.replicas < 3)",
      },
      { expression: "!has(request.subResource) || request.subResource != 'status' || object.status.replicas == 1" },
    ],
  });
  await of(configMaps).create(map({}));
  const made = await of(statefulSets).create({ metadata: { name: 's' }, spec: setSpec });
  const many = { type: 'merge', value: { spec: { replicas: 5 } } } as const;
  assert.match((await refused(of(statefulSets).patch('s', many, { subresource: 'scale' }))).message ?? '', /Scale/);
  await of(statefulSets).patch('s', { type: 'merge', value: { spec: { replicas: 2 } } }, { subresource: 'scale' });
  const status = { ...made, metadata: { name: 's' }, status: { replicas: 2 } } as never;
  assert.match((await refused(of(statefulSets).update(status, { subresource: 'status' }))).message ?? '', /status/);
});

test('selectors of namespaces and objects narrow a policy down', async () => {
  const { of } = await openWith(
    { validations: [{ expression: 'false' }] },
    {
      matchResources: {
        namespaceSelector: { matchLabels: { guarded: 'yes' } },
        objectSelector: { matchLabels: { loose: 'no' } },
      },
    },
  );
  await of(namespaces).create({ metadata: { name: 'guarded', labels: { guarded: 'yes' } } });
  const object = { metadata: { name: 'a', labels: { loose: 'no' } } };
  await of(configMaps).create(object);
  await of(configMaps, 'guarded').create({ metadata: { name: 'free' } });
  assert.equal((await refused(of(configMaps, 'guarded').create(object))).code, 422);
});

test('a policy for another version of a custom kind is asked in that version', async () => {
  const { of } = await openServer();
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
  await of(crds).create(widgetDefinition({ versions: [version('v1', true), version('v1beta1', false)] }));
  const validations = [{ expression: "object.apiVersion == 'example.com/v1' && object.spec.size > 1" }];
  await of(policies).create(policy({ matchConstraints: rule(['widgets'], 'example.com'), validations }));
  await of(bindings).create(binding());
  const old = resource({ ...widgets, version: 'v1beta1' });
  await of(old).create({ metadata: { name: 'a' }, spec: { size: 2 } });
  assert.equal((await refused(of(old).create({ metadata: { name: 'b' }, spec: { size: 1 } }))).code, 422);
});

test('policies that say nothing, or what does not compile, are refused; theirs are not asked about them', async () => {
  const { of } = await openServer();
  const empty = await refused(of(policies).create({ metadata: { name: 'p' }, spec: {} }));
  assert.match(empty.message ?? '', /spec\.matchConstraints: Required value/);
  const wrong = await refused(of(policies).create(policy({ validations: [{ expression: 'object.x +' }] })));
  assert.match(wrong.message ?? '', /spec\.validations\[0\]\.expression: Invalid value: .*compilation failed/s);
  const shape = await refused(of(policies).create(policy({ validations: 'x' })));
  assert.deepEqual([shape.code, shape.reason], [400, 'BadRequest']);
  const made = await of(policies).create(
    policy({ matchConstraints: rule(['*'], '*'), validations: [{ expression: 'false' }] }),
  );
  assert.equal((made.spec as AnyObject).failurePolicy, 'Fail');
  await of(bindings).create(binding());
  assert.equal((await refused(of(configMaps).create(map({})))).code, 422);
  await of(policies).delete('p');
  await of(configMaps).create(map({}));
});

test('a stored policy that cannot be compiled stops no server and lets nothing pass', async () => {
  const journal = memoryJournal();
  const clock = testClock();
  const errors: unknown[] = [];
  const open = async () => {
    const store = await Store.open({ journal, clock });
    const server = await ApiServer.open({ store, clock, random: testRandom(), onError: (error) => errors.push(error) });
    const client = new KubeClient({ transport: server.transport(), clock, random: testRandom(), retries: 0 });
    return { store, client };
  };
  const first = await open();
  await first.client.resource(policies).create(policy({ validations: [{ expression: 'true' }] }));
  await first.client.resource(bindings).create(binding());
  const key = { resource: `${policies.plural}.${policies.group}`, namespace: '', name: 'p' };
  const damage = (store: Store, failurePolicy: string) =>
    store.write(key, (current, revision) => {
      const stored = draftOf(current?.body ?? '');
      const spec = { ...objectOf(stored.spec), failurePolicy, variables: 5 };
      return { type: 'put', body: bodyOf({ ...stored, spec }, String(revision)) };
    });
  await damage(first.store, 'Fail');
  const second = await open();
  for (const { client } of [first, second]) {
    const { message = '' } = await refused(client.resource(configMaps, 'default').create(map({})));
    assert.match(message, /ValidatingAdmissionPolicy 'p' with binding 'b' denied request: .*iterable/);
  }
  assert.deepEqual(
    errors.map((error) => [(error as EmbeddedError).code, (error as EmbeddedError).subjects]),
    Array.from({ length: 2 }, () => ['EMBEDDED_POLICY', ['p']]),
  );
  await damage(second.store, 'Ignore');
  await second.client.resource(configMaps, 'default').create(map({}));
});

test('a dry run is refused like the write that it rehearses', async () => {
  const { of } = await openWith({ validations: [{ expression: 'request.dryRun', message: 'only dry' }] });
  await of(configMaps).create(map({}), { dryRun: true });
  assert.match((await refused(of(configMaps).create(map({})))).message ?? '', /only dry/);
});
