/** Watches. */
import { type Area, get, post, remove } from '../case.ts';

const maps = '/api/v1/namespaces/<ns>/configmaps';

export const watchArea: Area = {
  name: 'watch',
  cases: [
    {
      name: 'created, changed and deleted objects come in their order',
      steps: [
        get(maps, { save: 'list' }),
        { open: 'w', path: maps, query: { resourceVersion: '<list.resourceVersion>' } },
        post(maps, { metadata: { name: 'a' }, data: { k: '1' } }),
        { change: { data: { k: '2' } }, path: `${maps}/a` },
        remove(`${maps}/a`),
        { collect: 'w', until: { name: 'a', type: 'DELETED' } },
      ],
    },
  ],
};
