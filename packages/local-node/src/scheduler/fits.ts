/** Whether a pod can be on a node, and if not, why: the first rule that says no speaks, in the order of kube-scheduler. */
import type { Taint } from '../kinds/node.ts';
import type { Container, Pod } from '../kinds/pod.ts';
import { isBound } from '../kinds/volumeclaim.ts';
import type { ClusterView, NodeView } from './cluster.ts';
import { meetsAnyTerm, selectsNode } from './node-affinity.ts';
import { affinityProblem } from './pod-affinity.ts';
import { shortages } from './requests.ts';
import { spreadProblem } from './spread.ts';
import { tolerates, untolerated } from './taints.ts';

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Empty: it fits. */
export function fits(pod: Pod, on: NodeView, views: readonly NodeView[], cluster: ClusterView): readonly string[] {
  const { node } = on;
  const isCordoned = node.spec?.unschedulable === true;
  if (isCordoned && !(pod.spec?.tolerations ?? []).some((one) => tolerates(one, UNSCHEDULABLE))) {
    return ['node(s) were unschedulable'];
  }
  if (untolerated(pod, node, ['NoSchedule', 'NoExecute']).length > 0) return ['node(s) had untolerated taint(s)'];
  if (!selectsNode(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  if (portsCollide(pod, on.pods)) return ["node(s) didn't have free ports for the requested pod ports"];
  const missing = shortages(pod, on);
  if (missing.length > 0) return missing;
  if (!volumesReach(on, cluster)) return ["node(s) didn't match PersistentVolume's node affinity"];
  const spread = spreadProblem(pod, on, views);
  if (spread) return [spread];
  const affinity = affinityProblem(pod, on, views, cluster.namespaces);
  return affinity ? [affinity] : [];
}

/** Volumes that are bound say from which nodes they can be reached. */
function volumesReach({ node }: NodeView, { claims }: ClusterView): boolean {
  for (const { claim, volume } of claims.values()) {
    const required = volume?.spec?.nodeAffinity?.required;
    if (isBound(claim) && required && !meetsAnyTerm(required.nodeSelectorTerms, node)) return false;
  }
  return true;
}

type HostPort = NonNullable<Container['ports']>[number] & { readonly hostPort?: number; readonly hostIP?: string };

function portsCollide(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  const taken = others.flatMap(hostPorts);
  return wanted.some((one) => taken.some((other) => isSamePort(one, other)));
}

function hostPorts({ spec }: Pod): readonly HostPort[] {
  const all = (spec?.containers ?? []).flatMap(({ ports = [] }) => ports as readonly HostPort[]);
  return all.filter(({ hostPort }) => hostPort !== undefined && hostPort > 0);
}

function isSamePort(one: HostPort, other: HostPort): boolean {
  if (one.hostPort !== other.hostPort || (one.protocol ?? 'TCP') !== (other.protocol ?? 'TCP')) return false;
  const everywhere = (ip: string | undefined) => ip === undefined || ip === '' || ip === '0.0.0.0';
  return everywhere(one.hostIP) || everywhere(other.hostIP) || one.hostIP === other.hostIP;
}
