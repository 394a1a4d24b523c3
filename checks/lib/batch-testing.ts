/** A process of `runBatches`: runs the test files given as arguments all in here and tells its parent the counts. */
import fc from 'fast-check';
import { runInNode } from './runner.ts';

// The same inputs everywhere, so that a red run is about the change and not about luck. To look further:
// REEVE_SEED=random npm run test:unit, or a number to have a run again.
const seed = process.env.REEVE_SEED ?? '20261115';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

const counts = await runInNode(process.argv.slice(2), { isolation: 'none' }, (text) => process.stdout.write(text));
if (counts) process.send?.({ ...counts });
process.disconnect?.();
