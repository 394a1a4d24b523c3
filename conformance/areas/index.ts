/** All cases, in the order of the table. */
import type { Area } from '../case.ts';
import { accessArea } from './access.ts';
import { applyArea } from './apply.ts';
import { customArea } from './custom.ts';
import { deletionArea } from './deletion.ts';
import { numbersArea } from './numbers.ts';
import { objectsArea } from './objects.ts';
import { patchArea } from './patch.ts';
import { servicesArea } from './services.ts';
import { valuesArea } from './values.ts';
import { watchArea } from './watch.ts';

export const areas: readonly Area[] = [
  watchArea,
  applyArea,
  patchArea,
  deletionArea,
  customArea,
  accessArea,
  objectsArea,
  servicesArea,
  valuesArea,
  numbersArea,
];
