/** Merge, JSON and strategic merge patches. */
import { patchCases, strategicCases } from '@reeve/embedded/cases';
import type { Area } from '../case.ts';
import { requests } from './embedded-cases.ts';

export const patchArea: Area = { name: 'patch', cases: [...patchCases, ...strategicCases].map(requests) };
