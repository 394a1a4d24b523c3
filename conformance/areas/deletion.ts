/** Deletion: finalizers, preconditions, grace, what becomes of dependents. Collecting these is a controller's work. */
import type { Json } from '@reeve/kube';
import { type Area, type Case, get, merge, post, put, remove, type Step } from '../case.ts';
import { thingDefinition } from './embedded-cases.ts';
import { map, pod } from './watch-live.ts';

const maps = '/api/v1/namespaces/<ns>/configmaps';
const pods = '/api/v1/namespaces/<ns>/pods';
const sets = '/apis/apps/v1/namespaces/<ns>/statefulsets';
const jobs = '/apis/batch/v1/namespaces/<ns>/jobs';
const services = '/api/v1/namespaces/<ns>/services';
const things = '/apis/example.com/v1/namespaces/<ns>/things';
const namespace = '/api/v1/namespaces/<ns>-gone';

const held = (name: string, ...finalizers: readonly string[]): Json => ({
  metadata: { name, labels: { app: 'x' }, finalizers: [...finalizers] },
});
const thing = (name: string, metadata: { [key: string]: Json } = {}): Json => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...metadata },
  spec: { text: 'x' },
});
const podSpec: Json = { containers: [{ name: 'c', image: 'i' }] };
const labels = { app: 'x' };
const set: Json = {
  metadata: { name: 's' },
  spec: { serviceName: 's', selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
};
const job: Json = {
  metadata: { name: 'j' },
  spec: { template: { spec: { ...(podSpec as object), restartPolicy: 'Never' } } },
};

/** These steps, then what is there. */
const aCase = (name: string, steps: readonly Step[], path = maps): Case => ({
  name,
  ...(path === things ? { definition: thingDefinition } : {}),
  steps: [...steps, get(path)],
});

export const deletionArea: Area = {
  name: 'deletion',
  cases: [
    aCase('a configmap is answered with a Status', [post(maps, map('a')), remove(`${maps}/a`)]),
    aCase('what is not there', [remove(`${maps}/a`, undefined, { code: 404 })]),
    aCase('kinds that answer with the object', [
      post(services, { metadata: { name: 's' }, spec: { clusterIP: 'None', selector: labels, ports: [{ port: 1 }] } }),
      remove(`${services}/s`),
      post('/api/v1/namespaces/<ns>/serviceaccounts', { metadata: { name: 'a' } }),
      remove('/api/v1/namespaces/<ns>/serviceaccounts/a'),
    ]),
    aCase(
      'a custom object',
      [post(things, thing('a')), remove(`${things}/a`), remove(`${things}/a`, undefined, { code: 404 })],
      things,
    ),
    aCase('a finalizer keeps it until it is taken away', [
      post(maps, held('a', 'x.io/a')),
      remove(`${maps}/a`),
      get(`${maps}/a`),
      remove(`${maps}/a`),
      merge(`${maps}/a`, { metadata: { finalizers: null } }),
      get(`${maps}/a`, { code: 404 }),
    ]),
    aCase('two finalizers, taken away one by one', [
      post(maps, held('a', 'x.io/a', 'x.io/b')),
      remove(`${maps}/a`),
      merge(`${maps}/a`, { metadata: { finalizers: ['x.io/b'] } }),
      merge(`${maps}/a`, { metadata: { finalizers: ['x.io/b'], labels: { app: 'y' } } }),
      merge(`${maps}/a`, { metadata: { finalizers: [] } }),
    ]),
    aCase('no finalizer can be added to what is being deleted', [
      post(maps, held('a', 'x.io/a')),
      remove(`${maps}/a`),
      merge(`${maps}/a`, { metadata: { finalizers: ['x.io/a', 'x.io/b'] } }, { code: 422 }),
    ]),
    aCase('the marks of a deletion cannot be changed', [
      post(maps, held('a', 'x.io/a')),
      remove(`${maps}/a`),
      merge(`${maps}/a`, { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: 7 } }, { code: 422 }),
      merge(`${maps}/a`, { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }, { any: true }),
    ]),
    aCase('a finalizer of a built-in kind must be qualified', [
      post(maps, held('a', 'plain'), { code: 422 }),
      post(maps, held('b', 'a/b/c'), { code: 422 }),
      post(maps, held('c', ''), { code: 422 }),
      post(maps, held('d', 'orphan')),
      post(maps, held('e', 'foregroundDeletion', 'orphan'), { any: true }),
    ]),
    aCase(
      'a finalizer of a custom kind',
      [
        post(things, thing('a', { finalizers: ['plain'] }), { any: true }),
        post(things, thing('b', { finalizers: ['x.io/b'] })),
        remove(`${things}/b`),
        merge(`${things}/b`, { spec: { text: 'late' } }),
        merge(`${things}/b/status`, { status: { phase: 'late' } }),
        merge(`${things}/b`, { metadata: { finalizers: null } }),
      ],
      things,
    ),
    ...(['Background', 'Foreground', 'Orphan'] as const).flatMap((propagationPolicy) => [
      aCase(`${propagationPolicy} in the body`, [
        post(maps, map('a')),
        remove(`${maps}/a`, { propagationPolicy }),
        merge(`${maps}/a`, { metadata: { finalizers: null } }, { any: true }),
      ]),
      aCase(`${propagationPolicy} in the query, with a finalizer there`, [
        post(maps, held('a', 'x.io/a')),
        remove(`${maps}/a`, undefined, { query: { propagationPolicy } }),
        remove(`${maps}/a`, undefined, { query: { propagationPolicy: 'Background' } }),
      ]),
    ]),
    aCase('the policy of the first deletion can be changed by a second one', [
      post(maps, held('a', 'x.io/a')),
      remove(`${maps}/a`, { propagationPolicy: 'Foreground' }),
      remove(`${maps}/a`, { propagationPolicy: 'Orphan' }),
      remove(`${maps}/a`, { propagationPolicy: 'Background' }),
    ]),
    aCase('orphanDependents, the old way', [
      post(maps, map('a')),
      remove(`${maps}/a`, { orphanDependents: true }),
      post(maps, map('b')),
      remove(`${maps}/b`, { orphanDependents: false }),
      post(maps, map('c')),
      remove(`${maps}/c`, { orphanDependents: true, propagationPolicy: 'Orphan' }, { code: 422 }),
    ]),
    aCase('a policy that is none', [
      post(maps, map('a')),
      remove(`${maps}/a`, { propagationPolicy: 'Later' }, { code: 422 }),
    ]),
    aCase('jobs orphan their pods unless told otherwise, with a warning', [
      post(jobs, job),
      remove(`${jobs}/j`),
      get(`${jobs}/j`, { any: true }),
    ]),
    aCase('jobs in the background', [post(jobs, job), remove(`${jobs}/j`, { propagationPolicy: 'Background' })]),
    aCase('a stateful set in the foreground', [
      post(sets, set),
      remove(`${sets}/s`, { propagationPolicy: 'Foreground' }),
      get(`${sets}/s`),
    ]),
    aCase('preconditions: the uid', [
      post(maps, map('a'), { save: 'a' }),
      remove(`${maps}/a`, { preconditions: { uid: 'other' } }, { code: 409 }),
      remove(`${maps}/a`, { preconditions: { uid: '<a.uid>' } }),
    ]),
    aCase('preconditions: the version', [
      post(maps, map('a'), { save: 'a' }),
      merge(`${maps}/a`, { data: { k: '1' } }),
      remove(`${maps}/a`, { preconditions: { resourceVersion: '<a.resourceVersion>' } }, { code: 409 }),
      get(`${maps}/a`, { save: 'b' }),
      remove(`${maps}/a`, { preconditions: { resourceVersion: '<b.resourceVersion>', uid: '<b.uid>' } }),
    ]),
    aCase('preconditions of what is held', [
      post(maps, held('a', 'x.io/a'), { save: 'a' }),
      remove(`${maps}/a`, { preconditions: { uid: 'other' } }, { code: 409 }),
      remove(`${maps}/a`, { preconditions: { uid: '<a.uid>' } }),
      remove(`${maps}/a`, { preconditions: { resourceVersion: '<a.resourceVersion>' } }, { code: 409 }),
    ]),
    aCase('a dry run', [
      post(maps, held('a', 'x.io/a')),
      post(maps, map('b')),
      remove(`${maps}/a`, undefined, { query: { dryRun: 'All' } }),
      remove(`${maps}/b`, { dryRun: ['All'] }),
      remove(`${maps}/b`, { dryRun: ['Some'] }, { code: 422 }),
    ]),
    aCase('options of another kind, or none', [
      post(maps, map('a')),
      remove(`${maps}/a`, { apiVersion: 'v1', kind: 'ConfigMap' }, { code: 400 }),
      remove(`${maps}/a`, '{"gracePeriodSeconds":"soon"}', { code: 400 }),
      remove(`${maps}/a`, '', { any: true }),
    ]),
    aCase('grace of a pod without a node', [post(pods, pod('a')), remove(`${pods}/a`)], pods),
    aCase(
      'grace of a pod on a node',
      [
        post(pods, pod('a', { nodeName: 'n' })),
        remove(`${pods}/a`),
        remove(`${pods}/a`, { gracePeriodSeconds: 50 }),
        remove(`${pods}/a`, { gracePeriodSeconds: 3 }),
        get(`${pods}/a`),
        remove(`${pods}/a`, undefined, { query: { gracePeriodSeconds: '0' } }),
      ],
      pods,
    ),
    aCase(
      'grace of a pod that has ended',
      [
        post(pods, pod('a', { nodeName: 'n' })),
        merge(`${pods}/a/status`, { status: { phase: 'Succeeded' } }),
        remove(`${pods}/a`),
      ],
      pods,
    ),
    aCase(
      'grace and a finalizer',
      [
        post(pods, {
          metadata: { name: 'a', finalizers: ['x.io/a'] },
          spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
        }),
        remove(`${pods}/a`, { gracePeriodSeconds: 2 }),
        remove(`${pods}/a`, { gracePeriodSeconds: 0 }),
        get(`${pods}/a`),
        merge(`${pods}/a`, { metadata: { finalizers: null } }),
      ],
      pods,
    ),
    aCase('grace of what has none is ignored', [post(maps, map('a')), remove(`${maps}/a`, { gracePeriodSeconds: 9 })]),
    aCase('a collection, by labels and by fields', [
      post(maps, map('a', labels)),
      post(maps, map('b', labels)),
      post(maps, map('c')),
      post(maps, held('d', 'x.io/d')),
      remove(maps, undefined, { query: { labelSelector: 'app=x' } }),
      remove(maps, undefined, { query: { fieldSelector: 'metadata.name=none' } }),
    ]),
    aCase('a collection by a selector that is none', [
      remove(maps, undefined, { query: { labelSelector: '=' }, code: 400 }),
    ]),
    aCase(
      'a collection of custom objects',
      [post(things, thing('a')), post(things, thing('b', { finalizers: ['x.io/b'] })), remove(things)],
      things,
    ),
    aCase('owners are written down as they come, and checked', [
      post(maps, map('owner'), { save: 'o' }),
      post(maps, {
        metadata: {
          name: 'a',
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '<o.uid>', blockOwnerDeletion: true },
          ],
        },
      }),
      post(
        maps,
        { metadata: { name: 'b', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap' }] } },
        { code: 422 },
      ),
      post(
        maps,
        {
          metadata: {
            name: 'c',
            ownerReferences: ['1', '2'].map((uid) => ({
              apiVersion: 'v1',
              kind: 'ConfigMap',
              name: uid,
              uid,
              controller: true,
            })),
          },
        },
        { code: 422 },
      ),
      post(
        maps,
        {
          metadata: {
            name: 'd',
            ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' }],
          },
        },
        { code: 422 },
      ),
    ]),
    aCase('an owner that is named twice is warned of', [
      post(maps, {
        metadata: {
          name: 'a',
          ownerReferences: ['x', 'x'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: 'u' })),
        },
      }),
    ]),
    aCase('a namespace goes in two steps; nothing new comes into it meanwhile', [
      post('/api/v1/namespaces', { metadata: { name: '<ns>-gone' } }),
      post(`${namespace}/configmaps`, map('a')),
      remove(namespace),
      get(namespace),
      post(`${namespace}/configmaps`, map('b'), { code: 403, until: 'terminated' }),
      merge(`${namespace}/configmaps/a`, { data: { k: '1' } }),
      remove(namespace, undefined, { any: true }),
      remove(`${namespace}/configmaps/a`),
      put(`${namespace}/finalize`, { metadata: { name: '<ns>-gone' }, spec: { finalizers: [] } }),
      get(namespace, { code: 404 }),
    ]),
    aCase('a namespace with a finalizer of its own', [
      post('/api/v1/namespaces', { metadata: { name: '<ns>-gone', finalizers: ['x.io/a'] } }),
      remove(namespace),
      put(`${namespace}/finalize`, { metadata: { name: '<ns>-gone', finalizers: ['x.io/a'] }, spec: {} }),
      get(namespace),
      merge(namespace, { metadata: { finalizers: null } }),
      get(namespace, { any: true }),
    ]),
    aCase('namespaces that stay', [
      remove('/api/v1/namespaces/default', undefined, { code: 403 }),
      remove('/api/v1/namespaces/kube-system', undefined, { code: 403 }),
      remove('/api/v1/namespaces', undefined, { code: 405 }),
    ]),
    {
      name: 'a definition takes its objects with it',
      definition: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'gadgets.<group>' },
        spec: {
          group: '<group>',
          scope: 'Namespaced',
          names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      },
      steps: [
        post('/apis/<group>/v1/namespaces/<ns>/gadgets', {
          apiVersion: '<group>/v1',
          kind: 'Gadget',
          metadata: { name: 'a' },
        }),
        { open: 'w', path: '/apis/<group>/v1/namespaces/<ns>/gadgets' },
        { collect: 'w', until: { events: 1 } },
        remove('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.<group>'),
        { collect: 'w', until: { events: 1 } },
        get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.<group>', { code: 404, until: '' }),
        get('/apis/<group>/v1/namespaces/<ns>/gadgets', { code: 404, until: '' }),
      ],
    },
  ],
};
