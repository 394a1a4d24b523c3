/** Differences of random sequences that are known, each with its reason. Undefined: nobody knows why. */
import type { Case } from '../case.ts';
import type { Difference } from '../compare.ts';

interface Known {
  readonly why: string;
  /** Whether it accounts for all of these differences. */
  explains(one: Case, found: readonly Difference[]): boolean;
}

const all: readonly Known[] = [
  {
    why: 'not there yet: warnings of pods that are odd but valid, here of a port that two containers have',
    explains: (_one, found) =>
      found.every(({ field, real }) => field.endsWith('.warnings') && JSON.stringify(real).includes('duplicate port')),
  },
  {
    why: 'by design: a status applied to a service that is not there is not found; the real server judges the service first',
    explains: ({ steps }, found) =>
      found.every(({ field, real }) => {
        const [at = '', ...rest] = field.split('.');
        const step = steps[Number(at)];
        const isStatus = step !== undefined && 'patch' in step && /services.*status$/.test(step.path);
        return isStatus && (rest[0] === 'body' || real === 422);
      }),
  },
];

export function known(one: Case, found: readonly Difference[]): string | undefined {
  return all.find(({ explains }) => explains(one, found))?.why;
}
