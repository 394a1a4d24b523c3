/** One process of the control plane: started until it is ready, killed, paused, started again with the same arguments. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Program } from '../binaries/program.ts';
import { spawnGuarded } from '../servers/process.ts';
import { until } from '../servers/until.ts';

/** A server that a busy machine starves may take this long; a broken one says so by ending. */
const READY_WITHIN_MS = 90_000;
const TAIL = 3_000;

export interface PartSetup {
  readonly program: Program;
  readonly args: readonly string[];
  readonly folder: string;
  readonly logFile: string;
  isReady(): Promise<boolean>;
  readonly readyWithinMs?: number;
}

export class Part {
  readonly program: Program;
  readonly logFile: string;
  readonly #setup: PartSetup;
  #child: ChildProcess | undefined;

  constructor(setup: PartSetup) {
    this.#setup = setup;
    this.program = setup.program;
    this.logFile = setup.logFile;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when it is ready; rejects with the end of its log when it ends instead, or takes too long. */
  async start(): Promise<void> {
    if (this.isRunning) return;
    const { program, args, folder, isReady, readyWithinMs = READY_WITHIN_MS } = this.#setup;
    writeFileSync(this.logFile, '', { flag: 'a' });
    const before = readFileSync(this.logFile, 'utf8').length;
    const child = spawnGuarded(program, args, folder, this.logFile);
    this.#child = child;
    let ended: string | undefined;
    child.once('exit', (code, signal) => (ended = `ended with ${signal ?? code}`));
    child.once('error', (error) => (ended = error.message));
    try {
      await until(`${program.name} is ready`, async () => ended !== undefined || (await isReady()), {
        timeoutMs: readyWithinMs,
        everyMs: 50,
      });
      if (ended !== undefined) throw new Error(`${program.name} ${ended}`);
      // A test that failed and forgot it can end; then it ends, too.
      child.unref();
    } catch (error) {
      await this.kill9();
      const log = readFileSync(this.logFile, 'utf8').slice(before).trimEnd().slice(-TAIL);
      const message = error instanceof Error ? error.message : String(error);
      throw new PartFailed(`${message}\nthe end of its log:\n${log}`, log, { cause: error });
    }
  }

  /** SIGKILL, and gone. What it wrote stays: `start` brings it back. */
  kill9(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** SIGTERM, and gone. kube-apiserver waits a minute for watches over HTTP/1.1. */
  terminate(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** With the same ports, folder and arguments. */
  async restart(): Promise<void> {
    await this.kill9();
    await this.start();
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || !this.isRunning || child.pid === undefined) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.ref();
    child.kill(signal);
    // A paused process hears nothing but SIGKILL.
    child.kill('SIGCONT');
    await gone;
  }
}

/** A process of the control plane did not come up. */
export class PartFailed extends Error {
  readonly log: string;

  constructor(message: string, log: string, options: ErrorOptions) {
    super(message, options);
    this.log = log;
  }

  /** Somebody else took the port between our look and its start: another one may do. */
  get isPortTaken(): boolean {
    return this.log.includes('address already in use');
  }
}
