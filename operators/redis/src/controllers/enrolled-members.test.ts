import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGENT_POLICY, memberWritePolicy, ReeveError } from '@reeve/runtime';
import { VirtualClock } from '@reeve/runtime/testing';
import { CLUSTER_LABEL } from '../api/cluster.ts';
import type { MemberObject } from '../api/kinds.ts';
import type { PodFacts } from '../plan/pods.ts';
import { EnrolledMembers } from './enrolled-members.ts';

const [policy, binding] = memberWritePolicy() as readonly unknown[];
const pod = (ordinal: number): PodFacts => ({
  name: `c-${ordinal}`,
  uid: `uid-${ordinal}`,
  ordinal,
  ip: `10.0.0.${ordinal}`,
  isReady: true,
  isDeleting: false,
  isCurrent: true,
  annotations: {},
});

function scene() {
  const applied: string[] = [];
  const there = new Map<string, unknown>();
  const api = {
    resource: ({ kind }: { readonly kind: string }) => ({
      find: async (name: string) => (name === AGENT_POLICY ? there.get(kind) : undefined),
      apply: async () => void applied.push(kind),
    }),
  } as never;
  const ports = { clock: new VirtualClock(0), ids: { next: () => 'id' } };
  const enrolled = new EnrolledMembers(ports, { api, lease: 1, membersOf: () => [], wake: () => undefined });
  const work = {
    object: { metadata: { name: 'c', namespace: 'ns' } },
    signal: new AbortController().signal,
    read: () => undefined,
    apply: async ({ kind }: { readonly kind: string }) => void applied.push(kind),
  } as never;
  const declare = (pods: readonly PodFacts[]) => enrolled.ofPods('ns/c', () => new Set()).declare(work, pods);
  return { applied, there, declare, enrolled };
}

const isRefused = (error: unknown) => error instanceof ReeveError && error.code === 'AGENT_POLICY_MISSING';

test('agents are given rights and members only while they are narrowed, also when the policy goes later', async () => {
  const { applied, there, declare } = scene();
  await assert.rejects(declare([pod(0)]), isRefused);
  assert.deepEqual(applied, []);
  there.set('ValidatingAdmissionPolicy', policy);
  there.set('ValidatingAdmissionPolicyBinding', binding);
  await declare([pod(0)]);
  assert.deepEqual(applied, ['ServiceAccount', 'RoleBinding', 'Member']);
  there.delete('ValidatingAdmissionPolicyBinding');
  await assert.rejects(declare([pod(1)]), isRefused);
  assert.equal(applied.length, 3);
  there.set('ValidatingAdmissionPolicyBinding', binding);
  await declare([pod(1)]);
  assert.deepEqual(applied.slice(3), ['Member'], 'rights are given once in a term: whoever took them away meant it');
});

test('what an agent reports wakes its cluster when the check goes by it, and not when a server only does its work', () => {
  const { enrolled } = scene();
  const others = { known: 5, failed: 0, suspected: 0, handshakes: 0, unlinked: 0 };
  const annotations = { zone: 'a', host: 'h' };
  const quiet = {
    state: 'ok',
    link: 'up',
    openSlots: 0,
    keys: 7,
    functions: 0,
    offset: 1,
    address: 'a:1@2',
    others,
    annotations,
  };
  const member = (facts: object, more: object = {}) =>
    ({
      metadata: { name: 'h-1', namespace: 'ns', labels: { [CLUSTER_LABEL]: 'c' } },
      spec: { endpoint: { host: 'a', port: 1 } },
      status: { report: { digest: 'd', facts: { ...quiet, ...facts }, ...more } },
    }) as unknown as MemberObject;
  const woken = (facts: object, more?: object) =>
    enrolled.told({ change: 'changed', previous: member({}), object: member(facts, more) } as never);
  assert.equal(woken({}), undefined);
  assert.equal(woken({ keys: 8, offset: 99, usedBytes: 5 }), undefined, 'it is written to');
  for (const news of [
    { link: 'down' },
    { state: 'fail' },
    { keys: 0 },
    { functions: 1 },
    { openSlots: 1 },
    { address: 'b:1@2' },
    { others: { ...others, suspected: 1 } },
    { others: { ...others, failed: 1 } },
    { others: { ...others, handshakes: 1 } },
    { annotations: { zone: 'b', host: 'h' } },
  ]) {
    assert.equal(woken(news), 'ns/c', JSON.stringify(news));
  }
  for (const report of [{ digest: 'e' }, { unknown: 'no answer' }]) {
    assert.equal(woken({}, report), 'ns/c', JSON.stringify(report));
  }
});
