/** Which node's agent carries a command out. Pure. Handlers reach every node that a command names; one of them is the closest. */
import type { RedisCommand } from '../api/commands.ts';
import type { NodeId, NodeRef } from '../api/view.ts';

/** The nodes whose agents may carry it out, the best one first. */
export function carriersOf(command: RedisCommand): readonly NodeId[] {
  switch (command.type) {
    case 'assign-slots':
    case 'bump-epoch':
    case 'close-slots':
      return [command.node.id];
    case 'replicate':
    case 'failover':
      return [command.replica.id];
    case 'migrate-slots':
      return [command.source.id];
    case 'claim-slots':
      return [command.owner.id];
    case 'collect-keys':
      return [command.from.id];
    case 'copy-functions':
      return [command.to.id];
    // One agent for all of them: what belongs together is judged and done in one place.
    case 'set-epochs':
      return idsOf(command.epochs.map(({ node }) => node));
    case 'meet':
      return idsOf(command.pairs.map(({ from }) => from));
    case 'forget-node':
      return idsOf(command.by);
  }
}

/** The node whose agent is given the command; `can` says which nodes have one. Undefined: nobody can carry it out. */
export function memberOfCommand(
  command: RedisCommand,
  can: (node: NodeId) => boolean = () => true,
): NodeId | undefined {
  return carriersOf(command).find(can);
}

function idsOf(nodes: readonly NodeRef[]): readonly NodeId[] {
  return [...new Set(nodes.map(({ id }) => id))];
}
