/** `npm run test:unit [-- PATH…]`: every test that needs no server and no simulation; under 20 seconds in all. */
import { filesOf, judge, runBatches } from './lib/runner.ts';

const { counts, seconds } = await runBatches(filesOf('unit', process.argv.slice(2)), 2);
const problem = judge(counts);
console.log(problem ? `unit tests: ${problem}` : `unit tests: ${counts?.passed} passed in ${seconds.toFixed(1)} s`);
process.exitCode = problem ? 1 : 0;
