/** How a watch begins and ends, and what is refused. */
import { type Case, get, post } from '../case.ts';
import { map } from './watch-live.ts';

const maps = '/api/v1/namespaces/<ns>/configmaps';

const refused = (name: string, query: Readonly<Record<string, string>>, code: number, path = maps): Case => ({
  name: `refused: ${name}`,
  steps: [{ open: 'w', path, query, code }],
});

export const openingCases: readonly Case[] = [
  refused('a version that is none', { resourceVersion: 'x' }, 500),
  refused('a negative version', { resourceVersion: '-1' }, 500),
  refused('initial events without a match', { sendInitialEvents: 'true' }, 422),
  refused('a match without initial events', { resourceVersion: '1', resourceVersionMatch: 'NotOlderThan' }, 422),
  refused('an exact match', { sendInitialEvents: 'true', resourceVersionMatch: 'Exact', resourceVersion: '1' }, 422),
  refused('a match that is none', { resourceVersionMatch: 'Newer' }, 422),
  refused('a selector that is none', { labelSelector: 'a=b=c' }, 400),
  refused('a selector by an unknown operator', { labelSelector: 'a ~ b' }, 400),
  refused('a field that cannot be selected', { fieldSelector: 'data.k=1' }, 400),
  refused('a field selector that is none', { fieldSelector: 'metadata.name' }, 400),
  refused('a timeout that is no number', { timeoutSeconds: 'soon' }, 400),
  refused('a kind that is not there', {}, 404, '/api/v1/namespaces/<ns>/nothings'),
  refused('a group that is not there', {}, 404, '/apis/<group>/v1/namespaces/<ns>/things'),
  {
    name: 'it ends when its time is over',
    steps: [
      post(maps, map('a')),
      { open: 'w', path: maps, query: { timeoutSeconds: '1' } },
      { collect: 'w', until: 'end' },
    ],
  },
  {
    name: 'one object by its path',
    steps: [
      post(maps, map('a')),
      post(maps, map('b')),
      { open: 'w', path: `${maps}/a`, query: { timeoutSeconds: '3' } },
      { collect: 'w', until: 'end' },
    ],
  },
  {
    name: 'a watch with a limit ignores it',
    steps: [
      get(maps, { save: 'list' }),
      post(maps, map('a')),
      post(maps, map('b')),
      post(maps, map('marker')),
      { open: 'w', path: maps, query: { resourceVersion: '<list.resourceVersion>', limit: '1' } },
      { collect: 'w', until: { name: 'marker' } },
    ],
  },
  {
    name: 'watch=1 and watch=false',
    steps: [
      post(maps, map('a')),
      { open: 'w', path: maps, query: { watch: '1', timeoutSeconds: '1' } },
      { collect: 'w', until: 'end' },
      get(maps, { query: { watch: 'false' } }),
    ],
  },
  {
    name: 'in a namespace that is not there',
    steps: [
      { open: 'w', path: '/api/v1/namespaces/<ns>-none/configmaps', query: { timeoutSeconds: '1' } },
      { collect: 'w', until: 'end' },
    ],
  },
];
