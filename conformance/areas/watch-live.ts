/** Watches that are open while things happen. The last thing is an object called `marker`: what came before it is all. */
import type { Json } from '@reeve/kube';
import { apply, type Case, get, merge, patch, post, put, remove, type Step } from '../case.ts';
import { thingDefinition } from './embedded-cases.ts';

const maps = '/api/v1/namespaces/<ns>/configmaps';
const pods = '/api/v1/namespaces/<ns>/pods';
const things = '/apis/example.com/v1/namespaces/<ns>/things';

export const map = (name: string, labels: Json = {}, data: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});
export const pod = (name: string, spec: { [key: string]: Json } = {}, labels: Json = { app: 'p' }): Json => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

interface Options {
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly marker?: Json;
  readonly definition?: Json;
}

/** A watch from now on, these steps, the marker. */
function live(name: string, steps: readonly Step[], options: Options = {}): Case {
  const { path = maps, query = {}, headers, marker = map('marker', { app: 'x' }), definition } = options;
  return {
    name,
    ...(definition === undefined ? {} : { definition }),
    steps: [
      get(path, { save: 'list' }),
      {
        open: 'w',
        path,
        query: { resourceVersion: '<list.resourceVersion>', ...query },
        ...(headers === undefined ? {} : { headers }),
      },
      ...steps,
      post(path, marker),
      { collect: 'w', until: { name: 'marker' } },
    ],
  };
}

const change = (path: string, by: Json): Step => ({ change: by, path });
const held = { metadata: { name: 'f', labels: { app: 'x' }, finalizers: ['x.io/hold'] } };
const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '1' } };
const thing = (name: string, spec: Json = {}, metadata: { [key: string]: Json } = {}): Json => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...metadata },
  spec,
});
const thingOptions = { path: things, definition: thingDefinition, marker: thing('marker') };

export const liveCases: readonly Case[] = [
  live('created, changed and deleted objects come in their order', [
    post(maps, map('a', {}, { k: '1' })),
    change(`${maps}/a`, { data: { k: '2' } }),
    remove(`${maps}/a`),
  ]),
  live('each change is an event of its own', [
    post(maps, map('a')),
    ...['1', '2', '3', '4', '5'].map((k) => merge(`${maps}/a`, { data: { k } })),
  ]),
  live('a write that changes nothing is no event', [
    post(maps, map('a', {}, { k: '1' })),
    merge(`${maps}/a`, { data: { k: '1' } }),
    change(`${maps}/a`, {}),
    patch('json', `${maps}/a`, []),
  ]),
  live('an apply without effect is no event', [
    apply('a', `${maps}/a`, applied),
    apply('a', `${maps}/a`, applied),
    apply('b', `${maps}/a`, applied),
  ]),
  live('refused writes and dry runs are no events', [
    post(maps, map('a')),
    post(maps, map('a'), { code: 409 }),
    post(maps, map('b'), { query: { dryRun: 'All' } }),
    put(`${maps}/a`, { metadata: { name: 'a', resourceVersion: '1' } }, { code: 409 }),
    remove(`${maps}/a`, undefined, { query: { dryRun: 'All' } }),
  ]),
  live('deletion with a finalizer is a change first', [
    post(maps, held),
    remove(`${maps}/f`),
    change(`${maps}/f`, { metadata: { finalizers: null } }),
  ]),
  live('changes between deletion and end are told', [
    post(maps, held),
    remove(`${maps}/f`),
    merge(`${maps}/f`, { data: { late: 'yes' } }),
    remove(`${maps}/f`),
    merge(`${maps}/f`, { metadata: { finalizers: [] } }),
  ]),
  live('an object of the same name is another one', [
    post(maps, map('a')),
    remove(`${maps}/a`),
    post(maps, map('a')),
    remove(`${maps}/a`),
  ]),
  live('a collection deleted is a deletion of each', [
    post(maps, map('a')),
    post(maps, map('b')),
    post(maps, map('c', { keep: 'yes' })),
    remove(maps, undefined, { query: { labelSelector: '!keep' } }),
  ]),
  live('other namespaces are not told of', [
    post('/api/v1/namespaces', { metadata: { name: '<ns>-other' } }),
    post('/api/v1/namespaces/<ns>-other/configmaps', map('elsewhere')),
    post(maps, map('a')),
  ]),
  ...[
    ['app=x', 'equality'],
    ['app!=y', 'inequality'],
    ['app', 'existence'],
    ['app in (x,z)', 'a set'],
    ['app notin (y)', 'not in a set'],
  ].map(([labelSelector = '', title = '']) =>
    live(
      `a selector by ${title}: into it is added, out of it is deleted`,
      [
        post(maps, map('a', { app: 'x' })),
        merge(`${maps}/a`, { metadata: { labels: { app: 'y' } } }),
        merge(`${maps}/a`, { data: { k: '1' } }),
        merge(`${maps}/a`, { metadata: { labels: { app: null } } }),
        merge(`${maps}/a`, { metadata: { labels: { app: 'z' } } }),
        merge(`${maps}/a`, { metadata: { labels: { app: 'x' } } }),
        remove(`${maps}/a`),
        post(maps, map('b', { app: 'y' })),
        remove(`${maps}/b`),
      ],
      { query: { labelSelector } },
    ),
  ),
  live(
    'several requirements of a selector must all hold',
    [
      post(maps, map('a', { app: 'x' })),
      merge(`${maps}/a`, { metadata: { labels: { tier: '1' } } }),
      merge(`${maps}/a`, { metadata: { labels: { tier: '2' } } }),
    ],
    { query: { labelSelector: 'app=x,tier in (1,9)' }, marker: map('marker', { app: 'x', tier: '9' }) },
  ),
  live(
    'one object by its name',
    [post(maps, map('marker-not')), post(maps, map('b')), remove(`${maps}/b`), remove(`${maps}/marker-not`)],
    { query: { fieldSelector: 'metadata.name=marker' } },
  ),
  live('all but one object', [post(maps, map('a')), post(maps, map('b'))], {
    query: { fieldSelector: 'metadata.name!=a' },
  }),
  live(
    'pods of a node: they come when they are bound',
    [
      post(pods, pod('a')),
      post(pods, pod('b', { nodeName: 'n' })),
      merge(`${pods}/b/status`, { status: { phase: 'Running', podIP: '10.0.0.1' } }),
      remove(`${pods}/b`),
      remove(`${pods}/b`, { gracePeriodSeconds: 0 }),
    ],
    { path: pods, query: { fieldSelector: 'spec.nodeName=n' }, marker: pod('marker', { nodeName: 'n' }) },
  ),
  live(
    'pods by phase: they go when it changes',
    [post(pods, pod('a')), merge(`${pods}/a/status`, { status: { phase: 'Running' } })],
    { path: pods, query: { fieldSelector: 'status.phase=Pending' }, marker: pod('marker') },
  ),
  live(
    'a pod is deleted in two steps when it runs on a node',
    [
      post(pods, pod('a', { nodeName: 'n', terminationGracePeriodSeconds: 5 })),
      remove(`${pods}/a`),
      remove(`${pods}/a`, { gracePeriodSeconds: 1 }),
      remove(`${pods}/a`, { gracePeriodSeconds: 0 }),
    ],
    { path: pods, marker: pod('marker') },
  ),
  live(
    'custom objects: status and spec are changed apart',
    [
      post(things, thing('a', { text: 'x' })),
      merge(`${things}/a/status`, { status: { phase: 'P' }, spec: { text: 'ignored' } }),
      merge(`${things}/a`, { spec: { number: 2 }, status: { phase: 'ignored' } }),
      apply('m', `${things}/a`, thing('a', { tags: ['t'] })),
    ],
    thingOptions,
  ),
  live(
    'custom objects: labels in and out of a selector',
    [
      post(things, thing('a', {}, { labels: { app: 'x' } })),
      merge(`${things}/a`, { metadata: { labels: { app: 'y' } } }),
      merge(`${things}/a`, { metadata: { labels: { app: 'x' } } }),
    ],
    { ...thingOptions, query: { labelSelector: 'app=x' }, marker: thing('marker', {}, { labels: { app: 'x' } }) },
  ),
  live(
    'metadata alone',
    [
      post(maps, map('a', { app: 'x' }, { big: 'data' })),
      merge(`${maps}/a`, { data: { k: '1' } }),
      remove(`${maps}/a`),
    ],
    { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } },
  ),
  live('metadata alone of custom objects', [post(things, thing('a', { text: 'x' })), remove(`${things}/a`)], {
    ...thingOptions,
    headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
  }),
  {
    name: 'two watches see the same, each from where it began',
    steps: [
      get(maps, { save: 'list' }),
      { open: 'w', path: maps, query: { resourceVersion: '<list.resourceVersion>' } },
      post(maps, map('a'), { save: 'a' }),
      { open: 'v', path: maps, query: { resourceVersion: '<a.resourceVersion>' } },
      remove(`${maps}/a`),
      post(maps, map('marker')),
      { collect: 'w', until: { name: 'marker' } },
      { collect: 'v', until: { name: 'marker' } },
    ],
  },
  {
    name: 'through all namespaces',
    steps: [
      get('/api/v1/configmaps', { query: { labelSelector: 'app=<id>' }, save: 'list' }),
      {
        open: 'w',
        path: '/api/v1/configmaps',
        query: { resourceVersion: '<list.resourceVersion>', labelSelector: 'app=<id>' },
      },
      post('/api/v1/namespaces', { metadata: { name: '<ns>-other' } }),
      post('/api/v1/namespaces/<ns>-other/configmaps', map('there', { app: '<id>' })),
      post(maps, map('here', { app: '<id>' })),
      remove('/api/v1/namespaces/<ns>-other/configmaps/there'),
      post(maps, map('marker', { app: '<id>' })),
      { collect: 'w', until: { name: 'marker' } },
    ],
  },
  {
    name: 'a kind without namespaces',
    steps: [
      get('/api/v1/namespaces', { query: { labelSelector: 'app=<id>' }, save: 'list' }),
      {
        open: 'w',
        path: '/api/v1/namespaces',
        query: { resourceVersion: '<list.resourceVersion>', labelSelector: 'app=<id>' },
      },
      post('/api/v1/namespaces', { metadata: { name: '<ns>-one', labels: { app: '<id>' } } }),
      merge('/api/v1/namespaces/<ns>-one', { metadata: { annotations: { a: 'b' } } }),
      remove('/api/v1/namespaces/<ns>-one'),
      put('/api/v1/namespaces/<ns>-one/finalize', { metadata: { name: '<ns>-one' }, spec: { finalizers: [] } }),
      { collect: 'w', until: { name: '<ns>-one', type: 'DELETED' } },
    ],
  },
];
