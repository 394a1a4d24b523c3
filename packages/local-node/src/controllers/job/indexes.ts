/** The numbers of an indexed job: `0-2,5` and back. Pure. */
import { COMPLETION_INDEX } from '../../kinds/job.ts';
import type { Pod } from '../../kinds/pod.ts';

export function parseIndexes(text: string | undefined, completions: number): ReadonlySet<number> {
  const found = new Set<number>();
  for (const part of (text ?? '').split(',').filter(Boolean)) {
    const [first = '', last = first] = part.split('-');
    for (let index = Number(first); index <= Math.min(Number(last), completions - 1); index++) found.add(index);
  }
  return found;
}

export function formatIndexes(indexes: Iterable<number>): string {
  const parts: [number, number][] = [];
  for (const index of [...indexes].toSorted((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && last[1] + 1 >= index) last[1] = index;
    else parts.push([index, index]);
  }
  return parts
    .map(([first, last]) =>
      first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`,
    )
    .join();
}

export function indexOf({ metadata }: Pick<Pod, 'metadata'>): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
