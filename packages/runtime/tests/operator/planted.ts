/** Bugs that a campaign must find: what each check is good for. */
import type { Candidate, Executor, Handle, ListWatch, Outcome, Resource } from '@reeve/runtime';
import { failed, isHandle } from '@reeve/runtime';
import type { Step } from './api.ts';
import { type Parts, soundParts, type Through } from './scenario.ts';

export interface PlantedBug {
  readonly name: string;
  readonly through: Through;
  readonly parts: Parts;
}

/** It says that it has stopped when it was told to, not when it has. */
function hasty(executor: Executor<Step>): Executor<Step> {
  return {
    ...executor,
    async start(command, signal, run) {
      // The work never hears of it.
      const result = await executor.start(command, new AbortController().signal, run);
      if (!isHandle<Outcome>(result)) return result;
      const settled = new Promise<Outcome>((resolve) => {
        signal.addEventListener('abort', () => resolve(failed('STOPPED', 'at once')));
        void result.settled.then(resolve);
      });
      return { progress: () => result.progress(), settled } satisfies Handle;
    },
    withdraw: async () => undefined,
  };
}

/** Orders of an earlier life are nobody's. */
function forgetful({ start, release }: Executor<Step>): Executor<Step> {
  return { start, ...(release && { release }) };
}

/** The newest goes first. */
function lastInFirstOut(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.map((candidate) => {
    const mirrored = 4e12 - Date.parse(candidate.creationTimestamp ?? '');
    return { ...candidate, creationTimestamp: new Date(mirrored).toISOString() };
  });
}

/** What comes first after a watch broke is not heard. */
function leaky<T extends Resource>(source: ListWatch<T>): ListWatch<T> {
  let isAfterBreak = false;
  return {
    list: (request) => source.list(request),
    async *watch(request) {
      try {
        for await (const batch of source.watch(request)) {
          if (!isAfterBreak) yield batch;
          isAfterBreak = false;
        }
      } catch (error) {
        isAfterBreak = true;
        throw error;
      }
    },
  };
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'the last task goes first',
    through: 'process',
    parts: { ...soundParts, order: lastInFirstOut },
  },
  {
    name: 'a cancelled step is not waited for',
    through: 'process',
    parts: { ...soundParts, executor: hasty },
  },
  {
    name: 'orders of an earlier life are not withdrawn',
    through: 'members',
    parts: { ...soundParts, executor: forgetful },
  },
  {
    name: 'events are lost when a watch breaks',
    through: 'process',
    parts: { ...soundParts, source: leaky },
  },
  {
    name: 'a running task has no finalizer',
    through: 'process',
    parts: {
      ...soundParts,
      hold: (hold) => ({
        ...hold,
        isOn: () => true,
        take: async (task) => ({ written: true, object: task }),
      }),
    },
  },
];
