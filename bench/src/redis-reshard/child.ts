/** A child process that is asked one thing at a time. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export class Child {
  readonly #process: ChildProcess;

  constructor(script: string) {
    this.#process = fork(fileURLToPath(new URL(script, import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
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
