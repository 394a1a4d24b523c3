/** Values of built-in kinds: what is refused, in which words, and what is warned of. */
import type { Area } from '../case.ts';
import { otherCases } from './values-others.ts';
import { podCases } from './values-pods.ts';

export const valuesArea: Area = { name: 'values', cases: [...podCases, ...otherCases] };
