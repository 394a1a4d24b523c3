/**
 * Servers of which nothing is known, because nobody could ask them: there was no password or certificate to ask with, or none of them took
 * it. They may well serve everybody. That is unknown, and neither served nor not. Pure.
 */
import type { NewCondition, Waiting } from '@reeve/runtime';
import type { RedisClusterStatus } from '../api/cluster.ts';
import { type ClusterView, formatEndpoint } from '../api/view.ts';
import { conditionType } from './cluster-status.ts';
import { endpointOf, type PodMember } from './pods.ts';
import { withRemedy } from './setbacks.ts';
import { reported } from './topology.ts';

/** Why nothing is known. */
export interface Unseen extends Pick<NewCondition, 'reason' | 'message'> {
  /** Servers were asked, and let nobody in. */
  readonly isAsked: boolean;
}

/** What `waitingFor` says where there is no way in. */
const NO_WAY_IN: readonly string[] = ['SecretLost', 'AccessSecret', 'TlsSecret'];
/** A server that says so lives. */
const NOT_LET_IN: readonly string[] = ['REDIS_AUTH', 'REDIS_TLS'];
const MOST_NAMES = 5;
const MOST_TEXT = 1_000;

export interface UnseenFacts {
  /** Whether there was anything to ask servers with. */
  readonly hasAccess: boolean;
  readonly view: ClusterView;
  readonly waitingFor: readonly Waiting[];
}

/** Undefined: servers were asked, and what they said, or that they are silent, counts. */
export function unseenBy({ hasAccess, view, waitingFor }: UnseenFacts): Unseen | undefined {
  if (!hasAccess) {
    const why = waitingFor.find(({ reason }) => NO_WAY_IN.includes(reason));
    const { reason = 'NoWayIn', message = 'there is no password to ask servers with' } = why ?? {};
    const told = `servers are not asked, and may serve everybody: ${message}`;
    return { reason, message: told.slice(0, MOST_TEXT), isAsked: false };
  }
  if (reported(view).length > 0) return undefined;
  const denied = view.silent.find(({ code }) => NOT_LET_IN.includes(code));
  if (!denied) return undefined;
  const told = withRemedy(denied.code, denied.why);
  return { reason: conditionType(denied.code), message: told.slice(0, MOST_TEXT), isAsked: true };
}

export const SERVERS_SILENT = 'ServersSilent';

/**
 * Members that do not answer and of whom nobody else tells: who is known to others is a finding. Pods come and go, and are told of only if
 * their server does not let us in. Of an external member that is not reached, nobody else would say why.
 */
export function silentConditions(
  before: RedisClusterStatus['conditions'],
  members: readonly PodMember[],
  { view, isExternal }: { readonly view: ClusterView; readonly isExternal: boolean },
): readonly NewCondition[] {
  const failures = new Map(view.silent.map((one) => [formatEndpoint(one.endpoint), one]));
  const silent = members.flatMap((member) => {
    const endpoint = member.node ? undefined : endpointOf(member);
    const failure = endpoint && failures.get(formatEndpoint(endpoint));
    return failure && (isExternal || NOT_LET_IN.includes(failure.code)) ? [{ name: member.name, ...failure }] : [];
  });
  const type = SERVERS_SILENT;
  // A password that is not taken says more than a server that is down.
  const first = silent.find(({ code }) => NOT_LET_IN.includes(code)) ?? silent[0];
  if (first) {
    const names = silent.slice(0, MOST_NAMES).map(({ name }) => name);
    const more = silent.length > MOST_NAMES ? ` and ${silent.length - MOST_NAMES} more` : '';
    const message = `the servers of ${names.join(', ')}${more} do not answer the manager: ${first.why}`;
    const told = withRemedy(first.code, message).slice(0, MOST_TEXT);
    return [{ type, status: 'True', reason: conditionType(first.code), message: told }];
  }
  const wasSaid = before?.some((one) => one.type === type) ?? false;
  return wasSaid ? [{ type, status: 'False', reason: 'AllAnswer', message: '' }] : [];
}
