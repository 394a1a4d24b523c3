/** One round: what an event costs at a steady rate and out of a backlog, and what an object takes. */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceName } from '../kubernetes/objects.ts';
import type { Stage } from '../kubernetes/stage.ts';
import { say } from '../report/print.ts';
import { type Follower, type FollowerName, type Running, run } from './followers.ts';

export interface Sizes {
  readonly perSecond: number;
  /** Events at that rate before anything is measured, until the code that is measured is compiled. */
  readonly warm: number;
  /** Events at that rate. */
  readonly events: number;
  readonly backlog: number;
}

export interface Figures {
  readonly rateMicros: number;
  readonly backlogMicros: number;
  readonly heapBytesPerObject: number;
  /** What the server and the load generator reached. */
  readonly perSecond: number;
}

/**
 * Followers wait for one backlog together, as many as hold no more than this many objects. The server keeps events for 75 s: who lists
 * for longer before the backlog is made has to list again, and that would be measured.
 */
const MOST_HELD_AT_ONCE = 100_000;

export interface Round {
  readonly stage: Stage;
  readonly resource: ResourceName;
  readonly objects: number;
  readonly sizes: Sizes;
  /** No two rounds write the same value: a change that changes nothing is no event. */
  nextRevision(events: number): number;
}

export async function measureRound(
  round: Round,
  followers: readonly Follower[],
): Promise<ReadonlyMap<FollowerName, Figures>> {
  const steady = new Map<FollowerName, Omit<Figures, 'backlogMicros'>>();
  for (const follower of followers) {
    await using running = await run(follower, round.stage.kubeconfig, round.resource);
    const figures = await atRate(running, round);
    steady.set(follower.name, figures);
    say(`${round.objects} ${round.resource}, ${follower.name}: ${JSON.stringify(figures)}`);
  }
  const drained = new Map<FollowerName, number>();
  const together = Math.max(1, Math.floor(MOST_HELD_AT_ONCE / round.objects));
  for (let first = 0; first < followers.length; first += together) {
    const group = followers.slice(first, first + together);
    for (const [name, micros] of await drain(round, group)) {
      drained.set(name, micros);
      say(`${round.objects} ${round.resource}, ${name}: ${micros.toFixed()} µs per event of the backlog`);
    }
  }
  return new Map(
    [...steady].map(([name, figures]) => [name, { ...figures, backlogMicros: drained.get(name) ?? Number.NaN }]),
  );
}

async function atRate(running: Running, { stage, resource, objects, sizes, nextRevision }: Round) {
  const full = await running.ask({ do: 'usage', collect: true });
  if (full.objects !== objects) throw new Error(`${running.name} holds ${full.objects} of ${objects} objects`);
  await running.ask({ do: 'open' });
  await sleep(1_000);
  const { warm, events, perSecond } = sizes;
  const change = { do: 'rewrite', resource, objects, perSecond } as const;
  await running.ask({ do: 'reset' });
  await stage.load.ask({ ...change, events: warm, revision: nextRevision(warm) });
  await running.ask({ do: 'await', events: warm });
  const before = await running.ask({ do: 'reset' });
  const { ms } = await stage.load.ask({ ...change, events, revision: nextRevision(events) });
  const after = await running.ask({ do: 'await', events });
  return {
    rateMicros: ((after.cpuMs - before.cpuMs) / events) * 1_000,
    heapBytesPerObject: (full.heapBytes - running.heapBefore) / objects,
    perSecond: (events / ms) * 1_000,
  };
}

async function drain(
  { stage, resource, objects, sizes, nextRevision }: Round,
  followers: readonly Follower[],
): Promise<readonly (readonly [FollowerName, number])[]> {
  const waiting: Running[] = [];
  try {
    for (const follower of followers) waiting.push(await run(follower, stage.kubeconfig, resource));
    const events = sizes.backlog;
    await stage.load.ask({ do: 'rewrite', resource, objects, events, revision: nextRevision(events) });
    const results: (readonly [FollowerName, number])[] = [];
    for (const running of waiting) {
      const before = await running.ask({ do: 'reset' });
      const began = performance.now();
      await running.ask({ do: 'open' });
      const after = await running.ask({ do: 'await', events });
      say(`${running.name} drained the backlog in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      results.push([running.name, ((after.cpuMs - before.cpuMs) / events) * 1_000]);
      await running[Symbol.asyncDispose]();
    }
    return results;
  } finally {
    for (const running of waiting) await running[Symbol.asyncDispose]();
  }
}
