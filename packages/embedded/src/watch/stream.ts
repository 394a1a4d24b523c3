/**
 * The body of a watch: lines as they come, for one reader. What existed before is made while it is read; what happens
 * meanwhile waits in a queue of lines that all watchers share. A reader too slow for its queue is dropped: it can resume
 * from the last version it saw, and the server's memory is not its buffer.
 */
import type { Line } from './line.ts';

/** About as much as is given out at once. */
const CHUNK = 64 * 1024;

type Form = (line: Line) => Buffer;

export class WatchStream implements AsyncIterable<Uint8Array> {
  readonly #maxBytes: number;
  readonly #onEnd: () => void;
  readonly #ended = Promise.withResolvers<void>();
  #initial: Iterator<Line, void, undefined> | undefined;
  #queue: Line[] = [];
  #bytes = 0;
  #isOver = false;
  #isDropped = false;
  #error: { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(initial: Iterator<Line, void, undefined> | undefined, maxBytes: number, onEnd: () => void) {
    this.#initial = initial;
    this.#maxBytes = maxBytes;
    this.#onEnd = onEnd;
  }

  /** Resolves when nothing more will come, also for a reader that does not ask. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Its reader was too slow. What it has not taken yet should not wait for it anywhere. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  push(line: Line): void {
    if (this.#isOver) return;
    this.#queue.push(line);
    this.#bytes += line.bytes.length;
    if (this.#bytes > this.#maxBytes) {
      this.#queue = [];
      this.#initial = undefined;
      this.#isDropped = true;
      this.end();
    } else this.#wake?.();
  }

  /** What is queued is still given out. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
    this.#ended.resolve();
    this.#wake?.();
  }

  /** Nothing more is given out; whoever waits gets the reason. */
  fail(reason: unknown): void {
    this.#error ??= { reason };
    this.end();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, void, undefined> {
    return this.#reader(({ bytes }) => bytes);
  }

  /** The same in chunks of HTTP/1.1, without the one that ends it. */
  chunks(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => this.#reader(({ chunk }) => chunk) };
  }

  #reader(form: Form): AsyncIterator<Uint8Array, void, undefined> {
    return {
      next: () => this.#next(form),
      return: () => {
        this.#queue = [];
        this.#initial = undefined;
        this.end();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async #next(form: Form): Promise<IteratorResult<Uint8Array, void>> {
    for (;;) {
      if (this.#error) throw this.#error.reason;
      const chunk = this.#begin(form) ?? this.#take(form);
      if (chunk !== undefined) return { done: false, value: chunk };
      if (this.#isOver) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  /** The next lines of what existed before; undefined when there are none left. */
  #begin(form: Form): Buffer | undefined {
    const lines: Line[] = [];
    let size = 0;
    while (this.#initial !== undefined && size < CHUNK) {
      const { done, value } = this.#initial.next();
      if (done === true) this.#initial = undefined;
      else {
        lines.push(value);
        size += value.bytes.length;
      }
    }
    return joined(lines, form);
  }

  #take(form: Form): Buffer | undefined {
    let count = 0;
    let size = 0;
    while (count < this.#queue.length && size < CHUNK) size += (this.#queue[count++] as Line).bytes.length;
    const lines = count === this.#queue.length ? this.#queue : this.#queue.slice(0, count);
    this.#queue = count === this.#queue.length ? [] : this.#queue.slice(count);
    this.#bytes -= size;
    return joined(lines, form);
  }
}

function joined(lines: readonly Line[], form: Form): Buffer | undefined {
  const [first] = lines;
  if (first === undefined) return undefined;
  return lines.length === 1 ? form(first) : Buffer.concat(lines.map(form));
}
