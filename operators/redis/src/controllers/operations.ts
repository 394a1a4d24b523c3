/** Every operation by its kind, so that a journal can be resumed knowing nothing but its header. */
import type { Operation } from '../api/operation.ts';
import { backupProcedure } from './backup/backup.ts';
import { restoreProcedure } from './backup/restore.ts';
import { addNodeOperation } from '../plan/add-node.ts';
import { createOperation } from '../plan/create.ts';
import { deleteNodeOperation } from '../plan/delete-node.ts';
import { failoverOperation } from '../plan/failover.ts';
import { fixOperation } from '../plan/fix.ts';
import { rebalanceOperation } from '../plan/rebalance.ts';
import { reshardOperation } from '../plan/reshard.ts';
import { spreadOperation } from '../plan/spread.ts';
import type { Decidable, Procedure } from './procedure.ts';

/** Their types are forgotten here: goals come from our own journals, written by the same operation; the kind names them. */
const operations: readonly Operation<unknown, unknown>[] = [
  addNodeOperation,
  createOperation,
  deleteNodeOperation,
  failoverOperation,
  fixOperation,
  rebalanceOperation,
  reshardOperation,
  spreadOperation,
];

export function operationOfKind(kind: string): Operation<unknown, unknown> | undefined {
  return operations.find((operation) => operation.kind === kind);
}

const procedures: readonly Procedure<unknown, unknown>[] = [
  backupProcedure as Procedure<unknown, unknown>,
  restoreProcedure as Procedure<unknown, unknown>,
];

export function procedureOfKind(kind: string): Procedure<unknown, unknown> | undefined {
  return procedures.find((procedure) => procedure.kind === kind);
}

/** Whatever can be proposed. */
export function decidableOfKind(kind: string): Decidable<unknown, unknown> | undefined {
  return operationOfKind(kind) ?? procedureOfKind(kind);
}
