/** Whether an operation that says it reached its goal did: by the journal's own goal and what the servers say. */
import { readFileSync } from 'node:fs';
import { parseNodes } from '@reeve/rig';
import { address } from './tool.ts';
import type { World } from './world.ts';

interface Moves {
  readonly moves: readonly { readonly target: string; readonly slots: string }[];
  readonly standIns?: Readonly<Record<string, readonly string[]>>;
}

/** Slots that are not where the goal wants them; a target that died may have handed them to its replica. */
export async function misplacedSlots(journal: string, world: World): Promise<readonly string[]> {
  const { goal } = JSON.parse(readFileSync(journal, 'utf8').split('\n', 1)[0] as string) as { goal: Moves };
  const problems: string[] = [];
  const owners = await world.owners();
  for (const { target, slots } of goal.moves) {
    const welcome = [target, ...(goal.standIns?.[target] ?? [])];
    const wrong = numbers(slots).filter((slot) => !welcome.includes(owners[slot] ?? ''));
    if (wrong.length > 0)
      problems.push(`${wrong.length} of the slots ${slots} are not on ${target}, slot ${wrong[0]} first`);
  }
  return problems;
}

/** Members that still know a node that is said to be deleted. */
export async function stillKnownBy(id: string, world: World): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { server, id: own } of await world.members()) {
    const lines = parseNodes(String(await server.call('CLUSTER', 'NODES')));
    if (own !== id && lines.some((line) => line.id === id)) {
      problems.push(`${address(server.endpoint)} still knows the deleted node ${id}`);
    }
  }
  return problems;
}

function numbers(slots: string): readonly number[] {
  return slots.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
