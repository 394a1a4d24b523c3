/**
 * Replicas that are being filled. How long that takes depends on how much there is, so that no limit is right for it: waiting for one is
 * not counted for as long as its server says that it goes on, and it did not break off again and again.
 */
import type { Waiting } from '@reeve/runtime';
import type { ClusterView, NodeId, NodeView } from '../api/view.ts';
import { isInSync } from '../plan/failover.ts';
import { isReported } from '../plan/topology.ts';

/** What breaks off so often, with nothing but the same before it, will do so again. */
const MOST_BREAKS = 3;

export class Fillings {
  #underWay: ReadonlySet<NodeId> = new Set();
  /** Begun, and neither seen complete nor broken off. */
  readonly #begun = new Set<NodeId>();
  readonly #breaks = new Map<NodeId, number>();

  /** Takes in what a look says of them. Who does not answer at all has broken off, too: it may die each time that it reads what it got. */
  saw(view: ClusterView): void {
    this.#underWay = new Set(view.nodes.filter(isFilling).map(({ id }) => id));
    for (const id of this.#underWay) this.#begun.add(id);
    for (const node of view.nodes) {
      if (this.#underWay.has(node.id) || !this.#begun.delete(node.id)) continue;
      const isComplete = isReported(node) && (node.report.value.self.role === 'primary' || isInSync(node));
      this.#breaks.set(node.id, isComplete ? 0 : (this.#breaks.get(node.id) ?? 0) + 1);
    }
  }

  /** Whether each of these waits is for somebody who is being filled. */
  isAllThatIsWaitedFor(waiting: readonly Waiting[]): boolean {
    const goesOn = (id: string) => this.#underWay.has(id) && (this.#breaks.get(id) ?? 0) < MOST_BREAKS;
    return waiting.length > 0 && waiting.every(({ subjects }) => subjects.some(goesOn));
  }
}

/** It takes its primary's data, or reads what it has got: until then a server answers nothing else. */
function isFilling(node: NodeView): boolean {
  if (!node.report.known) return /\bLOADING\b/.test(node.report.why);
  return node.report.value.replication.syncInProgress === true;
}
