/** Runs test files with node's test runner, a process each, and judges the total. */
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { repositoryPaths, root } from './source.ts';

export type Tier = 'unit' | 'sim' | 'real';

export function tierOf(path: string): Tier | undefined {
  if (!path.endsWith('.test.ts')) return undefined;
  if (path.endsWith('.real.test.ts')) return 'real';
  return path.endsWith('.sim.test.ts') ? 'sim' : 'unit';
}

export interface Counts {
  readonly tests: number;
  readonly passed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  readonly todo: number;
}

/** Why a run does not count as passed. A skipped test proves nothing, and neither does a run without tests. */
export function judge(counts: Counts | undefined): string | undefined {
  if (!counts) return 'the test runner gave no summary';
  if (counts.tests === 0) return 'no test ran';
  if (counts.failed + counts.cancelled > 0) return `${counts.failed + counts.cancelled} tests failed`;
  if (counts.skipped + counts.todo > 0) return `${counts.skipped + counts.todo} tests were skipped`;
  return undefined;
}

export interface TierResult {
  readonly counts: Counts | undefined;
  readonly seconds: number;
}

/** Runs the files of one tier whose path contains one of `filters` (all, if there are none). */
export async function runTier(tier: Tier, concurrency: number, filters: readonly string[]): Promise<TierResult> {
  const files = repositoryPaths()
    .filter((path) => tierOf(path) === tier)
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .map((path) => join(root, path));
  const started = performance.now();
  let counts: Counts | undefined;
  if (files.length === 0)
    return { counts: { tests: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 }, seconds: 0 };
  // Every file is a process of its own; the cache spares each of them most of the work of stripping types.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compile');
  const stream = run({ files, concurrency, cwd: root });
  stream.on('test:summary', (summary) => {
    // Node's types lack `failed`.
    if (summary.file === undefined) counts = summary.counts as typeof summary.counts & { readonly failed: number };
  });
  const printed = stream.compose(spec);
  for await (const chunk of printed) process.stdout.write(chunk as string);
  return { counts, seconds: (performance.now() - started) / 1000 };
}
