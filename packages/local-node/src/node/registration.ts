/** The node's own object, and the lease that says it lives. */
import type { KubeClient } from '@reeve/kube';
import type { Clock } from '@reeve/runtime';
import { leases } from '@reeve/runtime/manager';
import { type Node, type NodeCondition, nodes } from '../kinds/node.ts';
import type { Processes } from '../host/host.ts';
import { isoTime } from '../pod/time.ts';
import type { NodeFacts, SystemFacts } from './facts.ts';

const OS = 'linux';
const LEASE_NAMESPACE = 'kube-node-lease';
export const LEASE_SECONDS = 40;
export const RENEW_MS = 10_000;

export interface RegistrationInput {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly processes: Pick<Processes, 'bootId'>;
  readonly facts: NodeFacts;
  readonly driver: string;
  readonly signal: AbortSignal;
}

export function nodeObject(facts: NodeFacts): Node & { readonly metadata: { readonly name: string } } {
  return {
    metadata: { name: facts.name, labels: labelsOf(facts) },
    // Not declared is not false: whoever else has cordoned it keeps that.
    spec: { taints: facts.taints, ...(facts.isRetired && { unschedulable: true }) },
  };
}

function labelsOf({ name, labels, system }: NodeFacts): Readonly<Record<string, string>> {
  const arch = system && { 'kubernetes.io/arch': system.architecture };
  return { 'kubernetes.io/hostname': name, 'kubernetes.io/os': OS, ...arch, ...labels };
}

/** Kubernetes wants all of these. What a machine is called by its maker is nobody's business. */
function nodeInfo({ architecture, kernelVersion, osImage, version }: SystemFacts, bootID: string) {
  return {
    architecture,
    bootID,
    containerRuntimeVersion: `reeve://${version}`,
    kernelVersion,
    kubeProxyVersion: '',
    kubeletVersion: `v${version}-reeve`,
    machineID: '',
    operatingSystem: OS,
    osImage,
    systemUUID: '',
  };
}

/**
 * Says what the node is. Labels and taints are declared as the node's own; whoever else adds some keeps them. What it can hold and that
 * it is well is its status.
 */
export async function register({ client, clock, processes, facts, driver, signal }: RegistrationInput): Promise<void> {
  const api = client.resource(nodes);
  const fieldManager = `node-${facts.name}`;
  const { taints, ...rest } = nodeObject(facts).spec ?? {};
  const declared = { ...nodeObject(facts), spec: { ...rest, ...(taints && taints.length > 0 && { taints }) } };
  const there = await api.apply(declared, { fieldManager, force: true, signal });
  const before = there.status?.conditions?.find(({ type }) => type === 'Ready');
  const now = isoTime(clock.now());
  const ready: NodeCondition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: `pods run as processes (driver ${driver})`,
    lastHeartbeatTime: now,
    lastTransitionTime: before?.status === 'True' ? (before.lastTransitionTime ?? now) : now,
  };
  const { name, capacity, address, system } = facts;
  const status: Node['status'] = {
    capacity,
    allocatable: capacity,
    conditions: [ready],
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    ...(system && { nodeInfo: nodeInfo(system, await processes.bootId()) }),
  };
  const metadata = { name };
  await api.apply({ metadata, status }, { subresource: 'status', fieldManager, force: true, signal });
}

/** Once: the next renewal follows after `RENEW_MS`. A node whose object was deleted makes it anew. The node owns its lease, so that it goes with it. */
export async function renewLease(input: RegistrationInput): Promise<void> {
  const { client, clock, facts, signal } = input;
  const api = client.resource(leases, LEASE_NAMESPACE);
  const node = await client.resource(nodes).find(facts.name, { signal });
  if (!node) await register(input);
  const ownerReferences = node && [{ apiVersion: 'v1', kind: 'Node', name: facts.name, uid: node.metadata.uid }];
  const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: facts.name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
  const metadata = { name: facts.name, namespace: LEASE_NAMESPACE, ...(ownerReferences && { ownerReferences }) };
  await api.apply({ metadata, spec }, { fieldManager: `node-${facts.name}`, force: true, signal });
}
