/** Runs a program to its end and collects what it printed. */
import { spawn } from 'node:child_process';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Written to stdin, which is closed then. */
  readonly input?: string;
}

/** Resolves with code 127 when the program does not exist: callers ask "is it there, and does it work?" in one go. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      env: { ...process.env, LC_ALL: 'C', ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', (error) => resolve({ code: 127, stdout, stderr: `${stderr}${error.message}` }));
    child.on('close', (code) => resolve({ code: code ?? 137, stdout, stderr }));
    // A program that ends without reading its input breaks the pipe; its exit code tells what matters.
    child.stdin.on('error', (error) => (stderr += error.message));
    child.stdin.end(options.input ?? '');
  });
}

export async function runOrThrow(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const finished = await run(command, args, options);
  if (finished.code !== 0) {
    throw new Error(`${command} ${args.join(' ')} ended with ${finished.code}: ${finished.stderr.trim().slice(-800)}`);
  }
  return finished.stdout;
}

/** Progress goes to stderr, so that stdout stays usable for data. */
export function say(line: string): void {
  process.stderr.write(`rig: ${line}\n`);
}
