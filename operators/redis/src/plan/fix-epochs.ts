/**
 * Epochs that servers do not settle, or not soon enough.
 *
 * Primaries with the same config epoch: whoever's message comes last wins a dispute over slots. Linked servers settle
 * it by themselves, so it is waited for first: only a collision that was there at the approval already is acted on.
 *
 * An owner that somebody does not believe: it took slots from a node with a later epoch than its own, of which it had
 * not heard. A replica of that node would claim them again when it is elected, and the owner would drop their keys.
 *
 * BUMPEPOCH does nothing on a node that has the highest epoch already; there the servers must do it.
 */
import type { Waiting } from '@reeve/runtime';
import type { BumpEpoch } from '../api/commands.ts';
import { countSlots, intersectSlots, minusSlots, type SlotRanges } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { describeSlots } from './check-slots.ts';
import { nodeName, nodeNames, refOf, reported, reportedPrimaries, type ReportedNode } from './topology.ts';

export interface Collision {
  readonly epoch: number;
  readonly nodes: readonly NodeId[];
}

export function collisions(view: ClusterView): readonly Collision[] {
  const byEpoch = Map.groupBy(reportedPrimaries(view), (node) => node.report.value.self.configEpoch);
  return [...byEpoch]
    .filter(([, nodes]) => nodes.length > 1)
    .map(([epoch, nodes]) => ({ epoch, nodes: nodes.map((node) => node.id) }))
    .sort((a, b) => a.epoch - b.epoch);
}

export interface EpochRepair {
  readonly commands: readonly BumpEpoch[];
  readonly waiting: readonly Waiting[];
}

/** One node at a time: two that take the next epoch without having heard of each other collide again. */
export function repairEpochs(view: ClusterView, since: readonly Collision[]): EpochRepair {
  const now = collisions(view);
  const highest = Math.max(0, ...reported(view).map((node) => node.report.value.info.currentEpoch));
  const old = now.find(({ epoch, nodes }) => epoch < highest && since.some((was) => isSame(was, { epoch, nodes })));
  // The servers themselves give way in the order of ids, lowest first.
  const node = old && reportedPrimaries(view).find(({ id }) => id === [...old.nodes].sort()[0]);
  const waiting = now.map(({ epoch, nodes }) => ({
    reason: 'EpochSettling',
    message: `${nodeNames(view, nodes)} settle which of them gives up config epoch ${epoch}`,
    subjects: nodes,
  }));
  if (!node) {
    const unbelieved = repairUnbelieved(view);
    return { commands: unbelieved.commands, waiting: [...waiting, ...unbelieved.waiting] };
  }
  const why = `${nodeName(view, node.id)} shares config epoch ${old.epoch} with ${nodeNames(
    view,
    old.nodes.filter((id) => id !== node.id),
  )}`;
  return { commands: [{ type: 'bump-epoch', node: refOf(node), epoch: old.epoch, why }], waiting };
}

interface Unbelieved {
  readonly owner: ReportedNode;
  readonly doubter: NodeId;
  readonly former: NodeId;
  readonly slots: SlotRanges;
}

/** Owners whose slots another node gives to somebody who has given them up, by an epoch that is not earlier. */
function unbelieved(view: ClusterView): readonly Unbelieved[] {
  const primaries = reportedPrimaries(view);
  const found: Unbelieved[] = [];
  for (const { id: doubter, report } of reported(view)) {
    for (const line of report.value.others) {
      const former = primaries.find(({ id }) => id === line.id);
      if (!former || line.slots.length === 0) continue;
      for (const owner of primaries) {
        const { self } = owner.report.value;
        if (owner === former || self.configEpoch > line.configEpoch) continue;
        const slots = minusSlots(intersectSlots(self.slots, line.slots), former.report.value.self.slots);
        if (countSlots(slots) > 0) found.push({ owner, doubter, former: former.id, slots });
      }
    }
  }
  return found;
}

function repairUnbelieved(view: ClusterView): EpochRepair {
  const [first] = unbelieved(view);
  if (!first) return { commands: [], waiting: [] };
  const { owner, doubter, former, slots } = first;
  const { self, info } = owner.report.value;
  const why = `${nodeName(view, doubter)} takes ${nodeName(view, former)} for the owner of ${describeSlots(slots)}, by a config epoch that is not earlier than ${self.configEpoch} of ${nodeName(view, owner.id)}`;
  const waiting = [{ reason: 'EpochSettling', message: why, subjects: [owner.id, doubter] }];
  // It takes a later one only when it has heard of one.
  if (info.currentEpoch <= self.configEpoch) return { commands: [], waiting };
  return { commands: [{ type: 'bump-epoch', node: refOf(owner), epoch: self.configEpoch, why }], waiting };
}

function isSame(a: Collision, b: Collision): boolean {
  // Of three, one may have moved on: two that are left are the same collision.
  return a.epoch === b.epoch && b.nodes.every((id) => a.nodes.includes(id));
}
