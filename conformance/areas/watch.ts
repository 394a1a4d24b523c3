/** Watches: what comes, in which order, to whom; and how they begin and end. */
import type { Area } from '../case.ts';
import { historyCases } from './watch-history.ts';
import { liveCases } from './watch-live.ts';
import { openingCases } from './watch-opening.ts';

export const watchArea: Area = { name: 'watch', cases: [...liveCases, ...historyCases, ...openingCases] };
