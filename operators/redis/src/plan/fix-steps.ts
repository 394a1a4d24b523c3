/** A command as a line of a plan. */
import type { RedisCommand } from '../api/commands.ts';
import { countSlots } from '../api/slots.ts';
import type { NodeRef } from '../api/view.ts';
import { slotsFromText } from './moves-view.ts';
import { refName } from './topology.ts';

export function stepOf(command: RedisCommand): string {
  switch (command.type) {
    case 'meet':
      return `introduce ${command.pairs.length} pairs of nodes to each other (MEET): ${names(command.pairs.map(({ to }) => to))}`;
    case 'failover':
      return `${refName(command.replica)} takes over from ${refName(command.primary)} (${command.mode})`;
    case 'claim-slots': {
      const from = command.releaseFrom.length > 0 ? `, given up by ${names(command.releaseFrom)}` : '';
      return `${refName(command.owner)} becomes the owner of ${slotsText(command.slots)}${from}`;
    }
    case 'migrate-slots':
      return `finish moving ${slotsText(command.slots)} from ${refName(command.source)} to ${refName(command.target)}`;
    case 'collect-keys':
      return `bring the keys of ${slotsText(command.slots)} from ${refName(command.from)} to ${refName(command.owner)}; values that differ stay on both`;
    case 'close-slots':
      return `close ${slotsText(command.slots)} on ${refName(command.node)}`;
    case 'bump-epoch':
      return `${refName(command.node)} takes a config epoch of its own`;
    case 'forget-node':
      return `${names(command.by)} forget ${refName(command.node)}`;
    case 'replicate':
      return `${refName(command.replica)} becomes a replica of ${refName(command.primary)}`;
    default:
      return command.why;
  }
}

function slotsText(slots: string): string {
  const count = countSlots(slotsFromText(slots));
  return count === 1 ? `slot ${slots}` : `${count} slots (${slots})`;
}

function names(refs: readonly NodeRef[]): string {
  const unique = [...new Map(refs.map((ref) => [ref.id, ref])).values()];
  const shown = unique.slice(0, 5).map(refName).join(', ');
  return unique.length > 5 ? `${shown} and ${unique.length - 5} more` : shown;
}
