/**
 * What the servers do and refuse, one case each. The same cases run against the model (operations.model.sim.test.ts) and
 * against real Valkey and Redis (operations.real.test.ts): where they differ, the real server is right.
 */
import assert from 'node:assert/strict';
import { atomicCases } from './operations/atomic.ts';
import { faultCases } from './operations/faults.ts';
import { freshCases } from './operations/fresh.ts';
import { keyCases } from './operations/keys.ts';
import { memberCases } from './operations/members.ts';
import { movementCases } from './operations/movement.ts';
import { slotCases } from './operations/slots.ts';
import type { OperationCase, Shape } from './operations/driver.ts';

export const operationCases: readonly OperationCase[] = [
  ...freshCases,
  ...keyCases,
  ...slotCases,
  ...memberCases,
  ...atomicCases,
  ...faultCases,
  ...movementCases,
];

export function casesOf(product: 'valkey' | 'redis', shape: Shape): readonly OperationCase[] {
  const names = new Set(operationCases.map((operation) => operation.name));
  assert.equal(names.size, operationCases.length, 'every case has a name of its own');
  return operationCases.filter((operation) => operation.shape === shape && (operation.only ?? product) === product);
}
