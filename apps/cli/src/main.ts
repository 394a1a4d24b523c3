/** The `reeve` command: finds the verb, runs it, turns errors into one line and an exit code. */
import { asReeveError, ReeveError } from '@reeve/runtime';
import { agentVerbs } from './agent/verbs.ts';
import { helpText, nearest, parseLine } from './args.ts';
import { cliErrors, type ExitCode, exit, exitCodeOf, remedyOf, usage } from './errors.ts';
import type { Io } from './io.ts';
import { styleFor } from './output/style.ts';
import type { Verb } from './redis/verb.ts';
import { redisVerbs } from './redis/verbs.ts';
import { systemIo } from './system.ts';
import { upOptions, upSpec } from './up/spec.ts';
import { version } from './version.ts';

export { cliErrors };

/** Programs in between (npm, a shell) pass on a Ctrl-C that the terminal has sent us already: that is one, not two. */
const SAME_KEY_MS = 300;

/** What has verbs of its own. */
const groups: ReadonlyMap<string, readonly Verb[]> = new Map([
  ['redis', redisVerbs],
  ['agent', agentVerbs],
]);

function overview(): string {
  const lines = [
    'reeve — runs stateful data systems',
    '',
    'Usage: reeve redis VERB HOST:PORT [options]',
    '       reeve agent VERB [options]',
    `       reeve ${upSpec.name} ${upSpec.takes}`,
    '',
    `  ${upSpec.name.padEnd(18)}${upSpec.summary}`,
    '',
    'Verbs of reeve redis:',
    ...redisVerbs.map(({ spec }) => `  ${spec.name.padEnd(18)}${spec.summary}`),
    '',
    'Agents:',
    ...agentVerbs.map(({ spec }) => `  ${spec.name.padEnd(18)}${spec.summary}`),
    '',
    'reeve redis VERB --help shows what a verb takes. --version shows the version.',
    '',
    'Exit codes: 0 done (check: clean); 1 failed, or check found something; 2 the command line is wrong;',
    '3 refused or not approved, nothing was changed unless it says so; 130 stopped by Ctrl-C.',
    '',
  ];
  return lines.join('\n');
}

/** Runs one command line. Never throws; what it prints goes through `io`. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  const stop = new AbortController();
  let stoppedAt: number | undefined;
  const release = io.onInterrupt(() => {
    const now = io.ports.clock.now();
    if (stoppedAt !== undefined) {
      if (now - stoppedAt >= SAME_KEY_MS) io.exitNow(exit.interrupted);
      return;
    }
    stoppedAt = now;
    io.err('\nstopping at a safe place (Ctrl-C again: at once)\n');
    stop.abort(new ReeveError('INTERRUPTED', 'stopped by Ctrl-C'));
  });
  try {
    return await dispatch(argv, io, stop.signal);
  } catch (error) {
    return fail(io, argv, error);
  } finally {
    release();
  }
}

async function dispatch(argv: readonly string[], io: Io, signal: AbortSignal): Promise<ExitCode> {
  const [system, name, ...rest] = argv;
  if (system === undefined || system === 'help' || system === '--help' || system === '-h') {
    io.out(overview());
    return system === undefined ? exit.usage : exit.ok;
  }
  if (system === '--version') {
    io.out(`reeve ${version}\n`);
    return exit.ok;
  }
  if (system === upSpec.name) return runUp(argv.slice(1), io, signal);
  const verbs = groups.get(system);
  if (!verbs) throw usage(`'${system}' is not a command: reeve redis VERB, reeve agent VERB, or reeve up`);
  if (name === undefined || name === '--help' || name === '-h') {
    io.out(overview());
    return name === undefined ? exit.usage : exit.ok;
  }
  const names = verbs.map(({ spec }) => spec.name.slice(system.length + 1));
  const verb = verbs[names.indexOf(name)];
  if (!verb) {
    const near = nearest(name, names);
    throw usage(
      `'${name}' is not a verb of reeve ${system}${near ? `; did you mean ${near}?` : `: ${names.join(', ')}`}`,
    );
  }
  const ended = await verb.run(rest, io, signal);
  if (ended !== 'help') return ended;
  io.out(helpText(verb.spec));
  return exit.ok;
}

/** Loaded when it is asked for: the other commands do without a server. */
async function runUp(argv: readonly string[], io: Io, signal: AbortSignal): Promise<ExitCode> {
  const { values, words, help } = parseLine(upOptions, argv);
  if (help) {
    io.out(helpText(upSpec));
    return exit.ok;
  }
  const { up } = await import('./up/up.ts');
  return up({ words, values, io, signal });
}

function fail(io: Io, argv: readonly string[], error: unknown): ExitCode {
  const known = asReeveError(error);
  const code = exitCodeOf(known.code);
  // A bug of ours is reported with where it happened; anything else is told in one line.
  const trace = known.code === 'INTERNAL' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  if (argv.includes('--json')) {
    const { code: name, message, subjects } = known;
    const command = argv.slice(0, 2).join(' ');
    const status = code === exit.refused ? 'refused' : 'failed';
    io.out(`${JSON.stringify({ command, ok: false, status, error: { code: name, message, subjects } })}\n`);
    if (trace !== '') io.err(`${trace.trimStart()}\n`);
    return code;
  }
  const style = styleFor(io.errIsTerminal, io.env);
  io.err(`${style.red(`reeve: ${known.message}`)} [${known.code}]${trace}\n`);
  const remedy = known.code === 'USAGE' ? helpFor(argv) : remedyOf(known.code);
  if (remedy !== undefined) io.err(`    → ${remedy}\n`);
  return code;
}

/** The closest help there is. */
function helpFor([system, name]: readonly string[]): string {
  if (system === upSpec.name) return `reeve ${upSpec.name} --help`;
  const verb = groups.get(system ?? '')?.find(({ spec }) => spec.name === `${system ?? ''} ${name ?? ''}`);
  return `reeve ${verb ? `${verb.spec.name} ` : ''}--help`;
}

/** For bin/reeve.js: this process's arguments, its terminal, its exit code. */
export async function runCli(): Promise<void> {
  process.exitCode = await main(process.argv.slice(2), systemIo);
}
