/** What a check finds. Each finding is a condition, a metric and an event later; here a line of `reeve redis check`. */
import type { SlotRanges } from './slots.ts';
import type { NodeId } from './view.ts';

export type FindingCode =
  | 'NODE_UNREACHABLE' // a member cannot be read: what it thinks is unknown
  | 'NODE_FAILED' // the others flag it fail
  | 'NODE_SUSPECTED' // fail?
  | 'VIEWS_DIFFER' // slot maps differ between nodes (redis-cli: signature)
  | 'ROLES_DIFFER' // who replicates whom differs between nodes
  | 'SHARDS_DIFFER' // CLUSTER SHARDS, which clients read, says otherwise than CLUSTER NODES
  | 'MEMBERSHIP_DIFFERS' // node tables differ, or handshakes are under way
  | 'SPLIT_CLUSTER' // the asked nodes belong to clusters that do not know each other
  | 'SLOT_OPEN' // migrating or importing
  | 'SLOT_UNCOVERED'
  | 'SLOT_MULTIPLE_OWNERS'
  | 'KEYS_OUTSIDE_SLOT'
  | 'EPOCH_COLLISION'
  | 'REPLICA_LINK_DOWN'
  | 'REPLICA_MISSING' // fewer replicas than asked for, or uneven
  | 'PLACEMENT' // a primary and its replica (or two replicas) share a host/zone; primaries bunched on one host
  | 'STATE_FAIL' // cluster_state:fail on a node
  | 'NO_QUORUM'
  | 'ADDRESS_CHANGED' // a node lives elsewhere than the others think
  | 'ATOMIC_JOB'; // an atomic slot migration is running

export interface Finding {
  readonly code: FindingCode;
  /** `broken`: data is not served or at risk; `degraded`: works, less safe; `info`. A clean check has no broken and no degraded finding. */
  readonly severity: 'broken' | 'degraded' | 'info';
  readonly message: string;
  readonly nodes: readonly NodeId[];
  readonly slots?: SlotRanges;
  /** What to do: usually a `reeve redis …` command line. */
  readonly remedy: string;
}
