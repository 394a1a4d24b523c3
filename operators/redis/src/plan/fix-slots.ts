/** All damaged slots → the next commands for them. Each slot is mended for itself, one step a turn. */
import type { Waiting } from '@reeve/runtime';
import type { Pace, RedisCommand } from '../api/commands.ts';
import { countSlots, formatSlots, hasSlot, type SlotRanges } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { commandsOf, type SlotDecision, withoutClashes } from './fix-actions.ts';
import { slotDamage, type SlotFacts } from './fix-facts.ts';
import { closeCarried, settleOpen } from './fix-open.ts';
import { claimByKeys, claimEmpty, settleSeveral } from './fix-owners.ts';

export interface SlotRepair {
  readonly commands: readonly RedisCommand[];
  readonly waiting: readonly Waiting[];
}

/** `inHand`: slots that a running command works on. */
export function repairSlots(view: ClusterView, givenUp: readonly NodeId[], inHand: SlotRanges, pace: Pace): SlotRepair {
  const damage = slotDamage(view, givenUp);
  const decisions: SlotDecision[] = [];
  const waiting: Waiting[] = [];
  const empty: number[] = [];
  const decide = (facts: SlotFacts) => {
    const { slot, claimants, holders } = facts;
    const [owner, ...more] = claimants;
    if (owner === undefined) {
      const first = holders[0];
      if (!first) empty.push(slot);
      else decisions.push({ slot, action: claimByKeys(view, facts, first.node) });
      return;
    }
    if (more.length > 0) {
      decisions.push({ slot, action: settleSeveral(view, facts) });
      return;
    }
    const verdict = settleOpen(view, facts, owner, givenUp);
    if (verdict.waiting) waiting.push(verdict.waiting);
    const actions = verdict.actions.length > 0 ? verdict.actions : closeCarried(view, facts);
    for (const action of withoutClashes(actions)) decisions.push({ slot, action });
  };
  for (const facts of damage.slots) if (!hasSlot(inHand, facts.slot)) decide(facts);
  decisions.push(...claimEmpty(view, empty));
  if (countSlots(damage.uncounted) > 0) {
    waiting.push({
      reason: 'KeyCounts',
      message: `keys are counted in slots ${formatSlots(damage.uncounted)} on every primary`,
      subjects: [],
    });
  }
  return { commands: commandsOf(view, decisions, pace), waiting };
}
