/** Every operation by its kind, so that a journal can be resumed knowing nothing but its header. */
import type { Operation } from '../api/operation.ts';
import { addNodeOperation } from '../plan/add-node.ts';
import { createOperation } from '../plan/create.ts';
import { deleteNodeOperation } from '../plan/delete-node.ts';
import { failoverOperation } from '../plan/failover.ts';
import { fixOperation } from '../plan/fix.ts';
import { rebalanceOperation } from '../plan/rebalance.ts';
import { reshardOperation } from '../plan/reshard.ts';
import { spreadOperation } from '../plan/spread.ts';

const operations: readonly Operation<never, never>[] = [
  addNodeOperation,
  createOperation,
  deleteNodeOperation,
  failoverOperation,
  fixOperation,
  rebalanceOperation,
  reshardOperation,
  spreadOperation,
];

/** Goals come from our own journals, written by the same operation: the kind names their type. */
export function operationOfKind(kind: string): Operation<unknown, unknown> | undefined {
  return operations.find((operation) => operation.kind === kind) as Operation<unknown, unknown> | undefined;
}
