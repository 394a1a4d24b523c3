/** `npm run test:unit [-- PATH…]`: every test that needs no server and no simulation; under 20 seconds in all. */
import { overTime } from './lib/report.ts';
import { filesOf, judge, runBatches } from './lib/runner.ts';

/** As CONTRIBUTING promises. */
const LIMIT_S = 20;

const { counts, seconds } = await runBatches(filesOf('unit', process.argv.slice(2)), 2);
const problem = judge(counts);
const late = overTime('the unit tests', seconds, LIMIT_S);
if (late !== undefined) console.log(late);
console.log(problem ? `unit tests: ${problem}` : `unit tests: ${counts?.passed} passed in ${seconds.toFixed(1)} s`);
process.exitCode = problem ? 1 : 0;
