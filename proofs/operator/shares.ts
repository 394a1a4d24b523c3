/** How many slots each primary has, as the status of a cluster tells it. */
import type { RedisClusterStatus } from '@reeve/redis';

/** Ranges, or only how many there are. */
const slotsOf = (text = ''): number =>
  Number(/^(\d+) slots in /.exec(text)?.[1]) ||
  text
    .split(',')
    .map((range) => range.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);

export function shares({ members = [] }: RedisClusterStatus): readonly number[] {
  return members.flatMap(({ slots }) => (slots === undefined ? [] : [slotsOf(slots)]));
}

export function isEven(status: RedisClusterStatus, primaries = 3): boolean {
  const all = shares(status);
  const fair = 16_384 / primaries;
  return all.length === primaries && all.every((share) => Math.abs(share - fair) <= fair * 0.06);
}
