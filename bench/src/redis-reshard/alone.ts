/**
 * What the servers need by themselves for an atomic migration: one command to each source, all at once, and somebody who
 * asks until it is done. Nobody who wants the same of them can be faster, and who is how near is seen.
 */
import { type Racer, SLOTS } from './racer.ts';
import { type Stage, THIRDS } from './stage.ts';
import { Wire } from './wire.ts';

const LOOK_MS = 8;

export const serversAlone: Racer = {
  name: 'servers alone',
  async race(stage, begin) {
    const wires = stage.cluster.primaries
      .slice(0, THIRDS.length)
      .map(({ endpoint }) => new Wire(endpoint.host, endpoint.port));
    try {
      await begin();
      const began = performance.now();
      await Promise.all(wires.map((wire, index) => moveFrom(wire, index, stage)));
      return performance.now() - began;
    } finally {
      for (const wire of wires) wire.close();
    }
  },
};

async function moveFrom(wire: Wire, index: number, { newcomer }: Stage): Promise<void> {
  const [first] = THIRDS[index] as readonly [number, number];
  const count = Math.floor(SLOTS / THIRDS.length) + (index < SLOTS % THIRDS.length ? 1 : 0);
  const range = [String(first), String(first + count - 1)];
  const answer = await wire.call(['CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', ...range, 'NODE', newcomer]);
  if (answer !== 'OK') throw new Error(`MIGRATESLOTS: ${String(answer)}`);
  for (;;) {
    const [job = []] = (await wire.call(['CLUSTER', 'GETSLOTMIGRATIONS'])) as unknown as readonly (readonly string[])[];
    const state = job[job.indexOf('state') + 1];
    if (state === 'success') return;
    if (state === 'failed' || state === 'cancelled') throw new Error(`the migration ${state}: ${job.join(' ')}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
