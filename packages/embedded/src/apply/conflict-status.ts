/** How a server tells of conflicts. */
import type { Status } from '@reeve/kube';
import { failure } from '../status/status.ts';
import { pathText } from './element.ts';
import { managerOf } from './managed.ts';
import type { Conflict } from './ownership.ts';
import { compareText } from './value.ts';

export function conflictStatus(conflicts: readonly Conflict[]): Status {
  const sorted = [...conflicts].sort((a, b) => compareText(a.id, b.id));
  return failure(409, 'Conflict', messageOf(sorted), {
    causes: sorted.map(({ id, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${managerText(id)}`,
      field: pathText(path),
    })),
  });
}

function messageOf(sorted: readonly Conflict[]): string {
  const [first] = sorted;
  if (first && sorted.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first.id)}: ${pathText(first.path)}`;
  }
  const lines: string[] = [];
  let group: string | undefined;
  for (const { id, path } of sorted) {
    if (id !== group) lines.push(`conflicts with ${managerText(id)}:`);
    group = id;
    lines.push(`- ${pathText(path)}`);
  }
  return `Apply failed with ${sorted.length} conflicts: ${lines.join('\n')}`;
}

function managerText(id: string): string {
  const { manager, operation, apiVersion, subresource } = managerOf(id);
  const name = JSON.stringify(manager);
  const through = subresource === undefined ? name : `${name} with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Update' ? `${through} using ${apiVersion ?? ''}` : through;
}
