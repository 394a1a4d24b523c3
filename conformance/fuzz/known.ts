/** Differences of random sequences that are known, each with its reason. Undefined: nobody knows why. */
import type { Case } from '../case.ts';
import type { Difference } from '../compare.ts';

interface Known {
  readonly why: string;
  /** Whether it accounts for all of these differences. */
  explains(one: Case, found: readonly Difference[], hasTimes: boolean): boolean;
}

const isBuiltin = ({ steps }: Case): boolean => steps.every((step) => 'path' in step && !step.path.includes('/things'));

const isPortWarning = ({ field, real }: Difference): boolean =>
  field.endsWith('.warnings') && JSON.stringify(real ?? '').includes('duplicate port');

const PORT_WARNING = 'not there yet: warnings of pods that are odd but valid, here of a port that two containers have';

const all: readonly Known[] = [
  {
    why: 'not there yet: values of built-in kinds are not checked one by one; the real server refused one, and from there on the objects are not the same',
    explains: (one, found) => {
      const first = Math.min(...found.map(({ field }) => Number.parseInt(field, 10)));
      const code = found.find(({ field }) => field === `${first}.code`);
      return isBuiltin(one) && code?.real === 422 && typeof code.embedded === 'number' && code.embedded < 300;
    },
  },
  {
    why: 'by chance: managers are ordered by the second in which they wrote, and an apply without effect is written when that order changes; the servers are not asked in the same second',
    explains: (_one, found, hasTimes) =>
      hasTimes && found.every(({ field }) => /\.metadata\.(?:resourceVersion|managedFields\.\d+\.time)$/.test(field)),
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

/** @param hasTimes whether managers wrote in different seconds. */
export function known(one: Case, found: readonly Difference[], hasTimes: boolean): string | undefined {
  // They come beside anything else.
  const rest = found.filter((difference) => !isPortWarning(difference));
  if (rest.length === 0) return PORT_WARNING;
  return all.find(({ explains }) => explains(one, rest, hasTimes))?.why;
}
