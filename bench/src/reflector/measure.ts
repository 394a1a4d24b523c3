/** One round: what an object takes, and what an event costs out of a backlog and at a steady rate. */
import { performance } from 'node:perf_hooks';
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

export interface Round {
  readonly stage: Stage;
  readonly resource: ResourceName;
  readonly objects: number;
  readonly sizes: Sizes;
  /** No two rounds write the same value: a change that changes nothing is no event. */
  nextRevision(events: number): number;
}

/** One after the other. */
export async function measureRound(
  round: Round,
  followers: readonly Follower[],
): Promise<ReadonlyMap<FollowerName, Figures>> {
  const all = new Map<FollowerName, Figures>();
  for (const follower of followers) {
    await using running = await run(follower, round.stage.kubeconfig, round.resource);
    const heapBytesPerObject = await heapOf(running, round);
    const backlogMicros = await drain(running, round);
    const figures = { backlogMicros, heapBytesPerObject, ...(await atRate(running, round)) };
    all.set(follower.name, figures);
    say(`${round.objects} ${round.resource}, ${follower.name}: ${JSON.stringify(figures)}`);
  }
  return all;
}

async function heapOf(running: Running, { objects }: Round): Promise<number> {
  const full = await running.ask({ do: 'usage', collect: true });
  if (full.objects !== objects) throw new Error(`${running.name} holds ${full.objects} of ${objects} objects`);
  return (full.heapBytes - running.heapBefore) / objects;
}

/** It has listed and does not watch yet; the events of its backlog are the first that it gets. */
async function drain(running: Running, { stage, resource, objects, sizes, nextRevision }: Round): Promise<number> {
  const events = sizes.backlog;
  await stage.load.ask({ do: 'rewrite', resource, objects, events, revision: nextRevision(events) });
  const before = await running.ask({ do: 'reset' });
  const began = performance.now();
  await running.ask({ do: 'open' });
  const after = await running.ask({ do: 'await', events });
  say(`${running.name} drained the backlog in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  return ((after.cpuMs - before.cpuMs) / events) * 1_000;
}

async function atRate(running: Running, { stage, resource, objects, sizes, nextRevision }: Round) {
  const { warm, events, perSecond } = sizes;
  const change = { do: 'rewrite', resource, objects, perSecond } as const;
  await running.ask({ do: 'reset' });
  await stage.load.ask({ ...change, events: warm, revision: nextRevision(warm) });
  await running.ask({ do: 'await', events: warm });
  const before = await running.ask({ do: 'reset' });
  const { ms } = await stage.load.ask({ ...change, events, revision: nextRevision(events) });
  const after = await running.ask({ do: 'await', events });
  return { rateMicros: ((after.cpuMs - before.cpuMs) / events) * 1_000, perSecond: (events / ms) * 1_000 };
}
