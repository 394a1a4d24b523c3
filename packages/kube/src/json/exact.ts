/**
 * The exact parser: one character after another, with a position for every complaint. Slow, and only asked when the fast
 * way (parse.ts) cannot answer: integers that a double does not hold, a suspicion of a key given twice, a broken text.
 */
import { KubeError } from '../errors/errors.ts';
import type { Json } from './parse.ts';

const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
/** Everything up to the end of a string or its next escape. */
const plain = /[^"\\]*/y;
/** Below it are the control characters, which a string holds only escaped. */
const FIRST_PRINTABLE = 32;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const MOST_DIGITS_SHOWN = 20;
const shortened = (digits: string): string =>
  digits.length > MOST_DIGITS_SHOWN ? `${digits.slice(0, MOST_DIGITS_SHOWN)}…` : digits;

export function parseExactly(text: string, maxDepth: number): Json {
  return new ExactParser(text, maxDepth).document();
}

class ExactParser {
  readonly #text: string;
  readonly #maxDepth: number;
  /** Keys and indexes down to here, to name the place. */
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  document(): Json {
    this.#space();
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail(`unexpected ${this.#here()} after the value`);
    return value;
  }

  #value(): Json {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(): Json {
    this.#enter();
    const result: Record<string, Json> = {};
    const seen = new Set<string>();
    if (!this.#take('}')) {
      do {
        this.#space();
        const start = this.#at;
        if (this.#text[start] !== '"') this.#fail(`expected a key, found ${this.#here()}`);
        const key = this.#string();
        if (key === '__proto__') this.#fail('the key __proto__ is refused', start);
        if (seen.has(key)) this.#fail(`the key ${JSON.stringify(key)} is given twice`, start);
        seen.add(key);
        if (!this.#take(':')) this.#fail(`expected ':', found ${this.#here()}`);
        this.#path.push(key);
        this.#space();
        result[key] = this.#value();
        this.#path.pop();
      } while (this.#take(','));
      if (!this.#take('}')) this.#fail(`expected ',' or '}', found ${this.#here()}`);
    }
    return result;
  }

  #array(): Json {
    this.#enter();
    const result: Json[] = [];
    if (!this.#take(']')) {
      do {
        this.#path.push(result.length);
        this.#space();
        result.push(this.#value());
        this.#path.pop();
      } while (this.#take(','));
      if (!this.#take(']')) this.#fail(`expected ',' or ']', found ${this.#here()}`);
    }
    return result;
  }

  #enter(): void {
    // The path is as long as the number of objects and arrays around this one.
    if (this.#path.length >= this.#maxDepth) this.#fail(`nested deeper than ${this.#maxDepth}`);
    this.#at++;
  }

  #string(): string {
    const start = this.#at++;
    let result = '';
    for (;;) {
      plain.lastIndex = this.#at;
      const run = plain.exec(this.#text)?.[0] ?? '';
      for (let i = 0; i < run.length; i++) {
        if (run.charCodeAt(i) < FIRST_PRINTABLE) this.#fail('a control character in a string', this.#at + i);
      }
      result += run;
      this.#at += run.length;
      const stop = this.#text[this.#at];
      if (stop === '"') break;
      if (stop === undefined) this.#fail('a string without an end', start);
      result += this.#escape();
    }
    this.#at++;
    return result;
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? '';
    const simple = escapes[letter];
    if (simple !== undefined) {
      this.#at += 2;
      return simple;
    }
    const digits = this.#text.slice(this.#at + 2, this.#at + 6);
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail('an escape that JSON does not have');
    this.#at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #number(): number | bigint {
    number.lastIndex = this.#at;
    const match = number.exec(this.#text);
    if (!match) this.#fail(`unexpected ${this.#here()}`);
    const value = Number(match[0]);
    // It would be written as null. Kubernetes refuses it, too, and so no integer is longer than 309 digits.
    if (!Number.isFinite(value)) this.#fail(`the number ${shortened(match[0])} is larger than any that a double holds`);
    this.#at = number.lastIndex;
    const isInteger = match[1] === undefined && match[2] === undefined;
    return isInteger && !Number.isSafeInteger(value) ? BigInt(match[0]) : value;
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail(`unexpected ${this.#here()}`);
    this.#at += word.length;
    return value;
  }

  #take(mark: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'end')) this.#at++;
  }

  #here(): string {
    const one = this.#text.codePointAt(this.#at);
    return one === undefined ? 'the end' : JSON.stringify(String.fromCodePoint(one));
  }

  #fail(problem: string, at = this.#at): never {
    const before = this.#text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    const path = this.#path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
    const place = path.length > 200 ? `${path.slice(0, 200)}…` : path;
    throw new KubeError('KUBE_JSON', `${problem} at line ${line}, column ${column}${place && `, in ${place}`}`);
  }
}
