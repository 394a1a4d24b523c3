/** A child process that is asked one thing at a time. */
import { type ChildProcess, fork } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command line's own (bin/reeve.js): code that ran before need not be compiled again. */
const COMPILED = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reeve', 'compile');

export class Child {
  readonly #process: ChildProcess;

  constructor(script: string) {
    this.#process = fork(fileURLToPath(new URL(script, import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
    });
  }

  /** What it says next. */
  next<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`a child of the benchmark ended with ${code}`));
      this.#process.once('exit', onExit);
      this.#process.once('message', (message) => {
        this.#process.off('exit', onExit);
        resolve(message as T);
      });
    });
  }

  ask<T>(order: object): Promise<T> {
    const answer = this.next<T>();
    this.#process.send(order);
    return answer;
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.disconnect();
    await gone;
  }
}
