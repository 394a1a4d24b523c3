/** `npm run check`: everything that can be said about the sources without running them, in parallel, a line each. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkDirection } from './direction.ts';
import { checkErrorCodes } from './error-codes.ts';
import { checkLeftovers, checkMachine, checkSize } from './house.ts';
import { formatProblems, overTime } from './lib/report.ts';
import { isTypeScript, readSources, repositoryPaths, root, type SourceFile } from './lib/source.ts';
import { checkPurity } from './purity.ts';
import { checkSeeds } from './seeds.ts';

/** As CONTRIBUTING promises. */
const LIMIT_S = 30;

interface Check {
  readonly name: string;
  run(): Promise<readonly string[]> | readonly string[];
}

/** A tool of node_modules; its output is the list of problems when it fails. */
function tool(name: string, command: string, ...args: readonly string[]): Check {
  return {
    name,
    run: () =>
      new Promise((resolve, reject) => {
        const child = spawn(join(root, 'node_modules/.bin', command), args, {
          cwd: root,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const output: Buffer[] = [];
        child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
        child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
        child.on('error', reject);
        child.on('close', (code) => {
          const text = Buffer.concat(output).toString().trimEnd();
          resolve(code === 0 ? [] : [text === '' ? `${command} ended with ${code}` : text]);
        });
      }),
  };
}

function checks(): readonly Check[] {
  const paths = repositoryPaths();
  const text = /\.(?:ts|js|json|md|sh|yml|yaml)$|^[^.]+$/;
  const files = readSources(paths.filter((path) => text.test(path) && path !== 'package-lock.json'));
  const sources = files.filter(({ path }) => isTypeScript(path));
  const page = files.find(({ path }) => path === 'docs/seeds.md') ?? ({ path: '', text: '' } satisfies SourceFile);
  const biome = tool('format', 'biome', 'format', '--colors=off', '--max-diagnostics=none', '.');
  return [
    tool('types', 'tsc', '-p', '.'),
    tool('lint', 'oxlint', '--type-aware', '--deny-warnings', '-f', 'unix', '.'),
    tool('dead code', 'knip', '--no-progress'),
    { name: 'format', run: async () => formatProblems(await biome.run()) },
    { name: 'direction', run: () => checkDirection(sources) },
    { name: 'purity', run: () => checkPurity(sources) },
    { name: 'file size', run: () => checkSize(files) },
    { name: 'leftovers', run: () => checkLeftovers(sources) },
    { name: 'no machine', run: () => checkMachine(files) },
    { name: 'seeds', run: () => checkSeeds(page.text, files) },
    // Loaded late: it imports the packages, which may not even parse while the checks above still must run.
    {
      name: 'docs',
      run: async () => {
        const { checkDocs, declaredCodes } = await import('./generate-docs.ts');
        return [...checkDocs(), ...checkErrorCodes(sources, declaredCodes)];
      },
    },
  ];
}

async function timed(check: Check): Promise<boolean> {
  const started = performance.now();
  let problems: readonly string[];
  try {
    problems = await check.run();
  } catch (error) {
    problems = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${check.name.padEnd(12)} ${seconds.padStart(5)} s`);
  for (const problem of problems) console.log(problem.replace(/^/gm, '       '));
  return problems.length === 0;
}

const only = process.argv.slice(2);
const chosen = checks().filter(({ name }) => only.length === 0 || only.includes(name));
if (chosen.length === 0) throw new Error(`no such check: ${only.join(', ')}`);
const started = performance.now();
const passed = await Promise.all(chosen.map(timed));
const failures = passed.filter((ok) => !ok).length;
const seconds = (performance.now() - started) / 1000;
const late = overTime('the checks', seconds, LIMIT_S);
if (late !== undefined) console.log(late);
console.log(
  failures === 0
    ? `all ${passed.length} checks passed in ${seconds.toFixed(1)} s`
    : `${failures} of ${passed.length} checks failed`,
);
process.exitCode = failures === 0 ? 0 : 1;
