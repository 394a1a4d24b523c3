/**
 * What follows once a declaration is applied and its pods have come or gone, as far as it can be known before: which pods those will be,
 * and what their servers become. What is done next and now is planned in full, and not told here. Pure.
 */
import type { Desired } from '../../plan/desired.ts';
import { mainCluster } from '../../plan/moves-view.ts';
import { reportedPrimaries } from '../../plan/topology.ts';
import type { Seen } from '../look.ts';
import type { ObjectPlan } from './objects.ts';

export interface FollowingFacts {
  readonly name: string;
  readonly desired: Desired;
  readonly seen: Seen;
  readonly configured: boolean;
  readonly objects: readonly ObjectPlan[];
}

const SLOTS = 16_384;
const MOST_NAMES = 5;

export function following(facts: FollowingFacts): readonly string[] {
  const { desired, seen, configured, objects } = facts;
  const { members: pods, view } = seen;
  const lacking = desired.size - pods.length;
  if (!configured) return lacking > 0 ? [creationLine(desired)] : [];
  const lackingPrimaries = desired.primaries - reportedPrimaries(mainCluster(view).cluster).length;
  return [
    ...(lacking > 0 ? [growthLine(facts, lacking, Math.max(0, lackingPrimaries))] : []),
    ...(lacking <= 0 && lackingPrimaries > 0
      ? [`delete-node, add-node: ${count(lackingPrimaries, 'replica becomes a primary', 'replicas become primaries')}`]
      : []),
    ...(lackingPrimaries > 0 ? [rebalanceLine(desired)] : []),
    ...(lacking < 0 ? [shrinkLine(-lacking)] : []),
    ...(isRolled(objects) && pods.length > 0 ? [rollLine(Math.min(pods.length, desired.size), desired)] : []),
  ];
}

function creationLine({ size, primaries, replicasPerPrimary, creation }: Desired): string {
  const shape = `${primaries} primaries with ${count(replicasPerPrimary, 'replica', 'replicas')} each`;
  const approval = creation === 'manual' ? ', when a person has approved its plan' : '';
  return `create: as soon as ${size} empty servers answer they become one cluster of ${shape}${approval}`;
}

function growthLine({ name, seen }: FollowingFacts, lacking: number, primaries: number): string {
  const taken = new Set(seen.members.map(({ ordinal }) => ordinal));
  const names: string[] = [];
  for (let ordinal = 0; names.length < lacking; ordinal++) if (!taken.has(ordinal)) names.push(`${name}-${ordinal}`);
  const shown = names.slice(0, MOST_NAMES).join(', ');
  const rest = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  const becoming = [
    ...(primaries > 0 ? [count(Math.min(primaries, lacking), 'a primary', 'primaries')] : []),
    ...(lacking > primaries ? [count(lacking - primaries, 'a replica', 'replicas')] : []),
  ];
  return `add-node: the servers of ${shown}${rest} join as soon as they answer, and become ${becoming.join(' and ')}`;
}

function rebalanceLine({ primaries, rebalance }: Desired): string {
  if (rebalance.mode === 'off') return 'no rebalance: it is off, and new primaries stay without slots';
  return `rebalance: slots move to the new primaries, until each of ${primaries} has about ${Math.round(SLOTS / primaries)}`;
}

function shrinkLine(leaving: number): string {
  return `delete-node: ${count(leaving, 'node leaves', 'nodes leave')}, replicas first, and slots of primaries move to those who stay; then the pods go`;
}

function rollLine(pods: number, { replicasPerPrimary }: Desired): string {
  const first = replicasPerPrimary > 0 ? '; a primary hands over to a replica first' : '';
  return `restart: ${count(pods, 'pod is', 'pods are')} made anew, one after another${first}`;
}

/** Pods that are there were made of another template. */
function isRolled(objects: readonly ObjectPlan[]): boolean {
  return objects.some(
    ({ kind, fields = [] }) => kind === 'StatefulSet' && fields.some(({ path }) => path.startsWith('spec.template')),
  );
}

function count(number: number, one: string, many: string): string {
  if (number !== 1) return `${number} ${many}`;
  return one.startsWith('a ') ? one : `1 ${one}`;
}
