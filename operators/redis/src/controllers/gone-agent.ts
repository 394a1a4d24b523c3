/** The proof that the agent of a pod cannot be at anything any more, from what the server has at this moment. */
import { leaseNameOf, MEMBER_LEASE_LABEL } from '@reeve/runtime';
import type { Api } from '@reeve/runtime/manager';
import { type LeaseSight, presenceOf, seeLease } from '../agent/presence.ts';
import { memberLeases, pods, type WorkerNode, workerNodes } from '../api/kinds.ts';
import { AGENT_CONTAINER } from '../plan/agent-container.ts';
import { lifeOf } from '../plan/pod-trouble.ts';
import type { Enrolled } from './roster.ts';

/**
 * A Kubernetes calls a node ready for 40 to 50 s after it was last heard of, and what it told of its pods stands. One that is called ready
 * all through so long a silence of a lease was heard of in it, and has told what became of its pods.
 */
const NODE_GRACE_MS = 90_000;

export interface Witness {
  readonly api: Api;
  readonly now: number;
  /** What was seen of its lease so far. */
  readonly sight: LeaseSight | undefined;
}

type Named = Pick<Enrolled, 'namespace' | 'name' | 'podUid'>;

/**
 * Its pod is gone, and with it the token that was bound to it; or its container has no process, by the word of a worker node that is heard
 * of, and its lease was not renewed for longer than a node can be silent unnoticed: who begins anything holds it. Whatever nobody says is no
 * proof. That a container may be started again is no matter: orders are cancelled before this is asked, and a new life begins none of those.
 */
export async function isAgentGone(member: Named, witness: Witness, signal: AbortSignal): Promise<boolean> {
  const { namespace, name, podUid } = member;
  const { api } = witness;
  if (podUid === undefined) return false;
  const { items } = await api.resource(pods, namespace).list({ fieldSelector: `metadata.name=${name}`, signal });
  const pod = items.find(({ metadata }) => metadata?.uid === podUid);
  if (!pod) return true;
  const life = lifeOf(pod, AGENT_CONTAINER);
  if (life === undefined || life === 'running') return false;
  const { nodeName } = pod.spec ?? {};
  if (nodeName !== undefined && !(await isHeardOf(nodeName, witness, signal))) return false;
  return isSilent(member, witness, signal);
}

/** What a node told before it fell silent may be otherwise by now; one that is just back may not have told it yet. */
async function isHeardOf(name: string, { api, now }: Witness, signal: AbortSignal): Promise<boolean> {
  const { items } = await api.resource(workerNodes).list({ fieldSelector: `metadata.name=${name}`, signal });
  return items.some((node) => isReadySince(node, now - NODE_GRACE_MS));
}

/** By the clock of whoever wrote it: it can only ask for more than the silence of the lease does. */
function isReadySince({ status }: WorkerNode, then: number): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && Date.parse(ready.lastTransitionTime ?? '') <= then;
}

async function isSilent(
  { namespace, name }: Named,
  { api, now, sight }: Witness,
  signal: AbortSignal,
): Promise<boolean> {
  const labelSelector = `${MEMBER_LEASE_LABEL}=${name}`;
  const { items } = await api.resource(memberLeases, namespace).list({ labelSelector, signal });
  const lease = items.find(({ metadata }) => metadata?.name === leaseNameOf(name));
  if (!lease?.spec?.holderIdentity) return true;
  if (!sight || seeLease(sight, lease, now) !== sight) return false;
  const presence = presenceOf(sight, now);
  return presence.is === 'lost' && presence.silentMs >= NODE_GRACE_MS;
}
