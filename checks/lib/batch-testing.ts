/** A process of `runBatches`: runs the test files given as arguments all in here and tells its parent the counts. */
import './seed-testing.ts';
import { runInNode } from './runner.ts';

const counts = await runInNode(process.argv.slice(2), { isolation: 'none' }, (text) => process.stdout.write(text));
if (counts) process.send?.({ ...counts });
process.disconnect?.();
