import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LeaseObject, MEMBER_LEASE_LABEL } from '@reeve/runtime';
import { seeLease } from '../agent/presence.ts';
import { type ContainerStatus, type Pod, pods, type WorkerNode, workerNodes } from '../api/kinds.ts';
import { isAgentGone, type Witness } from './gone-agent.ts';

const member = { namespace: 'ns', name: 'c-1', podUid: 'pod' };
const backOff = { waiting: { reason: 'CrashLoopBackOff' } };
const lease: LeaseObject = {
  metadata: { name: 'member-c-1', uid: 'lease' },
  spec: { holderIdentity: 'pod_agent-1', renewTime: '2026-01-01T00:00:00Z' },
};
const renewed: LeaseObject = { ...lease, spec: { ...lease.spec, renewTime: '2026-01-01T00:00:10Z' } };
const node = (status: string, since = '1969-12-31T00:00:00Z'): WorkerNode => ({
  metadata: { name: 'n' },
  status: { conditions: [{ type: 'Ready', status, lastTransitionTime: since }] },
});

const podWith = (agent: Partial<ContainerStatus> | undefined, uid = 'pod'): Pod => ({
  metadata: { name: 'c-1', uid },
  spec: { nodeName: 'n' },
  status: {
    containerStatuses: [{ name: 'server', state: { running: {} } }, ...(agent ? [{ name: 'agent', ...agent }] : [])],
  },
});

interface World {
  readonly pod?: Pod;
  readonly lease?: LeaseObject;
  readonly node?: WorkerNode | undefined;
  readonly seen?: LeaseObject | undefined;
  readonly now?: number;
}

function isGone(world: World): Promise<boolean> {
  const worker = 'node' in world ? world.node : node('True');
  const held = (kind: unknown) => (kind === pods ? world.pod : kind === workerNodes ? worker : world.lease);
  const asked = ['metadata.name=c-1', 'metadata.name=n', `${MEMBER_LEASE_LABEL}=c-1`];
  const api = {
    resource: (kind: unknown) => ({
      list: async ({ fieldSelector, labelSelector }: { fieldSelector?: string; labelSelector?: string }) => {
        assert.equal(fieldSelector ?? labelSelector, asked[kind === pods ? 0 : kind === workerNodes ? 1 : 2]);
        return { items: [held(kind)].filter((one) => one !== undefined) };
      },
    }),
  };
  const seen = 'seen' in world ? world.seen : lease;
  const witness = {
    api,
    now: world.now ?? 90_000,
    sight: seen && seeLease(undefined, seen, 0),
  } as unknown as Witness;
  return isAgentGone(member, witness, new AbortController().signal);
}

test('an agent is gone with its pod, or when its container has no process and its lease is not renewed', async () => {
  assert.equal(await isGone({}), true, 'there is no such pod');
  assert.equal(await isGone({ pod: podWith({ state: { running: {} } }, 'successor') }), true, 'it is another pod');
  const down = podWith({ state: backOff, restartCount: 4 });
  assert.equal(await isGone({ pod: down, lease }), true);
  assert.equal(await isGone({ pod: podWith({ state: { waiting: { reason: 'ErrImagePull' } } }), lease }), true);
  assert.equal(await isGone({ pod: down }), true, 'nobody holds a lease');
});

test('whatever nobody says is no proof', async () => {
  const down = podWith({ state: backOff, restartCount: 4 });
  const cases: Readonly<Record<string, World>> = {
    'it runs': { pod: podWith({ state: { running: {} } }), lease },
    'of its container nothing is told': { pod: podWith(undefined), lease },
    'its worker node is not heard of': { pod: down, lease, node: node('Unknown') },
    'its worker node is just back, and may not have told all yet': {
      pod: down,
      lease,
      node: node('True', '1970-01-01T00:00:01Z'),
    },
    'since when its worker node is heard of, nobody says': { pod: down, lease, node: node('True', '') },
    'its worker node is not known': { pod: down, lease, node: undefined },
    'it is lost, and its node may have fallen silent with it and still be called ready': {
      pod: down,
      lease,
      now: 89_999,
    },
    'it has renewed its lease, and the cache lags': { pod: down, lease: renewed },
    'its lease was not seen before': { pod: down, lease, seen: undefined },
  };
  for (const [why, world] of Object.entries(cases)) assert.equal(await isGone(world), false, why);
});
