/** Runs test files with node's test runner and judges the total. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
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

const none: Counts = { tests: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

export function addCounts(a: Counts | undefined, b: Counts | undefined): Counts | undefined {
  if (!a || !b) return undefined;
  return {
    tests: a.tests + b.tests,
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    cancelled: a.cancelled + b.cancelled,
    skipped: a.skipped + b.skipped,
    todo: a.todo + b.todo,
  };
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

/** The files of one tier whose path contains one of `filters` (all, if there are none). */
export function filesOf(tier: Tier, filters: readonly string[]): readonly string[] {
  return repositoryPaths()
    .filter((path) => tierOf(path) === tier)
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .map((path) => join(root, path));
}

/** What a test process loads before Node's test runner. */
const light = new URL('./light-testing.ts', import.meta.url);
const deadline = new URL('./deadline-testing.ts', import.meta.url);

/** Each file in a process of its own, which loads `first` and has to end some time; the output as it comes. */
export async function runApart(
  files: readonly string[],
  concurrency: number,
  first: readonly URL[] = [],
): Promise<TierResult> {
  const started = performance.now();
  if (files.length === 0) return { counts: none, seconds: 0 };
  const execArgv = [light, deadline, ...first].map(({ href }) => `--import=${href}`);
  const options = { concurrency, isolation: 'process', execArgv } as const;
  const counts = await runInNode(files, options, toStdout);
  return { counts, seconds: (performance.now() - started) / 1000 };
}

type Write = (text: string) => unknown;

const toStdout: Write = (text) => process.stdout.write(text);

/** Enough that the last to end does not end long after the others, few enough that starting them costs little. */
const BATCHES = 6;

/**
 * Many small files in few processes, because starting Node and stripping types costs more than most tests do. The output
 * of a batch comes when it has ended, so that batches do not mix.
 */
export async function runBatches(
  files: readonly string[],
  concurrency: number,
  write: Write = toStdout,
): Promise<TierResult> {
  const started = performance.now();
  if (files.length === 0) return { counts: none, seconds: 0 };
  const counts = await sumCounts(cut(files, BATCHES), concurrency, (batch) => runBatch(batch, write));
  return { counts, seconds: (performance.now() - started) / 1000 };
}

/** The counts of all jobs, some at a time. */
export async function sumCounts<T>(
  jobs: readonly T[],
  concurrency: number,
  run: (job: T) => Promise<Counts | undefined>,
): Promise<Counts | undefined> {
  const left = [...jobs];
  const results: (Counts | undefined)[] = [];
  const worker = async () => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) results.push(await run(job));
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results.reduce(addCounts, none);
}

/** Neighbours stay together: files of one folder import the same modules, which a process loads only once. */
export function cut<T>(items: readonly T[], parts: number): readonly (readonly T[])[] {
  const bounds = Array.from({ length: parts + 1 }, (_, part) => Math.round((part * items.length) / parts));
  return bounds
    .slice(1)
    .map((end, part) => items.slice(bounds[part], end))
    .filter((part) => part.length > 0);
}

/** What a batch counts for, and what is to be said about the way its process ended. */
export function batchEnd(
  counts: Counts | undefined,
  ended: number | string | null,
): { readonly counts: Counts | undefined; readonly words?: string } {
  if (!counts) return { counts, words: `a batch ended with ${ended} and without a summary` };
  if (ended === 0 || counts.failed + counts.cancelled > 0) return { counts };
  // An error that nobody caught belongs to no test, so that no test failed of it.
  return {
    counts: { ...counts, failed: 1 },
    words: `a batch ended with ${ended} although its tests passed: see above what nobody caught`,
  };
}

/** As long as all batches together may take, several times over. */
const BATCH_MINUTES = 3;
/** So long it may then take to say what it is at and to end by itself. One that never gives way does not. */
const GRACE_MS = 5_000;

function runBatch(files: readonly string[], write: Write): Promise<Counts | undefined> {
  const minutes = Number(process.env.REEVE_TEST_MINUTES) || BATCH_MINUTES;
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('./batch-testing.ts', import.meta.url)), [...files], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules/.cache/compile'),
        REEVE_TEST_MINUTES: String(minutes),
      },
    });
    const output: Buffer[] = [];
    let told: Counts | undefined;
    let begun = 'none';
    const killer = setTimeout(
      () => {
        const words = `killed, because it did not give way within ${minutes} minutes; the test that was begun last: ${begun}`;
        output.push(Buffer.from(`${words}\n`));
        child.kill('SIGKILL');
      },
      minutes * 60_000 + GRACE_MS,
    );
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('message', (message) => {
      if (typeof message === 'string') begun = message;
      else told = message as unknown as Counts;
    });
    child.on('error', (error) => {
      clearTimeout(killer);
      reject(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(killer);
      write(Buffer.concat(output).toString());
      const { counts, words } = batchEnd(told, signal ?? code);
      if (words !== undefined) write(`${words}: ${files.join(' ')}\n`);
      resolve(counts);
    });
  });
}

export async function runInNode(
  files: readonly string[],
  options: {
    readonly concurrency?: number;
    readonly isolation: 'process' | 'none';
    readonly execArgv?: readonly string[];
  },
  write: Write,
  begins: (test: string) => unknown = () => undefined,
): Promise<Counts | undefined> {
  let counts: Counts | undefined;
  const stream = run({ ...options, execArgv: [...(options.execArgv ?? [])], files: [...files], cwd: root });
  stream.on('test:dequeue', ({ name, file, line }) => begins(`${name} (${file}:${line})`));
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) return;
    // Node's types lack `failed`.
    const all = summary.counts as typeof summary.counts & { readonly failed: number };
    // A suite that fails, by its end or before its first test, is no test: Node says so here alone.
    counts = summary.success || all.failed + all.cancelled > 0 ? all : { ...all, failed: 1 };
  });
  for await (const chunk of stream.compose(spec)) write(String(chunk));
  return counts;
}
