/**
 * What is kept of each node in the status, with the time at which it was collected. A node that does not answer keeps its last state and
 * the time of it, until nobody knows it any more. Pure.
 */
import { canonicalJson, timestamp } from '@reeve/runtime';
import { type MemberStatus, MOST_MEMBERS, type RedisClusterStatus } from '../api/cluster.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { formsOf } from './bounded-status.ts';
import { byOrdinal, type Topology } from './cluster-status.ts';
import { reported } from './topology.ts';

interface StoredTopology extends Topology {
  readonly observedAt: string;
}

/** While nothing changes, the time alone is worth a write so often. */
const REFRESH_MS = 60_000;

/** `told`: what agents say of nodes that could not be asked. */
export function storeStates(
  before: Pick<RedisClusterStatus, 'observedAt' | 'members'>,
  seen: Topology,
  { view, told = [] }: { readonly view: ClusterView; readonly told?: readonly MemberStatus[] },
): StoredTopology {
  const fresh = [...seen.members, ...told];
  const members = withNames([...fresh, ...kept(before, fresh, view)].slice(0, MOST_MEMBERS));
  const stored = canonicalJson(before.members ?? []);
  // That nobody is told says nothing of those who are there now.
  const forms = formsOf(members).filter((form) => form === members || form.length > 0);
  const isSame = forms.some((form) => canonicalJson(form) === stored);
  const age = view.observedAt - Date.parse(before.observedAt ?? '');
  const observedAt =
    isSame && before.observedAt !== undefined && age >= 0 && age < REFRESH_MS
      ? before.observedAt
      : timestamp(view.observedAt);
  return { ...seen, members, observedAt };
}

/** Who is not there now and was: as long as somebody has heard of it, or nobody at all could be asked. */
function kept(
  before: Pick<RedisClusterStatus, 'observedAt' | 'members'>,
  fresh: readonly MemberStatus[],
  view: ClusterView,
): readonly MemberStatus[] {
  const present = new Set<NodeId>(fresh.map(({ id }) => id));
  const answers = new Set<NodeId>(reported(view).map(({ id }) => id));
  const known = new Set<NodeId>(view.nodes.map(({ id }) => id));
  return (before.members ?? [])
    .filter(({ id }) => !present.has(id) && !answers.has(id) && (answers.size === 0 || known.has(id)))
    .map(({ by: _by, ...member }) => {
      const collectedAt = member.collectedAt ?? before.observedAt;
      return { ...member, silent: true, ...(collectedAt !== undefined && { collectedAt }) };
    });
}

/** A pod in which another node lives by now is not named twice: who lived there before goes by its id. */
function withNames(members: readonly MemberStatus[]): readonly MemberStatus[] {
  const taken = new Set<string>();
  return members
    .map((member) => {
      const pod = taken.has(member.pod) ? member.id : member.pod;
      taken.add(pod);
      return pod === member.pod ? member : { ...member, pod };
    })
    .sort((a, b) => byOrdinal(a.pod, b.pod));
}
