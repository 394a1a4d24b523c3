/** Built-in kinds: their defaults, and what holds of all objects: names, versions, lists, media types. */
import type { Area } from '../case.ts';
import { commonCases } from './objects-common.ts';
import { defaultCases } from './objects-defaults.ts';

export const objectsArea: Area = { name: 'objects', cases: [...defaultCases, ...commonCases] };
