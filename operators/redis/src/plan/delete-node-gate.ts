/** Whether a node may leave: what it has can go elsewhere, and nobody who is alive is taken for dead. */
import type { Refusal } from '@reeve/runtime';
import type { FindingCode } from '../api/findings.ts';
import { countSlots, formatSlots } from '../api/slots.ts';
import type { ClusterView, NodeView, NodeId } from '../api/view.ts';
import type { DeleteNodeRequest } from './delete-node.ts';
import { candidatesFor } from './failover.ts';
import { forgottenNodes } from './forgotten.ts';
import { checkGate, toleratedReasons } from './moves-gate.ts';
import { inDoubt, isFailed, isVanished, lineAbout } from './moves-view.ts';
import { movedNodes } from './readdress.ts';
import { LEAST_PRIMARIES } from './rebalance.ts';
import {
  flaggedBy,
  heardSlots,
  isReported,
  keyCount,
  nodeName,
  nodeNames,
  nodeOf,
  ownSlots,
  primaryIdOf,
  quorum,
  replicasOf,
  reported,
  reportedPrimaries,
  roleOf,
} from './topology.ts';

/** A cluster with a dead replica is one from which a node is deleted: the dead one first of all. */
const TOLERATED: readonly FindingCode[] = [
  'PLACEMENT',
  'REPLICA_MISSING',
  'REPLICA_LINK_DOWN',
  'NODE_FAILED',
  'NODE_UNREACHABLE',
];

/** What may be said of the node that is to go. */
const ABOUT_THE_NODE: readonly FindingCode[] = [
  'NODE_FAILED',
  'NODE_UNREACHABLE',
  'NODE_SUSPECTED',
  'MEMBERSHIP_DIFFERS',
  'REPLICA_LINK_DOWN',
];

export interface DeletionGate {
  readonly refused: readonly Refusal[];
  readonly reasons: readonly string[];
}

export function deletionProblems(request: DeleteNodeRequest, view: ClusterView): DeletionGate {
  const node = nodeOf(view, request.id);
  if (!node) {
    const message = `no node of this cluster has the id ${request.id}`;
    return { refused: [{ code: 'UNKNOWN_NODE', message, subjects: [request.id] }], reasons: [] };
  }
  const moved = movedNodes(view);
  if (moved.length > 0) {
    const message = `${nodeNames(view, moved)} are looked for at old addresses: run \`reeve redis fix\` first`;
    return { refused: [{ code: 'ADDRESSES_CHANGED', message, subjects: moved }], reasons: [] };
  }
  // Of several that all others forgot, none could leave before the others have.
  const forgotten = forgottenNodes(view).map(({ id }) => id);
  const ids = forgotten.includes(node.id) ? forgotten : [node.id];
  const gate = checkGate(view, TOLERATED, { codes: ABOUT_THE_NODE, ids });
  const refused = isReported(node) ? livingProblems(request, view, node) : deadProblems(view, node);
  const doubts = inDoubt(view).filter((doubt) => doubt.subjects.some((id) => id !== node.id));
  return {
    refused: [
      ...gate.refused,
      ...refused,
      ...(gate.refused.length + refused.length > 0 ? [] : doubts).map(({ message, subjects }) => ({
        code: 'FAILOVER_IN_PROGRESS',
        message,
        subjects,
      })),
    ],
    reasons: [...reasonsOf(view, node), ...toleratedReasons(gate)],
  };
}

function livingProblems(request: DeleteNodeRequest, view: ClusterView, node: NodeView): readonly Refusal[] {
  const slots = ownSlots(node);
  const name = nodeName(view, node.id);
  if (countSlots(slots) === 0) {
    const keys = roleOf(node) === 'primary' ? (keyCount(node) ?? 0) : 0;
    if (keys === 0) return [];
    const message = `${name} holds ${keys} keys, though it owns no slot: they would leave the cluster with it. Run \`reeve redis fix\` first`;
    return [{ code: 'NODE_NOT_EMPTY', message, subjects: [node.id] }];
  }
  if (!request.drain) {
    const message = `${name} owns ${countSlots(slots)} slots, and moving them away was not asked for`;
    return [{ code: 'NODE_HAS_SLOTS', message, subjects: [node.id] }];
  }
  const voters = reportedPrimaries(view).filter((each) => each.id !== node.id && countSlots(ownSlots(each)) > 0);
  if (voters.length < LEAST_PRIMARIES) {
    const message = `${voters.length} primaries would be left with slots: a cluster needs ${LEAST_PRIMARIES} to survive the loss of one`;
    return [{ code: 'TOO_FEW_PRIMARIES', message, subjects: [node.id] }];
  }
  return [];
}

/** A node that we cannot read is dead only when those who can judge it say so, and nothing of it is left to save. */
function deadProblems(view: ClusterView, node: NodeView): readonly Refusal[] {
  const name = nodeName(view, node.id);
  const refused: Refusal[] = [];
  const refuse = (code: string, message: string) => refused.push({ code, message, subjects: [node.id] });
  const knowing = reported(view).filter((each) => lineAbout(each, node.id) !== undefined);
  // Without an address it is nobody's to call failed.
  const sure = [...flaggedBy(node, 'fail'), ...(isVanished(node) ? flaggedBy(node, 'noaddr') : [])];
  const doubting = knowing.filter((each) => !sure.includes(each.id));
  if (sure.length === 0 || doubting.length > 0) {
    const who: readonly NodeId[] = doubting.map((each) => each.id);
    refuse('NODE_NOT_FAILED', `${name} cannot be read, but ${nodeNames(view, who)} do not call it failed`);
  }
  const slots = heardSlots(node);
  if (countSlots(slots) > 0) {
    const heirs = candidatesFor(view, node.id);
    if (heirs.length > 0) {
      const remedy = quorum(view).has ? 'wait for the failover, or force it' : 'a takeover is needed first';
      refuse(
        'FAILOVER_PENDING',
        `${nodeNames(
          view,
          heirs.map((heir) => heir.id),
        )} can take over the slots of ${name}: ${remedy}`,
      );
    } else {
      refuse('NODE_HAS_SLOTS', `${name} is dead and owns slots ${formatSlots(slots)}: run \`reeve redis fix\` first`);
    }
  }
  return refused;
}

function reasonsOf(view: ClusterView, node: NodeView): readonly string[] {
  const reasons: string[] = [];
  const name = nodeName(view, node.id);
  const primary = primaryIdOf(node);
  if (roleOf(node) === 'replica' && primary !== undefined) {
    const left = replicasOf(view, primary).filter((each) => each.id !== node.id && isReported(each));
    reasons.push(
      left.length === 0
        ? `${nodeName(view, primary)} is left without a replica: its death would then lose its data`
        : `${nodeName(view, primary)} keeps ${left.length} replicas`,
    );
  }
  if (!isReported(node)) {
    reasons.push(`${name} is dead by the word of all: should it come back, it is a stranger and stays out`);
  }
  const dead = view.nodes.filter((each) => each.id !== node.id && !isReported(each) && isFailed(each));
  if (dead.length > 0) {
    reasons.push(
      `${nodeNames(
        view,
        dead.map((each) => each.id),
      )} are failed and cannot forget it: if one comes back later, it may bring ${name} back; then delete again`,
    );
  }
  return reasons;
}
