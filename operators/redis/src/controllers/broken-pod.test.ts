import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, type StatefulSet, statefulSets } from '../api/kinds.ts';
import type { PodMember } from '../plan/pods.ts';
import { isBrokenNow } from './broken-pod.ts';

const set: StatefulSet = {
  metadata: { name: 'c', uid: 'set', generation: 2 },
  status: { updateRevision: 'new', observedGeneration: 2 },
};
const pod: Pod = {
  metadata: {
    name: 'c-1',
    uid: 'pod',
    labels: { 'controller-revision-hash': 'old' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'c', uid: 'set', controller: true }],
  },
  spec: { nodeName: 'n' },
  status: { containerStatuses: [{ name: 'server', state: { waiting: { reason: 'ErrImagePull' } } }] },
};
const cached = { name: 'c-1', uid: 'pod' } as PodMember;

function isBroken(live: { readonly set?: StatefulSet; readonly pod?: Pod }): Promise<boolean> {
  const api = {
    resource: (kind: unknown) =>
      kind === statefulSets
        ? { find: async () => live.set }
        : {
            list: async ({ fieldSelector }: { readonly fieldSelector?: string }) => {
              assert.equal(fieldSelector, 'metadata.name=c-1');
              return { items: live.pod ? [live.pod] : [] };
            },
          },
  };
  const object = { metadata: { name: 'c', namespace: 'ns' }, spec: { primaries: 3 } };
  return isBrokenNow({ object, api, signal: new AbortController().signal } as never, cached);
}

test('only what the server has of a pod now lets it be replaced out of turn', async () => {
  assert.equal(await isBroken({ set, pod }), true);
  assert.equal(await isBroken({ set }), false, 'it is gone');
  assert.equal(await isBroken({ set, pod: { ...pod, metadata: { ...pod.metadata, uid: 'other' } } }), false);
  assert.equal(
    await isBroken({
      set,
      pod: { ...pod, status: { containerStatuses: [{ name: 'server', state: { running: {} } }] } },
    }),
    false,
    'it runs by now',
  );
  const ready = { ...pod.status, conditions: [{ type: 'Ready', status: 'True' }] };
  assert.equal(await isBroken({ set, pod: { ...pod, status: ready } }), false);
  assert.equal(
    await isBroken({ set: { ...set, status: { updateRevision: 'old', observedGeneration: 2 } }, pod }),
    false,
  );
  const unseen = { ...set, status: { updateRevision: 'new', observedGeneration: 1 } };
  assert.equal(await isBroken({ set: unseen, pod }), false, 'what is asked for is not known yet');
  assert.equal(await isBroken({ pod }), false);
});
