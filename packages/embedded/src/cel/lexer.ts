/** From text to tokens. Positions are in characters (code points), as messages count them. */
import type { Issue } from './issue.ts';
import { type Quoted, readQuoted } from './quoted.ts';

export interface Token {
  /** A sign or keyword itself, or the name of a class: IDENTIFIER, NUM_INT, STRING … */
  readonly type: string;
  readonly text: string;
  readonly at: number;
  /** What a STRING or BYTES token says; absent when it has an escape that stands for nothing. */
  readonly value?: string | Uint8Array;
}

const signs = new Set('== != <= >= && || < > [ ] { } ( ) . , - ! ? : + * / %'.split(' '));
const words = new Set(['in', 'true', 'false', 'null']);

export function tokenize(text: string): { readonly tokens: readonly Token[]; readonly issues: readonly Issue[] } {
  const lexer = new Lexer(text);
  return { tokens: lexer.run(), issues: lexer.issues };
}

class Lexer {
  readonly issues: Issue[] = [];
  readonly #characters: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#characters = Array.from(text);
  }

  run(): readonly Token[] {
    const tokens: Token[] = [];
    for (;;) {
      this.#skip();
      if (this.#at >= this.#characters.length) break;
      const token = this.#next();
      if (token) tokens.push(token);
    }
    tokens.push({ type: '<EOF>', text: '<EOF>', at: this.#characters.length });
    return tokens;
  }

  #skip(): void {
    for (;;) {
      while (/^[\t \r\n\f]$/.test(this.#peek())) this.#at++;
      if (this.#peek() !== '/' || this.#peek(1) !== '/') return;
      while (this.#at < this.#characters.length && this.#peek() !== '\n') this.#at++;
    }
  }

  #next(): Token | undefined {
    const start = this.#at;
    const quoted = readQuoted(this.#characters, start);
    if (quoted) return this.#quoted(start, quoted);
    if (/^[0-9]$/.test(this.#peek()) || (this.#peek() === '.' && /^[0-9]$/.test(this.#peek(1)))) return this.#number();
    if (/^[A-Za-z_]$/.test(this.#peek())) {
      while (/^[A-Za-z0-9_]$/.test(this.#peek())) this.#at++;
      const text = this.#from(start);
      return { type: words.has(text) ? text : 'IDENTIFIER', text, at: start };
    }
    if (this.#peek() === '`') return this.#escapedIdentifier();
    const two = this.#peek() + this.#peek(1);
    const sign = [two, this.#peek()].find((one) => signs.has(one));
    this.#at += sign?.length ?? 1;
    if (sign !== undefined) return { type: sign, text: sign, at: start };
    return this.#unknown(start);
  }

  #quoted(start: number, quoted: Quoted): Token | undefined {
    this.#at = quoted.end;
    if (!quoted.isWhole) return this.#unknown(start);
    const token = { type: quoted.isBytes ? 'BYTES' : 'STRING', text: this.#from(start), at: start };
    return quoted.value === undefined ? token : { ...token, value: quoted.value };
  }

  #escapedIdentifier(): Token | undefined {
    const start = this.#at++;
    while (/^[A-Za-z0-9_./ -]$/.test(this.#peek())) this.#at++;
    if (this.#peek() !== '`' || this.#at === start + 1) return this.#unknown(start);
    this.#at++;
    return { type: 'ESC_IDENTIFIER', text: this.#from(start), at: start };
  }

  #number(): Token {
    const start = this.#at;
    if (this.#peek() === '0' && this.#peek(1) === 'x' && /^[0-9a-fA-F]$/.test(this.#peek(2))) {
      this.#at += 2;
      while (/^[0-9a-fA-F]$/.test(this.#peek())) this.#at++;
    } else {
      this.#digits();
      let isFloat = false;
      if (this.#peek() === '.' && /^[0-9]$/.test(this.#peek(1))) {
        isFloat = true;
        this.#at++;
        this.#digits();
      }
      if (/^[eE]$/.test(this.#peek())) {
        const signed = /^[+-]$/.test(this.#peek(1)) ? 2 : 1;
        if (/^[0-9]$/.test(this.#peek(signed))) {
          isFloat = true;
          this.#at += signed;
          this.#digits();
        }
      }
      if (isFloat) return { type: 'NUM_FLOAT', text: this.#from(start), at: start };
    }
    if (/^[uU]$/.test(this.#peek())) {
      this.#at++;
      return { type: 'NUM_UINT', text: this.#from(start), at: start };
    }
    return { type: 'NUM_INT', text: this.#from(start), at: start };
  }

  #digits(): void {
    while (/^[0-9]$/.test(this.#peek())) this.#at++;
  }

  #unknown(start: number): undefined {
    this.issues.push({ at: start, message: `Syntax error: token recognition error at: '${this.#from(start)}'` });
    return undefined;
  }

  #peek(ahead = 0): string {
    return this.#characters[this.#at + ahead] ?? '';
  }

  #from(start: number): string {
    return this.#characters.slice(start, this.#at).join('');
  }
}
