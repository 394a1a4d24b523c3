/** Differences of random sequences that are known, each with its reason. Undefined: nobody knows why. */
import type { Case } from '../case.ts';
import type { Difference } from '../compare.ts';

interface Known {
  readonly why: string;
  /** Whether this difference, of this step, is nothing else. `isNamed`: some step makes a mere name of a service. */
  explains(difference: Difference, path: string, isNamed: boolean): boolean;
}

const NO_ADDRESSES = /^Service "[^"]*" is invalid: spec\.clusterIPs: Required value$/;

const NOT_FOUND = /^services "[^"]*" not found$/;

const textOf = (value: Difference['real']): string => (typeof value === 'string' ? value : '');

const rankOf = (version: Difference['real']): number => Number(/^version-(\d+)$/.exec(textOf(version))?.[1]);

const all: readonly Known[] = [
  {
    why: 'a status applied to a service that is not there is not found; the real server tries to make the service, without addresses, and refuses that',
    explains: ({ field, real, embedded }, path) => {
      const [, ...rest] = field.split('.');
      if (!/services.*status$/.test(path)) return false;
      if (rest[0] === 'code') return real === 422 && embedded === 404;
      if (rest.join('.') === 'body.message') {
        return NO_ADDRESSES.test(textOf(real)) && NOT_FOUND.test(textOf(embedded));
      }
      return /^body\.(?:code|reason|details\.(?:kind|causes))$/.test(rest.join('.'));
    },
  },
  {
    why: 'a service that becomes a mere name loses its policy of internal traffic; the real server keeps it, and hides it where it looks',
    explains: ({ field, real, embedded }, path, isNamed) =>
      isNamed &&
      /\/services\//.test(`${path}/`) &&
      ((field.endsWith('.body.spec.internalTrafficPolicy') && real === 'Cluster' && embedded === undefined) ||
        (/\.managedFields\.\d+\.fieldsV1\.f:spec\.f:internalTrafficPolicy$/.test(field) && real === undefined) ||
        // Who puts back what he read takes it away, which is one write more.
        (field.endsWith('.body.metadata.resourceVersion') && rankOf(real) === rankOf(embedded) + 1)),
  },
];

/** All of them must be known for the same reason. */
export function known({ steps }: Case, found: readonly Difference[]): string | undefined {
  const pathOf = ({ field }: Difference): string => {
    const step = steps[Number.parseInt(field, 10)];
    return step !== undefined && 'path' in step ? step.path : '';
  };
  const isNamed = JSON.stringify(steps).includes('"ExternalName"');
  return all.find(({ explains }) => found.every((one) => explains(one, pathOf(one), isNamed)))?.why;
}
