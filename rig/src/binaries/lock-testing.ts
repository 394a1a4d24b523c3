/** Run as a child: takes the lock, says so, and keeps it until it is killed. */
import { exclusively } from './lock.ts';

process.on('disconnect', () => process.exit());
await exclusively(
  process.argv[2] ?? '',
  () => new Promise<never>(() => process.send?.('held')),
  () => undefined,
);
