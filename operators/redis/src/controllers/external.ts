/** What a turn of a cluster with external members does otherwise than one with pods. */
import type { DeepReadonly, Waiting } from '@reeve/runtime';
import type { Api, EventWriter } from '@reeve/runtime/manager';
import type { RedisClusterStatus } from '../api/cluster.ts';
import { type RedisClusterObject, type Secret, secrets } from '../api/kinds.ts';
import type { ConnectOptions, TlsOptions } from '../client/client.ts';
import { textOf } from './credentials.ts';
import { agentConditions, type Enrolled } from './roster.ts';

interface ExternalAccess {
  readonly options: ConnectOptions | undefined;
  readonly waitingFor: readonly Waiting[];
}

type Found = DeepReadonly<Secret> | undefined;

/**
 * How the manager is let in, read anew each time: passwords change, and certificates end. Without what was promised nobody is asked:
 * servers would take it for an attack, or be told a password in clear.
 */
export async function externalAccess(work: {
  readonly object: DeepReadonly<RedisClusterObject>;
  readonly api: Api;
  readonly signal: AbortSignal;
}): Promise<ExternalAccess> {
  const { metadata, spec } = work.object;
  const { username, passwordSecret: from, tls } = spec.access ?? {};
  const find = (name: string): Promise<Found> =>
    work.api.resource(secrets, metadata.namespace).find(name, { signal: work.signal });
  let options: ConnectOptions = username === undefined ? {} : { username };
  if (from) {
    const password = textOf((await find(from.name)) as Secret | undefined, from.key);
    if (!password) return missing(`there is no key ${from.key} in secret ${from.name}`, from.name);
    options = { ...options, password };
  }
  if (tls) {
    const { secretName, serverName } = tls;
    const parts = clientTls(await find(secretName));
    if (typeof parts === 'string') return missing(`secret ${secretName} ${parts}`, secretName);
    options = { ...options, tls: { ...parts, ...(serverName !== undefined && { servername: serverName }) } };
  }
  return { options, waitingFor: [] };
}

/** Whom to trust, and who we are, if servers ask for that; or what is amiss with the Secret that should say so. */
function clientTls(secret: Found): Pick<TlsOptions, 'ca' | 'cert' | 'key'> | string {
  const [ca, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map((part) => textOf(secret as Secret | undefined, part));
  if (!ca) return 'has no ca.crt';
  if (!cert && !key) return { ca };
  return cert && key ? { ca, cert, key } : 'has one of tls.crt and tls.key: give both, or neither';
}

function missing(what: string, secretName: string): ExternalAccess {
  const message = `spec.access: ${what}`;
  return { options: undefined, waitingFor: [{ reason: 'AccessSecret', message, subjects: [secretName] }] };
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
