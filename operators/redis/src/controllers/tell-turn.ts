/** What a turn has to say to people, as events: what came since the status before it. */
import type { DeepReadonly } from '@reeve/runtime';
import type { EventWriter, ObjectReference } from '@reeve/runtime/manager';
import type { RedisClusterStatus } from '../api/cluster.ts';
import type { NodeId } from '../api/view.ts';
import { conditionNews } from '../plan/condition-news.ts';
import { STRAY_KEYS, type StrayLook } from '../plan/stray-keys.ts';
import { tellAgents } from './external.ts';
import type { Seen } from './look.ts';
import type { Enrolled } from './roster.ts';
import { MOST_NEWS, type ToldFindings } from './told-findings.ts';

export interface TurnNews {
  readonly before: DeepReadonly<RedisClusterStatus>;
  readonly after: RedisClusterStatus;
  readonly seen: Seen;
  /** Nobody could be asked: what was found before is neither over nor found anew. */
  readonly isUnseen: boolean;
  readonly toldFindings: ToldFindings;
  /** Of a count of keys outside their slots. Undefined: nobody counted. */
  readonly strays: StrayLook | undefined;
  /** Of a cluster that has agents. */
  readonly roster: readonly Enrolled[] | undefined;
  /** What its nodes live in. */
  readonly homes: { readonly kind: 'Member' | 'Pod'; readonly namespace: string };
}

export function tellTurn(events: EventWriter, news: TurnNews): void {
  const { before, after, seen, strays, roster } = news;
  const tell = (reason: string, note: string, node: NodeId | undefined) =>
    events.warning(reason, note, 'Check', node === undefined ? undefined : referenceTo(node, news));
  const found = news.isUnseen ? [] : news.toldFindings.news(seen.findings, before.conditions);
  for (const { reason, note, node } of found) tell(reason, note, node);
  for (const { message, nodes } of strays?.found.slice(0, MOST_NEWS) ?? []) tell(STRAY_KEYS, message, nodes[0]);
  if (roster) tellAgents(events, before.conditions as RedisClusterStatus['conditions'], roster);
  for (const { reason, note } of conditionNews(before, after)) events.warning(reason, note, 'Reconcile');
}

/** Of what is said of a node: its pod or member, by what it was before if it is silent now; where there is none, its id. */
function referenceTo(node: NodeId, { before, seen, homes: { kind, namespace } }: TurnNews): ObjectReference {
  const stored = before.members?.find(({ id }) => id === node)?.pod;
  const home = seen.members.find((one) => (one.node ? one.node.id === node : one.name === stored));
  return home ? { kind, namespace, name: home.name, uid: home.uid } : { namespace, name: node };
}
