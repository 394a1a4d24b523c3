/** Watches that begin in the past or with what is there. */
import type { Json } from '@reeve/kube';
import { type Case, get, merge, post, remove, type Step } from '../case.ts';
import { thingDefinition } from './embedded-cases.ts';
import { map, pod } from './watch-live.ts';

const maps = '/api/v1/namespaces/<ns>/configmaps';
const pods = '/api/v1/namespaces/<ns>/pods';
const things = '/apis/example.com/v1/namespaces/<ns>/things';

const happened: readonly Step[] = [
  get(maps, { save: 'list' }),
  post(maps, map('a', { app: 'x' }), { save: 'a' }),
  post(maps, map('b', { app: 'y' }), { save: 'b' }),
  merge(`${maps}/a`, { metadata: { labels: { app: 'y' } } }, { save: 'changed' }),
  remove(`${maps}/b`),
  post(maps, map('c', { app: 'x' })),
];

function since(
  name: string,
  query: Readonly<Record<string, string>>,
  headers?: Readonly<Record<string, string>>,
): Case {
  return {
    name,
    steps: [
      ...happened,
      post(maps, map('marker', { app: 'x' })),
      { open: 'w', path: maps, query, ...(headers === undefined ? {} : { headers }) },
      { collect: 'w', until: { name: 'marker' } },
    ],
  };
}

const listed = '<list.resourceVersion>';
const initial = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
const partial = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };

/** What is there as initial events, then what comes. */
function streamed(
  name: string,
  query: Readonly<Record<string, string>>,
  headers?: Readonly<Record<string, string>>,
): Case {
  return {
    name,
    steps: [
      ...happened,
      { open: 'w', path: maps, query: { ...initial, ...query }, ...(headers === undefined ? {} : { headers }) },
      { collect: 'w', until: 'initial' },
      post(maps, map('marker', { app: 'x' })),
      { collect: 'w', until: { name: 'marker' } },
    ],
  };
}

const custom = (name: string, spec: Json): Json => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
});

export const historyCases: readonly Case[] = [
  since('from a version of the past: everything after it', { resourceVersion: listed }),
  since('from the version of an object: not itself', { resourceVersion: '<a.resourceVersion>' }),
  since('from the version of a change', { resourceVersion: '<changed.resourceVersion>' }),
  since('from the past by labels', { resourceVersion: listed, labelSelector: 'app=x' }),
  since('from the past, metadata alone', { resourceVersion: listed }, partial),
  since('without a version: what is there is added, in the order of names', {}),
  since('from version 0: what is there is added', { resourceVersion: '0' }),
  since('without a version and by labels', { labelSelector: 'app=x' }),
  since('without a version and without initial events: only what comes', {
    resourceVersion: listed,
    sendInitialEvents: 'false',
    resourceVersionMatch: 'NotOlderThan',
  }),
  streamed('a streaming list: what is there, then a mark', {}),
  streamed('a streaming list by labels', { labelSelector: 'app=x' }),
  streamed('a streaming list from version 0', { resourceVersion: '0' }),
  streamed('a streaming list not older than a version', { resourceVersion: '<a.resourceVersion>' }),
  streamed('a streaming list, metadata alone', {}, partial),
  {
    name: 'a streaming list of nothing is a mark',
    steps: [
      { open: 'w', path: maps, query: { ...initial, labelSelector: 'app=none' } },
      { collect: 'w', until: 'initial' },
    ],
  },
  {
    name: 'a streaming list of custom objects',
    definition: thingDefinition,
    steps: [
      post(things, custom('b', { text: 'x' })),
      post(things, custom('a', { ports: [{ port: 1 }] })),
      { open: 'w', path: things, query: initial },
      { collect: 'w', until: 'initial' },
      remove(`${things}/b`),
      { collect: 'w', until: { name: 'b', type: 'DELETED' } },
    ],
  },
  {
    name: 'a streaming list of pods by a field',
    steps: [
      post(pods, pod('a', { nodeName: 'n' })),
      post(pods, pod('b')),
      { open: 'w', path: pods, query: { ...initial, fieldSelector: 'spec.nodeName=n' } },
      { collect: 'w', until: 'initial' },
    ],
  },
  {
    name: 'a streaming list without bookmarks has no mark',
    steps: [
      ...happened,
      {
        open: 'w',
        path: maps,
        query: { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' },
      },
      { collect: 'w', until: { events: 2 } },
      post(maps, map('marker')),
      { collect: 'w', until: { name: 'marker' } },
    ],
  },
];
