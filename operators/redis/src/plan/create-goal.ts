import type { Endpoint, NodeId, Role } from '../api/view.ts';

export interface CreateMember {
  readonly id: NodeId;
  /** Where it was when the goal was set; later observations may find it elsewhere. */
  readonly endpoint: Endpoint;
  readonly busPort: number;
  readonly role: Role;
  /** Of a primary, as text. */
  readonly slots?: string;
  /** Of a replica. */
  readonly primaryId?: NodeId;
  /** 1…n, each another. */
  readonly epoch: number;
}

export interface CreateGoal {
  /** Primaries in the order of their slots, then the replicas. */
  readonly members: readonly CreateMember[];
  readonly replicasPerPrimary: number;
  readonly spreadBy: readonly string[];
  /** When the limit begins to run: at the decision, and anew at each resume. */
  readonly startedAt: number;
  readonly limitMs: number;
}
