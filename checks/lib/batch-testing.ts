/** A process of `runBatches`: runs the test files given as arguments all in here and tells its parent the counts. */
import './light-testing.ts';
import './deadline-testing.ts';
import './seed-testing.ts';
import type { Counts } from './runner.ts';

// Late, because it brings Node's test runner, which light-testing.ts must have prepared.
const { runInNode } = await import('./runner.ts');

let begun = 'none';
let counts: Counts | undefined;
const tell = (): void => {
  console.error(`the test that was begun last: ${begun}`);
  process.exitCode = 1;
};
process.on('uncaughtExceptionMonitor', tell);
process.on('unhandledRejection', tell);
process.on('exit', () => {
  if (!counts) tell();
});

counts = await runInNode(
  process.argv.slice(2),
  { isolation: 'none' },
  (text) => process.stdout.write(text),
  (test) => {
    begun = test;
    // While a test does not give way, nobody can ask this process.
    process.send?.(test);
  },
);
if (counts) process.send?.({ ...counts });
process.disconnect?.();
