/**
 * `npm run test:real [-- PATH…]`: first the simulation (all processors), then the real servers: few at once,
 * because a starved server looks like a dead one to its peers.
 */
import { filesOf, judge, runApart, type Tier } from './lib/runner.ts';

const filters = process.argv.slice(2);
const tiers: readonly {
  readonly tier: Tier;
  readonly title: string;
  readonly concurrency: number;
  readonly first: readonly URL[];
}[] = [
  // Properties are for unit tests and the simulation.
  { tier: 'sim', title: 'simulation', concurrency: 2, first: [new URL('./lib/seed-testing.ts', import.meta.url)] },
  { tier: 'real', title: 'real servers', concurrency: 2, first: [] },
];

const lines: string[] = [];
let failed = false;
let ran = 0;
for (const { tier, title, concurrency, first } of tiers) {
  const { counts, seconds } = await runApart(filesOf(tier, filters), concurrency, first);
  const tests = counts?.tests ?? 0;
  ran += tests;
  // With a filter one of the tiers may well be empty.
  const problem = filters.length > 0 && counts?.tests === 0 ? undefined : judge(counts);
  if (problem) failed = true;
  lines.push(`${title}: ${problem ?? `${counts?.passed} of ${tests} passed`} in ${seconds.toFixed(1)} s`);
}
for (const line of lines) console.log(line);
if (ran === 0) console.log('no test ran');
process.exitCode = failed || ran === 0 ? 1 : 0;
