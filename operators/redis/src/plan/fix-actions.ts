/** What can be done about one slot, and many such decisions merged into few commands. */
import type { ClaimSlots, CloseSlots, CollectKeys, MigrateSlots, Pace, RedisCommand } from '../api/commands.ts';
import { formatSlots, rangesOf } from '../api/slots.ts';
import type { ClusterView, NodeId, NodeRef } from '../api/view.ts';
import { otherPrimaries } from './moves.ts';
import { nodeOf, refOf } from './topology.ts';

export type SlotAction =
  | { readonly kind: 'claim'; readonly owner: NodeId; readonly releaseFrom: readonly NodeId[]; readonly why: string }
  | {
      readonly kind: 'migrate';
      readonly source: NodeId;
      readonly target: NodeId;
      /** Others that have the slot open for themselves: they are not told, and are seen to afterwards. */
      readonly leaveOut: readonly NodeId[];
      /** Whom the marks still name instead of the target. */
      readonly formerly: readonly NodeId[];
      readonly why: string;
    }
  | { readonly kind: 'collect'; readonly from: NodeId; readonly owner: NodeId; readonly why: string }
  | { readonly kind: 'close'; readonly node: NodeId; readonly carriedBy: readonly NodeId[]; readonly why: string };

export interface SlotDecision {
  readonly slot: number;
  readonly action: SlotAction;
}

function changedBy(action: SlotAction): readonly NodeId[] {
  switch (action.kind) {
    case 'claim':
      return [action.owner, ...action.releaseFrom];
    case 'migrate':
      return [action.source, action.target];
    case 'collect':
      return [action.from];
    case 'close':
      return [action.node];
  }
}

/** Commands of one turn go out together: of two actions for one slot that change the same node, the second waits a turn. */
export function withoutClashes(actions: readonly SlotAction[]): readonly SlotAction[] {
  const changed = new Set<NodeId>();
  return actions.filter((action) => {
    const nodes = changedBy(action);
    if (nodes.some((id) => changed.has(id))) return false;
    for (const id of nodes) changed.add(id);
    return true;
  });
}

const ORDER: readonly SlotAction['kind'][] = ['claim', 'migrate', 'collect', 'close'];

/** Equal actions for different slots are one command. In a fixed order. */
export function commandsOf(view: ClusterView, decisions: readonly SlotDecision[], pace: Pace): readonly RedisCommand[] {
  const groups = new Map<string, { action: SlotAction; slots: number[] }>();
  for (const { slot, action } of decisions) {
    const name = nameOf(action);
    const group = groups.get(name);
    if (group) group.slots.push(slot);
    else groups.set(name, { action, slots: [slot] });
  }
  return [...groups]
    .sort(([a, { action: x }], [b, { action: y }]) => ORDER.indexOf(x.kind) - ORDER.indexOf(y.kind) || (a < b ? -1 : 1))
    .map(([, { action, slots }]) => commandOf(view, action, formatSlots(rangesOf(slots)), pace));
}

function nameOf(action: SlotAction): string {
  switch (action.kind) {
    case 'claim':
      return ['claim', action.owner, ...action.releaseFrom, action.why].join(' ');
    case 'migrate':
      return ['migrate', action.source, action.target, ...action.leaveOut, '/', ...action.formerly, action.why].join(
        ' ',
      );
    case 'collect':
      return ['collect', action.from, action.owner, action.why].join(' ');
    case 'close':
      return ['close', action.node, ...action.carriedBy, action.why].join(' ');
  }
}

function commandOf(view: ClusterView, action: SlotAction, slots: string, pace: Pace): RedisCommand {
  const ref = (id: NodeId) => refIn(view, id);
  switch (action.kind) {
    case 'claim': {
      const { owner, releaseFrom, why } = action;
      const command: ClaimSlots = {
        type: 'claim-slots',
        owner: ref(owner),
        slots,
        releaseFrom: releaseFrom.map(ref),
        others: otherPrimaries(view, [owner, ...releaseFrom]),
        why,
      };
      return command;
    }
    case 'migrate': {
      const { source, target, leaveOut, formerly, why } = action;
      const command: MigrateSlots = {
        type: 'migrate-slots',
        source: ref(source),
        target: ref(target),
        slots,
        others: otherPrimaries(view, [source, target, ...leaveOut]),
        ...(formerly.length > 0 ? { formerly } : {}),
        // An open slot is finished the way it was begun.
        engine: 'windowed',
        pace,
        why,
      };
      return command;
    }
    case 'collect': {
      const command: CollectKeys = {
        type: 'collect-keys',
        from: ref(action.from),
        owner: ref(action.owner),
        slots,
        why: action.why,
      };
      return command;
    }
    case 'close': {
      const { node, carriedBy, why } = action;
      const command: CloseSlots = {
        type: 'close-slots',
        node: ref(node),
        slots,
        ...(carriedBy.length > 0 ? { carriedBy: carriedBy.map(ref) } : {}),
        why,
      };
      return command;
    }
  }
}

/** Actions name nodes of the view that they were made from. */
function refIn(view: ClusterView, id: NodeId): NodeRef {
  const node = nodeOf(view, id);
  if (!node) throw new RangeError(`no node ${id} in the view`);
  return refOf(node);
}
