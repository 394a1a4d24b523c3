/**
 * A process of its own that is asked one thing at a time: lines of JSON to its input, an answer in JSON to each. Programs in any
 * language can play. It ends when its input does, so that none outlives us.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class LineProcess implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: string[] = [];
  #waiting: { resolve(line: string): void; reject(error: Error): void } | undefined;
  #complaints = '';
  #ended: string | undefined;

  constructor(name: string, { command, args, env = {} }: Started) {
    this.name = name;
    this.#child = spawn(command, args, { env: { ...process.env, ...env } });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints = (this.#complaints + text).slice(-2_000);
    });
    this.#child.stdin.on('error', () => undefined); // its end says more
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line));
    this.#child.on('error', (error) => this.#end(error.message));
    this.#child.on('close', (code, signal) => this.#end(`ended with ${signal ?? code}`));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it says next. */
  async next<T>(withinMs = 120_000): Promise<T> {
    const line = this.#lines.shift() ?? (await this.#wait(withinMs));
    return JSON.parse(line) as T;
  }

  ask<T>(order: object, withinMs?: number): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`);
    return this.next<T>(withinMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended !== undefined) return;
    const gone = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 2_000);
    await gone;
    clearTimeout(late);
  }

  #hear(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve(line);
    else this.#lines.push(line);
  }

  #end(why: string): void {
    this.#ended ??= why;
    this.#waiting?.reject(this.#failed(this.#ended));
    this.#waiting = undefined;
  }

  #wait(withinMs: number): Promise<string> {
    if (this.#ended !== undefined) return Promise.reject(this.#failed(this.#ended));
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting = undefined;
        reject(this.#failed(`no answer in ${withinMs} ms`));
      }, withinMs);
      this.#waiting = {
        resolve: (line) => {
          clearTimeout(late);
          resolve(line);
        },
        reject: (error) => {
          clearTimeout(late);
          reject(error);
        },
      };
    });
  }

  #failed(why: string): Error {
    return new Error(`${this.name}: ${why}\n${this.#complaints}`);
  }
}
