/**
 * What a new user does: a clean clone of the last commit, an unprivileged user with an empty home, `npm ci && npm start`. It ends well,
 * prints what the README shows, leaves no process and no change of a file behind.
 *
 *     npm run proof -- new-user
 *
 * Run by root it is user 65534; otherwise whoever runs it. Programs come from PATH or from where the tools of this machine are told to
 * get them.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { missingLines } from './new-user/readme.ts';
import { writeResult } from './result.ts';

const REPOSITORY = join(import.meta.dirname, '..');
const NOBODY = 65_534;
const LONGEST_MS = 600_000;

export default async function newUser(): Promise<boolean> {
  const place = mkdtempSync(join(tmpdir(), 'reeve-new-user-'));
  chmodSync(place, 0o755);
  const home = join(place, 'home');
  const clone = join(place, 'reeve');
  mkdirSync(home);
  const isRoot = process.getuid?.() === 0;
  try {
    const root = (program: string, ...args: readonly string[]) => spawnSync(program, args, { encoding: 'utf8' });
    const cloned = root('git', 'clone', '--quiet', REPOSITORY, clone);
    if (cloned.status !== 0) throw new Error(`git clone: ${cloned.stderr}`);
    if (isRoot) root('chown', '-R', `${NOBODY}:${NOBODY}`, place);
    const user = (...args: readonly string[]) => {
      const began = performance.now();
      const { status, stdout, stderr, error } = spawnSync('npm', args, {
        cwd: clone,
        env: environment(home),
        encoding: 'utf8',
        timeout: LONGEST_MS,
        ...(isRoot && { uid: NOBODY, gid: NOBODY }),
      });
      const seconds = (performance.now() - began) / 1_000;
      process.stdout.write(`$ npm ${args.join(' ')}\n${stdout}${stderr}\n`);
      return { status, stdout, seconds, told: `${stderr}${error?.message ?? ''}` };
    };
    const installed = user('ci');
    const started = user('start', '--', '--once');
    const again = user('start', '--', '--once');
    const changes = root('git', '-c', `safe.directory=${clone}`, '-C', clone, 'status', '--porcelain').stdout.trim();
    const readme = readFileSync(join(clone, 'README.md'), 'utf8');
    const left = processesOf(place);
    const problems = [
      ...[installed, started, again]
        .filter(({ status }) => status !== 0)
        .map(({ status, told }) => `ended with ${status}: ${told}`),
      ...missingLines(readme, started.stdout).map((line) => `README shows what was not printed: ${line}`),
      ...(changes === '' ? [] : [`files changed: ${changes}`]),
      ...(left.length === 0 ? [] : [`processes left: ${left.join(', ')}`]),
    ];
    const who = isRoot ? `user ${NOBODY}` : 'the user who ran it';
    writeResult('new-user', problems.length === 0, [
      `A clean clone of ${root('git', '-C', clone, '-c', `safe.directory=${clone}`, 'rev-parse', '--short', 'HEAD').stdout.trim()}, an empty home, as ${who}: \`npm ci\` ${installed.seconds.toFixed(0)} s, \`npm start -- --once\` ${started.seconds.toFixed(0)} s (with what it fetched), and again ${again.seconds.toFixed(0)} s. Each line that the README shows of it was printed, but for numbers; no process and no change in the clone is left.`,
      `\`\`\`\n${started.stdout.replaceAll(place, '…').trim()}\n\`\`\``,
      ...problems.map((problem) => `- ${problem}`),
    ]);
    return problems.length === 0;
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** That of a shell of theirs: nothing of the npm that runs us, nothing of our own folders. */
function environment(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^XDG_|^KUBE|^NODE|^INIT_CWD$/.test(name));
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  // A test runner of continuous integration is no person.
  return { ...Object.fromEntries(kept), HOME: home, PATH: path.join(delimiter), CI: undefined };
}

/** Processes that were given something of this folder, or are in it. */
function processesOf(place: string): readonly string[] {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  return numbers.filter((pid) => ['cmdline', 'environ'].some((file) => textOf(`/proc/${pid}/${file}`).includes(place)));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it ended meanwhile
  }
}
