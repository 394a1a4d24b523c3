/**
 * Regular expressions of people we do not know, over text of people we do not know: RE2's syntax, no backtracking. Time
 * is bounded by length of text times size of the pattern, and that is bounded too.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** Asked for by the first pattern, not by the start: it is large, and many servers never meet a pattern. */
const load = createRequire(import.meta.url);

/** What matching may take, in characters times instructions: some seconds at the very worst, usually milliseconds. */
const MOST_STEPS = 40_000_000;

export class PatternTooDear extends Error {}

export class Pattern {
  readonly #compiled: RE2JS;

  private constructor(compiled: RE2JS) {
    this.#compiled = compiled;
  }

  /** The pattern, or what is wrong with it in Go's words. */
  static compile(source: string): Pattern | string {
    const engine = load('re2js') as typeof import('re2js');
    try {
      return new Pattern(engine.RE2JS.compile(source));
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** What matching takes at most. */
  steps(text: string): number {
    return (text.length + 1) * this.#compiled.programSize();
  }

  /** Whether it occurs anywhere. */
  test(text: string): boolean {
    this.#afford(text);
    return this.#compiled.test(text);
  }

  /** The first occurrence, or nothing. */
  find(text: string): string {
    return this.findAll(text, 1)[0] ?? '';
  }

  /** At most `most` occurrences, all of them if it is negative. */
  findAll(text: string, most: number): string[] {
    this.#afford(text);
    const found: string[] = [];
    const matcher = this.#compiled.matcher(text);
    while (found.length !== most && matcher.find()) found.push(matcher.group() ?? '');
    return found;
  }

  #afford(text: string): void {
    if (this.steps(text) > MOST_STEPS) throw new PatternTooDear('the text is too long for this pattern');
  }
}
