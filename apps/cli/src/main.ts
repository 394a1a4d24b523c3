/** The `reeve` command: finds the verb, runs it, turns errors into one line and an exit code. */
import { asReeveError, ReeveError } from '@reeve/runtime';
import { helpText, nearest } from './args.ts';
import { type Command, STOPPING } from './command.ts';
import { allCommands, sections } from './commands.ts';
import { endProcess } from './end-process.ts';
import { cliError, cliErrors, type ExitCode, exit, exitCodeOf, usage } from './errors.ts';
import { fileProblem, isOfTheMachine } from './file-problem.ts';
import type { Io } from './io.ts';
import { reportError } from './output/report.ts';
import { systemIo } from './system.ts';
import { version } from './version.ts';

export { cliErrors };

/** As shells tell of a program that wrote to nobody. */
const BROKEN_PIPE = 128 + 13;
/** Programs in between (npm, a shell) pass on a Ctrl-C that the terminal has sent us already: that is one, not two. */
const SAME_KEY_MS = 300;

function overview(): string {
  const lines = [
    'reeve — runs stateful data systems',
    '',
    'Usage: reeve COMMAND [options]',
    ...sections.flatMap(({ title, commands }) => [
      '',
      `${title}:`,
      ...commands.map(({ spec }) => `  ${spec.name.padEnd(18)}${spec.summary}`),
    ]),
    '',
    'reeve COMMAND --help shows what a command takes. --version shows the version.',
    '',
    'Exit codes: 0 done (check: clean); 1 failed, or check found something; 2 the command line is wrong;',
    '3 refused or not approved, nothing was changed unless it says so; 130 stopped by Ctrl-C before it was done.',
    'What runs until Ctrl-C (up, run, --watch, --follow) ends with 0 by it; exec ends as its command does.',
    '',
  ];
  return lines.join('\n');
}

/** Runs one command line. Never throws; what it prints goes through `io`. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  const stop = new AbortController();
  const keepsJournal = commandOf(argv)?.keepsJournal === true;
  let stoppedAt: number | undefined;
  const release = io.onInterrupt(() => {
    const now = io.ports.clock.now();
    if (stoppedAt !== undefined) {
      if (now - stoppedAt >= SAME_KEY_MS) io.exitNow(exit.interrupted);
      return;
    }
    stoppedAt = now;
    if (keepsJournal) io.err(STOPPING);
    stop.abort(new ReeveError('INTERRUPTED', 'stopped by Ctrl-C'));
  });
  try {
    return await dispatch(argv, io, stop.signal);
  } catch (error) {
    return await fail(io, argv, error);
  } finally {
    release();
  }
}

async function dispatch(argv: readonly string[], io: Io, signal: AbortSignal): Promise<ExitCode> {
  const [first, second] = argv;
  const isAskedForAll = (word: string | undefined) => word === undefined || word === '--help' || word === '-h';
  const isBareFamily = first !== undefined && verbsOf(first).length > 0 && isAskedForAll(second);
  if (isAskedForAll(first) || first === 'help' || isBareFamily) {
    io.out(overview());
    return argv.length === 0 || (isBareFamily && second === undefined) ? exit.usage : exit.ok;
  }
  if (first === '--version') {
    io.out(`reeve ${version}\n`);
    return exit.ok;
  }
  const command = commandOf(argv);
  if (!command) throw unknownCommand(argv);
  const ended = await command.run(argv.slice(command.spec.name.split(' ').length), io, signal);
  if (ended !== 'help') return ended;
  io.out(helpText(command.spec));
  return exit.ok;
}

function commandOf([first = '', second = '']: readonly string[]): Command | undefined {
  return allCommands.find(({ spec }) => spec.name === first || spec.name === `${first} ${second}`);
}

/** Of a command like `redis`, which does nothing by itself. */
function verbsOf(family: string): readonly string[] {
  return allCommands.flatMap(({ spec }) => {
    const [first, verb] = spec.name.split(' ');
    return first === family && verb !== undefined ? [verb] : [];
  });
}

function unknownCommand([first = '', second = '']: readonly string[]): ReeveError {
  const verbs = verbsOf(first);
  if (verbs.length === 0) {
    const near = nearest(first, [...new Set(allCommands.map(({ spec }) => spec.name.split(' ', 1)[0] ?? ''))]);
    return usage(`'${first}' is not a command${near === undefined ? '' : `; did you mean ${near}?`}`);
  }
  const near = nearest(second, verbs);
  return usage(
    `'${second}' is not a verb of reeve ${first}${near === undefined ? `: ${verbs.join(', ')}` : `; did you mean ${near}?`}`,
  );
}

async function fail(io: Io, argv: readonly string[], thrown: unknown): Promise<ExitCode> {
  const error = isOfTheMachine(thrown) ? cliError('MACHINE_REFUSED', asReeveError(thrown).message) : thrown;
  const known = asReeveError(error);
  const code = exitCodeOf(known.code);
  // There is nothing to go on with, and nothing to be done about it.
  if (known.code === 'INTERRUPTED' && commandOf(argv)?.keepsJournal !== true) {
    io.err(`reeve: ${known.message}\n`);
    return code;
  }
  const rest = argv.indexOf('--'); // what follows is for another program
  if (!argv.slice(0, rest === -1 ? undefined : rest).includes('--json')) {
    await reportError(io, error, known.code === 'USAGE' ? helpFor(argv) : undefined);
    return code;
  }
  const { code: name, message, subjects } = known;
  const command = argv.slice(0, 2).join(' ');
  const status = code === exit.refused ? 'refused' : 'failed';
  io.out(`${JSON.stringify({ command, ok: false, status, error: { code: name, message, subjects } })}\n`);
  if (name === 'INTERNAL' && error instanceof Error) io.err(`${error.stack ?? ''}\n`);
  return code;
}

/** The closest help there is. */
function helpFor(argv: readonly string[]): string {
  const command = commandOf(argv);
  return `reeve ${command ? `${command.spec.name} ` : ''}--help`;
}

/** For bin/reeve.js: this process's arguments, its terminal, its exit code. */
export async function runCli(): Promise<void> {
  // Whoever read us has seen enough: `reeve logs web-0 | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
    const why = fileProblem(error) ?? error.message;
    const told = reportError(systemIo, cliError('OUTPUT_UNWRITABLE', `the output cannot be written: ${why}`));
    void told.finally(() => process.exit(exit.failed));
  });
  // Nobody is left who could be told.
  process.stderr.on('error', () => process.exit(exit.failed));
  await endProcess(await main(process.argv.slice(2), systemIo));
}
