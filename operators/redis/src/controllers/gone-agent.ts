/** The proof that the agent of a pod cannot be at anything any more, from what the server has at this moment. */
import { type DeepReadonly, MEMBER_LEASE_LABEL } from '@reeve/runtime';
import type { Api } from '@reeve/runtime/manager';
import { type LeaseSight, presenceOf, seeLease } from '../agent/presence.ts';
import { memberLeases, pods, type WorkerNode } from '../api/kinds.ts';
import { AGENT_CONTAINER } from '../plan/agent-container.ts';
import { lifeOf } from '../plan/pod-trouble.ts';
import type { Enrolled } from './roster.ts';

export interface Witness {
  readonly api: Api;
  readonly now: number;
  /** What was seen of its lease so far. */
  readonly sight: LeaseSight | undefined;
  workerNode(name: string): DeepReadonly<WorkerNode> | undefined;
}

type Named = Pick<Enrolled, 'namespace' | 'name' | 'podUid'>;

/**
 * Its pod is gone, and with it the token that was bound to it; or its container has no process, by the word of a worker node that is heard
 * of, and its lease was not renewed for so long that it is lost: who begins anything holds it. Whatever nobody says is no proof. That a
 * container may be started again is no matter: orders are cancelled before this is asked, and a new life begins none of those.
 */
export async function isAgentGone(member: Named, witness: Witness, signal: AbortSignal): Promise<boolean> {
  const { namespace, name, podUid } = member;
  const { api, workerNode } = witness;
  if (podUid === undefined) return false;
  const { items } = await api.resource(pods, namespace).list({ fieldSelector: `metadata.name=${name}`, signal });
  const pod = items.find(({ metadata }) => metadata?.uid === podUid);
  if (!pod) return true;
  const life = lifeOf(pod, AGENT_CONTAINER);
  if (life === undefined || life === 'running') return false;
  const { nodeName } = pod.spec ?? {};
  if (nodeName !== undefined && !isHeardOf(workerNode(nodeName))) return false;
  return isSilent(member, witness, signal);
}

/** What a node told before it fell silent may be otherwise by now. */
function isHeardOf(node: DeepReadonly<WorkerNode> | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

async function isSilent(
  { namespace, name }: Named,
  { api, now, sight }: Witness,
  signal: AbortSignal,
): Promise<boolean> {
  const labelSelector = `${MEMBER_LEASE_LABEL}=${name}`;
  const { items } = await api.resource(memberLeases, namespace).list({ labelSelector, signal });
  const [lease] = items;
  if (!lease?.spec?.holderIdentity) return true;
  return sight !== undefined && seeLease(sight, lease, now) === sight && presenceOf(sight, now).is === 'lost';
}
