/**
 * Valkey 9 may have several databases in a cluster; MIGRATE moves keys of database 0 only. A command that could never
 * succeed for that reason is refused rather than begun. What else there is to mend is mended first.
 */
import type { Refusal } from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import { countSlots, intersectSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { stepOf } from './fix-steps.ts';
import { slotsFromText } from './moves-view.ts';
import { nodeName, nodeOf, ownSlots } from './topology.ts';

export interface Movable {
  readonly commands: readonly RedisCommand[];
  readonly refused: readonly Refusal[];
}

export function refuseOtherDatabases(view: ClusterView, commands: readonly RedisCommand[]): Movable {
  const possible: RedisCommand[] = [];
  const refused: Refusal[] = [];
  for (const command of commands) {
    const id = stuckOn(view, command);
    if (id === undefined) possible.push(command);
    else {
      refused.push({
        code: 'MIGRATE_DATABASES',
        message: `${nodeName(view, id)} has keys in databases ${otherDatabases(view, id).join(', ')}, which MIGRATE does not move; a person must do it: ${stepOf(command)}`,
        subjects: [id],
      });
    }
  }
  return { commands: possible, refused };
}

/** The node whose keys the command cannot move. */
function stuckOn(view: ClusterView, command: RedisCommand): NodeId | undefined {
  if (command.type === 'migrate-slots') {
    // Only the last step is missing where the source does not own the slots any more: no key moves.
    const source = nodeOf(view, command.source.id);
    const owned = source ? intersectSlots(ownSlots(source), slotsFromText(command.slots)) : [];
    return countSlots(owned) > 0 && otherDatabases(view, command.source.id).length > 0 ? command.source.id : undefined;
  }
  if (command.type !== 'collect-keys') return undefined;
  // Keys of a slot are counted in all databases together. Where database 0 has some, the handler looks at each.
  const { id } = command.from;
  return otherDatabases(view, id).length > 0 && !hasFirst(view, id) ? id : undefined;
}

function keyspaceOf(view: ClusterView, id: NodeId): Readonly<Record<number, number>> {
  const node = nodeOf(view, id);
  return node?.report.known ? node.report.value.keyspace : {};
}

function otherDatabases(view: ClusterView, id: NodeId): readonly string[] {
  return Object.keys(keyspaceOf(view, id)).filter((database) => database !== '0');
}

function hasFirst(view: ClusterView, id: NodeId): boolean {
  return (keyspaceOf(view, id)[0] ?? 0) > 0;
}
