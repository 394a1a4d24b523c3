/** Server-side apply. */
import { basicCases, builtinCases, statusCases, structureCases } from '@reeve/embedded/cases';
import type { Area } from '../case.ts';
import { requests } from './embedded-cases.ts';

export const applyArea: Area = {
  name: 'apply',
  cases: [...basicCases, ...structureCases, ...statusCases, ...builtinCases].map(requests),
};
