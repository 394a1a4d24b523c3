/**
 * A slot with one owner that is open somewhere, or has keys elsewhere. In this order:
 *
 * | what is found | what is done |
 * |---|---|
 * | the owner is marked importing | the owner settles it (claim): it has the slot |
 * | owner migrating to T; T importing from it, or T without mark but with keys | finished: moved to T |
 * | owner migrating to T; T was failed over (follows H, or is gone and only H has keys) | finished: moved to H |
 * | … but a dead primary that was failed over may come back | the owner settles it, then the keys are collected |
 * | owner migrating to T; T has no keys of it, or T is gone for good | closed on the owner |
 * | owner migrating to T; T has keys but cannot take it (follows somebody, imports from elsewhere) | the owner settles it, then T's keys are collected |
 * | owner migrating to T; T cannot be read and may be alive | waited for |
 * | another node marked migrating to the owner, no keys left | the last step of the move is made up for |
 * | another node with keys, marked or not | its keys are collected to the owner, once that is not migrating |
 * | another node marked, without keys | closed there |
 * | a replica carries a mark that its primary has not | its primary is told again to close, and passes it on |
 */
import type { Waiting } from '@reeve/runtime';
import type { ClusterView, NodeId } from '../api/view.ts';
import type { SlotAction } from './fix-actions.ts';
import type { Mark, SlotFacts } from './fix-facts.ts';
import { isFailed, lineAbout } from './moves-view.ts';
import { isReported, members, nodeName, nodeNames, nodeOf, reportedPrimaries, roleOf } from './topology.ts';

export interface OpenVerdict {
  readonly actions: readonly SlotAction[];
  readonly waiting?: Waiting;
}

export function settleOpen(
  view: ClusterView,
  facts: SlotFacts,
  owner: NodeId,
  givenUp: readonly NodeId[],
): OpenVerdict {
  const name = nodeName(view, owner);
  if (facts.importing.some((mark) => mark.node === owner)) {
    return { actions: [claim(owner, `${name} owns it and is still marked as importing it`)] };
  }
  const leaving = facts.migrating.find((mark) => mark.node === owner);
  const first = leaving ? settleLeaving(view, facts, leaving, givenUp) : { actions: [] };
  if (first.waiting) return first;
  const target = first.actions.find((action) => action.kind === 'migrate')?.target;
  const rest = others(facts, owner)
    .filter((id) => id !== target)
    .flatMap((id) => settleOther(view, facts, owner, id, leaving !== undefined, target));
  return { actions: [...first.actions, ...rest] };
}

/** A claim by the owner itself: clears its marks, tells the others, takes a new epoch. */
function claim(owner: NodeId, why: string): SlotAction {
  return { kind: 'claim', owner, releaseFrom: [], why };
}

function keysOn(facts: SlotFacts, id: NodeId): number {
  return facts.holders.find(({ node }) => node === id)?.keys ?? 0;
}

function others(facts: SlotFacts, owner: NodeId): readonly NodeId[] {
  const ids = [...facts.migrating, ...facts.importing, ...facts.holders].map(({ node }) => node);
  return [...new Set(ids)].filter((id) => id !== owner).sort();
}

function settleLeaving(view: ClusterView, facts: SlotFacts, mark: Mark, givenUp: readonly NodeId[]): OpenVerdict {
  const { node: owner, peer } = mark;
  const name = nodeName(view, owner);
  const peerName = nodeName(view, peer);
  const target = [peer, ...heirsOf(view, facts, owner, peer)].find((id) => canTake(view, facts, owner, peer, id));
  const revenants = mayReturn(view);
  if (target !== undefined && revenants.length > 0) {
    const why = `the move from ${name} to ${peerName} was broken off halfway; ${nodeNames(view, revenants)} may come back with a part in it, so it is taken back`;
    return { actions: [claim(owner, why)] };
  }
  if (target !== undefined) {
    const leaveOut = others(facts, owner).filter((id) => id !== target);
    const standsIn = target === peer ? '' : ` (now ${nodeName(view, target)})`;
    const why = `the move from ${name} to ${peerName}${standsIn} was broken off halfway: it is finished`;
    const formerly = target === peer ? [] : [peer];
    return { actions: [{ kind: 'migrate', source: owner, target, leaveOut, formerly, why }] };
  }
  const isPrimary = reportedPrimaries(view).some((node) => node.id === peer);
  if (isPrimary && keysOn(facts, peer) === 0) {
    return { actions: [close(owner, `marked as migrating to ${peerName}, which has taken nothing`)] };
  }
  const member = members(view).find((node) => node.id === peer);
  if (peer === owner || isGoneFor(view, owner, peer)) {
    return { actions: [close(owner, `marked as migrating to ${peerName}, which is gone`)] };
  }
  if (member && !member.report.known && !isFailed(member) && !givenUp.includes(peer)) {
    return {
      actions: [],
      waiting: {
        reason: 'PeerUnavailable',
        message: `${name} is moving slots to ${peerName}, which cannot be read but is not called failed`,
        subjects: [peer],
      },
    };
  }
  return { actions: [claim(owner, `marked as migrating to ${peerName}, which cannot take it over`)] };
}

/**
 * Primaries that cannot be read: dead, failed over, or just coming back. One of them may have been the target of the move
 * and hold a mark that nobody can read. If it comes back and hears that the source has given the slot up, Valkey makes it the owner with a new epoch: with
 * that it beats its own heir and takes back all of its slots, with old data or none. While the source keeps the slot, it
 * comes back as a replica.
 */
function mayReturn(view: ClusterView): readonly NodeId[] {
  return members(view)
    .filter((node) => !node.report.known && roleOf(node) === 'primary')
    .map((node) => node.id);
}

/** Can the slot be moved on to this node: a primary that took part in the move, with no other mark on it? */
function canTake(view: ClusterView, facts: SlotFacts, owner: NodeId, peer: NodeId, id: NodeId): boolean {
  if (id === owner || !reportedPrimaries(view).some((node) => node.id === id)) return false;
  if (facts.migrating.some(({ node }) => node === id)) return false;
  const mark = facts.importing.find(({ node }) => node === id);
  return mark ? mark.peer === owner || (id !== peer && mark.peer === peer) : keysOn(facts, id) > 0;
}

/**
 * Who may stand for the target of a move after a failover: the primary that it follows now; or, when it is gone, the
 * only other node with keys of the slot, which can have got them only as its replica.
 */
function heirsOf(view: ClusterView, facts: SlotFacts, owner: NodeId, peer: NodeId): readonly NodeId[] {
  const node = nodeOf(view, peer);
  if (node && isReported(node)) return [node.report.value.self.primaryId ?? peer];
  const holders = facts.holders.filter((holder) => holder.node !== owner);
  return isGoneFor(view, owner, peer) && holders.length === 1 ? holders.map((holder) => holder.node) : [];
}

function isGoneFor(view: ClusterView, owner: NodeId, peer: NodeId): boolean {
  const self = reportedPrimaries(view).find((node) => node.id === owner);
  const line = self ? lineAbout(self, peer) : undefined;
  return !line || line.flags.includes('fail') || line.flags.includes('noaddr');
}

function close(node: NodeId, why: string): SlotAction {
  return { kind: 'close', node, carriedBy: [], why };
}

function settleOther(
  view: ClusterView,
  facts: SlotFacts,
  owner: NodeId,
  id: NodeId,
  ownerIsMigrating: boolean,
  target: NodeId | undefined,
): readonly SlotAction[] {
  const name = nodeName(view, owner);
  const migrating = facts.migrating.find(({ node }) => node === id);
  const importing = facts.importing.find(({ node }) => node === id);
  if (keysOn(facts, id) > 0) {
    // A migrating owner sends newcomers on to its target: its own move is settled first.
    if (ownerIsMigrating) return [];
    const state = importing ? 'was importing it' : migrating ? 'was migrating it' : 'does not own it';
    return [{ kind: 'collect', from: id, owner, why: `holds keys of it and ${state}; ${name} owns it` }];
  }
  if (migrating && !importing && migrating.peer === owner) {
    if (ownerIsMigrating) return [];
    const leaveOut = others(facts, owner).filter((other) => other !== id);
    const why = `${name} has it already; the last step of the move is missing`;
    return [{ kind: 'migrate', source: id, target: owner, leaveOut, formerly: [], why }];
  }
  if (migrating && !leadsNowhere(view, facts, [owner, target], migrating)) {
    // To close it would look like cutting off the keys at its peer; collecting nothing closes it all the same.
    if (ownerIsMigrating) return [];
    return [{ kind: 'collect', from: id, owner, why: `marked as migrating without need: ${name} owns it` }];
  }
  return [close(id, `marked as open without need: ${name} owns it and no key of it is here`)];
}

/** No key is at the other end of the mark: it is gone, or a primary without keys that gets none in this turn either. */
function leadsNowhere(
  view: ClusterView,
  facts: SlotFacts,
  getting: readonly (NodeId | undefined)[],
  { node, peer }: Mark,
): boolean {
  if (isGoneFor(view, node, peer)) return true;
  const isPrimary = reportedPrimaries(view).some(({ id }) => id === peer);
  return isPrimary && !getting.includes(peer) && keysOn(facts, peer) === 0;
}

/** Marks that only replicas still carry: they take no orders, but follow what their primary is told. */
export function closeCarried(view: ClusterView, facts: SlotFacts): readonly SlotAction[] {
  const byPrimary = Map.groupBy(facts.carriedBy, ({ primary }) => primary);
  return [...byPrimary].map(([primary, carriers]) => ({
    kind: 'close',
    node: primary,
    carriedBy: [...new Set(carriers.map(({ replica }) => replica))].sort(),
    why: `replicas of ${nodeName(view, primary)} carry it as open, though it is not`,
  }));
}
