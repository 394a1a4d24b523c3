import { done, failed, type Outcome } from '@reeve/runtime';
import type { CloseSlots } from '../api/commands.ts';
import { slotsOf } from '../api/slots.ts';
import type { NodeLine, NodeRef } from '../api/view.ts';
import type { RedisContext } from './context.ts';
import {
  askAll,
  doneIf,
  handlerFor,
  identify,
  type IsDone,
  keysInSlots,
  namedSlots,
  nameOf,
  type NodeTable,
  openSlots,
  StaleEvidence,
  tableOf,
} from './evidence.ts';

function isGone(line: NodeLine | undefined): boolean {
  return line === undefined || line.flags.some((flag) => flag === 'fail' || flag === 'noaddr');
}

/** Keys on the other side of an open slot would be cut off (no ASK leads to them any more) when the slot is closed. */
async function proveNothingCutOff(
  context: RedisContext,
  node: NodeRef,
  table: NodeTable,
  slots: readonly number[],
): Promise<void> {
  const wanted = new Set(slots);
  const importing = table.self.importing.filter((open) => wanted.has(open.slot)).map((open) => open.slot);
  const here = await keysInSlots(context, node, importing);
  const held = importing.find((_slot, index) => (here[index] ?? 0) > 0);
  if (held !== undefined) throw new StaleEvidence(`${nameOf(node)} holds keys of slot ${held}, which it is importing`);

  const byPeer = Map.groupBy(
    table.self.migrating.filter((open) => wanted.has(open.slot)),
    (open) => open.peer,
  );
  for (const [peerId, open] of byPeer) {
    const line = table.others.find((other) => other.id === peerId);
    if (isGone(line) || !line) continue; // nobody there to lead to
    const peer: NodeRef = { id: peerId, endpoint: { host: line.host, port: line.port } };
    await identify(context, [peer]);
    const migrating = open.map(({ slot }) => slot);
    const counts = await keysInSlots(context, peer, migrating);
    const cut = migrating.find((_slot, index) => (counts[index] ?? 0) > 0);
    if (cut !== undefined) throw new StaleEvidence(`${nameOf(peer)} already holds keys of slot ${cut}`);
  }
}

/** A replica takes no SETSLOT, but it follows what its primary is told: this long it may take. */
const PATIENCE_MS = 2_000;
const LOOK_MS = 25;

/** Those of the replicas on which one of the slots is open. */
async function stillCarrying(
  context: RedisContext,
  replicas: readonly NodeRef[],
  slots: readonly number[],
): Promise<readonly NodeRef[]> {
  const tables = await Promise.all(replicas.map((replica) => tableOf(context, replica)));
  return replicas.filter((_replica, index) => {
    const open = openSlots(tables[index] as NodeTable);
    return slots.some((slot) => open.has(slot));
  });
}

async function replicasFollow(
  context: RedisContext,
  replicas: readonly NodeRef[],
  slots: readonly number[],
  signal: AbortSignal,
): Promise<Outcome> {
  const until = context.clock.now() + PATIENCE_MS;
  for (;;) {
    const carrying = await stillCarrying(context, replicas, slots);
    if (carrying.length === 0) return done;
    if (context.clock.now() >= until || signal.aborted) {
      const names = carrying.map(nameOf).join(', ');
      return failed('SLOT_STAYS_OPEN', `their primary was told again, but slots stay open on ${names}`);
    }
    await context.clock.sleep(LOOK_MS, signal);
  }
}

const areClosed: IsDone<CloseSlots> = async ({ node, slots, carriedBy = [] }, context) => {
  const named = [...slotsOf(namedSlots(slots))];
  const isOpen = openSlots(await tableOf(context, node));
  if (named.some((slot) => isOpen.has(slot))) return 'not-done';
  return doneIf((await stillCarrying(context, carriedBy, named)).length === 0);
};

/** SETSLOT STABLE. Done when none of the slots is open on the node, nor on the replicas named with it. */
export const closeSlotsHandler = handlerFor<CloseSlots>('close-slots', areClosed, async (command, context, signal) => {
  const named = [...slotsOf(namedSlots(command.slots))];
  const table = await tableOf(context, command.node);
  const isOpen = openSlots(table);
  const carrying = await stillCarrying(context, command.carriedBy ?? [], named);
  const slots = carrying.length > 0 ? named : named.filter((slot) => isOpen.has(slot));
  if (slots.length === 0) return done;
  if (table.self.role !== 'primary') throw new StaleEvidence(`${nameOf(command.node)} is a replica now`);
  await proveNothingCutOff(context, command.node, table, slots);
  await askAll(
    context,
    command.node,
    slots.map((slot) => ['CLUSTER', 'SETSLOT', String(slot), 'STABLE']),
  );
  return carrying.length > 0 ? replicasFollow(context, carrying, slots, signal) : done;
});
