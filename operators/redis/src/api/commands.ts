/**
 * Every command of the Redis operator, as data. Coarse: a migration of ranges, not one per slot.
 * Each names the nodes it touches by id *and* address; its handler asks the server at that address for its id first
 * and answers `stale` if another node answers.
 */
import type { Command } from '@reeve/runtime';
import type { NodeId, NodeRef } from './view.ts';

interface RedisCommandBase extends Command {
  /** Slots as text `0-5460,5462` wherever slots occur, so that a command prints as it is. */
}

/** ADDSLOTSRANGE on a node that is new: refuses unless it is empty in all databases and knows nobody else. */
export interface AssignSlots extends RedisCommandBase {
  readonly type: 'assign-slots';
  readonly node: NodeRef;
  readonly slots: string;
}

/** SET-CONFIG-EPOCH on new nodes, each its own, read back. */
export interface SetEpochs extends RedisCommandBase {
  readonly type: 'set-epochs';
  readonly epochs: readonly { readonly node: NodeRef; readonly epoch: number }[];
}

/** MEET between the given pairs, all at once. Done when each `from` knows the id of `to` out of handshake. */
export interface Meet extends RedisCommandBase {
  readonly type: 'meet';
  readonly pairs: readonly { readonly from: NodeRef; readonly to: NodeRef; readonly toBusPort: number }[];
  /** Also where they know each other: `to` learns the slots and role of `from` at once. */
  readonly evenIfKnown?: true;
  /** Evidence of a node that joins, live: it knows nobody but these. Whoever knows others would bring their cluster along. */
  readonly within?: readonly NodeId[];
}

/**
 * CLUSTER REPLICATE. Evidence, live: the node owns no slot (and, when `mustBeEmpty`, holds no key); whom it follows until then owns none
 * either, or is `leaves`, leads, answers, and the node is in sync with it. What it holds is replaced.
 */
export interface Replicate extends RedisCommandBase {
  readonly type: 'replicate';
  readonly replica: NodeRef;
  readonly primary: NodeRef;
  readonly mustBeEmpty: boolean;
  /** The primary of which it is a copy until then, and which keeps the other. */
  readonly leaves?: NodeRef;
}

export type Engine = 'auto' | 'atomic' | 'windowed' | 'redis-atomic';
export type Pace = 'gentle' | 'fast';

/** Moves slots with their keys from one primary to another. Long: returns a handle. Resumable: it looks at each slot first. */
export interface MigrateSlots extends RedisCommandBase {
  readonly type: 'migrate-slots';
  readonly source: NodeRef;
  readonly target: NodeRef;
  readonly slots: string;
  /** Every other primary: told the new owner (SETSLOT NODE) by the windowed engine. */
  readonly others: readonly NodeRef[];
  /** Ids that stood for source or target before a failover: open marks that name them are of this move, and set anew. */
  readonly formerly?: readonly NodeId[];
  readonly engine: Engine;
  readonly pace: Pace;
}

/**
 * Makes a node the owner of slots that nobody reachable owns, or settles who owns them: on the owner
 * MULTI; DELSLOTS; ADDSLOTS; BUMPEPOCH; EXEC; then SETSLOT STABLE where they are open.
 * Evidence: re-reads that no node outside `releaseFrom` claims them. Nodes in `releaseFrom` give them up
 * (DELSLOTS, then SETSLOT NODE owner).
 */
export interface ClaimSlots extends RedisCommandBase {
  readonly type: 'claim-slots';
  readonly owner: NodeRef;
  readonly slots: string;
  readonly releaseFrom: readonly NodeRef[];
  /** All other primaries: told the owner afterwards where they disagree. */
  readonly others: readonly NodeRef[];
}

/**
 * Moves the keys of slots from a node that does not own them to the owner, without changing ownership
 * (SETSLOT IMPORTING so that MIGRATE is not redirected, move, STABLE). Keys on both sides are compared
 * (DUMP payload, TTL): equal → the copy is removed; different → kept on both sides and reported, code KEY_CONFLICT.
 */
export interface CollectKeys extends RedisCommandBase {
  readonly type: 'collect-keys';
  readonly from: NodeRef;
  readonly owner: NodeRef;
  readonly slots: string;
}

/** SETSLOT STABLE for slots that are open without need. Evidence: the handler checks that no key would be cut off. */
export interface CloseSlots extends RedisCommandBase {
  readonly type: 'close-slots';
  readonly node: NodeRef;
  readonly slots: string;
  /** Replicas that still carry the marks although the node has none: told again, it passes STABLE on to them. */
  readonly carriedBy?: readonly NodeRef[];
}

/** CLUSTER BUMPEPOCH on a node whose config epoch is another’s as well, or too early for the slots that it took. Evidence: it has that epoch still. */
export interface BumpEpoch extends RedisCommandBase {
  readonly type: 'bump-epoch';
  readonly node: NodeRef;
  /** The epoch that it is to give up. */
  readonly epoch: number;
}

/**
 * FORGET a node on all the others, within the 60 s ban, then RESET HARD on it if it is alive and `reset`.
 * Evidence, live: it owns no slot in any view, nobody replicates it; if it is a copy of slots, their owner is among `by` and has them.
 */
export interface ForgetNode extends RedisCommandBase {
  readonly type: 'forget-node';
  readonly node: NodeRef;
  readonly by: readonly NodeRef[];
  readonly reset: boolean;
}

/** CLUSTER FAILOVER on a replica. `force`: primary dead, majority there. `takeover`: majority lost; only when a person said so. */
export interface Failover extends RedisCommandBase {
  readonly type: 'failover';
  readonly replica: NodeRef;
  readonly primary: NodeRef;
  readonly mode: 'graceful' | 'force' | 'takeover';
}

/** FUNCTION DUMP from a member, FUNCTION RESTORE on a new primary that has none. */
export interface CopyFunctions extends RedisCommandBase {
  readonly type: 'copy-functions';
  readonly from: NodeRef;
  readonly to: NodeRef;
}

export type RedisCommand =
  | AssignSlots
  | SetEpochs
  | Meet
  | Replicate
  | MigrateSlots
  | ClaimSlots
  | CollectKeys
  | CloseSlots
  | BumpEpoch
  | ForgetNode
  | Failover
  | CopyFunctions;

/** The nodes a command touches, for exclusion and for pictures. */
export type CommandNodes = readonly NodeId[];
