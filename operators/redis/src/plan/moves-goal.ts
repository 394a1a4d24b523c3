import type { Engine, Pace } from '../api/commands.ts';
import type { NodeId } from '../api/view.ts';

export interface SlotMove {
  readonly source: NodeId;
  readonly target: NodeId;
  readonly slots: string;
}

export interface MoveGoal {
  /** Slots of different moves are disjoint. */
  readonly moves: readonly SlotMove[];
  readonly engine: Engine;
  readonly pace: Pace;
  /** The replicas that sources and targets had when the goal was set: they may stand in after a failover. */
  readonly standIns?: Readonly<Record<NodeId, readonly NodeId[]>>;
}
