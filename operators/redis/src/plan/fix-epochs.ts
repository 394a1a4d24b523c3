/**
 * Primaries with the same config epoch: whoever's message comes last wins a dispute over slots. Linked servers settle
 * it by themselves, so it is waited for first: only a collision that was there at the approval already is acted on.
 * BUMPEPOCH does nothing on a node that has the highest epoch already; there the servers must do it.
 */
import type { Waiting } from '@reeve/runtime';
import type { BumpEpoch } from '../api/commands.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { nodeName, nodeNames, refOf, reported, reportedPrimaries } from './topology.ts';

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
  if (!node) return { commands: [], waiting };
  const why = `${nodeName(view, node.id)} shares config epoch ${old.epoch} with ${nodeNames(
    view,
    old.nodes.filter((id) => id !== node.id),
  )}`;
  return { commands: [{ type: 'bump-epoch', node: refOf(node), epoch: old.epoch, why }], waiting };
}

function isSame(a: Collision, b: Collision): boolean {
  // Of three, one may have moved on: two that are left are the same collision.
  return a.epoch === b.epoch && b.nodes.every((id) => a.nodes.includes(id));
}
