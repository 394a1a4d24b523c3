/** What a turn of a cluster with external members does otherwise than one with pods. */
import type { DeepReadonly, Waiting } from '@reeve/runtime';
import type { Api, EventWriter } from '@reeve/runtime/manager';
import type { RedisClusterStatus } from '../api/cluster.ts';
import { type RedisClusterObject, secrets } from '../api/kinds.ts';
import type { ConnectOptions } from '../client/client.ts';
import { textOf } from './credentials.ts';
import { agentConditions, type Enrolled } from './roster.ts';

/** How the manager is let in. Without a password that was promised nobody is asked: servers would take it for an attack. */
export async function externalAccess(work: {
  readonly object: DeepReadonly<RedisClusterObject>;
  readonly api: Api;
  readonly signal: AbortSignal;
}): Promise<{ readonly options: ConnectOptions | undefined; readonly waitingFor: readonly Waiting[] }> {
  const { metadata, spec } = work.object;
  const { username, passwordSecret: from } = spec.access ?? {};
  const user = username === undefined ? {} : { username };
  if (!from) return { options: user, waitingFor: [] };
  const secret = await work.api.resource(secrets, metadata.namespace).find(from.name, { signal: work.signal });
  const password = textOf(secret, from.key);
  if (password !== undefined && password !== '') return { options: { ...user, password }, waitingFor: [] };
  const message = `spec.access: there is no key ${from.key} in secret ${from.name}`;
  return { options: undefined, waitingFor: [{ reason: 'AccessSecret', message, subjects: [from.name] }] };
}

/** An event when agents are lost, and one when all are back. */
export function tellAgents(
  events: EventWriter,
  before: RedisClusterStatus['conditions'],
  roster: readonly Enrolled[],
): void {
  for (const { type, status, message } of agentConditions(roster, before)) {
    const was = before?.find((condition) => condition.type === type)?.status;
    if (status === 'True' && was !== 'True') events.warning('AgentLost', message.slice(0, 1_000), 'Agents');
    if (status === 'False' && was === 'True') events.normal('AgentsHeard', 'every agent is heard of again', 'Agents');
  }
}
