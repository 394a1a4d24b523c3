import type { Random } from '@reeve/runtime';

/** 40 hex digits, as the servers name nodes, shards, processes and jobs. */
export function hexId(random: Random): string {
  let id = '';
  while (id.length < 40)
    id += Math.floor(random.next() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return id;
}
