/**
 * A test file whose process does not end would stop the whole run without a word, because the runner waits for it for
 * ever. The longest file takes four minutes on two cores.
 */
import { isMainThread } from 'node:worker_threads';

const MINUTES = Number(process.env.REEVE_TEST_MINUTES ?? 15);

const giveUp = (): void => {
  const open = process.getActiveResourcesInfo().join(', ');
  console.error(`${process.argv[1]} did not end within ${MINUTES} minutes; still open: ${open || 'nothing'}`);
  process.exit(1);
};

if (isMainThread) setTimeout(giveUp, MINUTES * 60_000).unref();
