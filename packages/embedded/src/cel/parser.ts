/**
 * From tokens to a tree. The grammar is that of the language's definition; the words of syntax errors are those of the
 * generated parser that the real server uses, as far as they could be found out (docs/designs/0008-cel.md).
 */
import { type Call, type Expr, type MapEntry, qualifiedName } from './ast.ts';
import type { Issue } from './issue.ts';
import { type Token, tokenize } from './lexer.ts';
import { expandMacro } from './macros.ts';
import { characterCount, Uint } from './value.ts';

/** Nested or chained deeper than this is refused: the tree is walked by recursion. */
const DEEPEST = 250;
const LONGEST = 100_000;
/** After a syntax error nothing that follows is worth telling. */
class GiveUp extends Error {}

const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const starts = "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";
const startTypes = new Set(['[', '{', '(', ...starts.replaceAll("'", '').split(', ')]);
const relations = ['<', '<=', '>=', '>', '==', '!=', 'in'];

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

export function parse(text: string): { readonly expr?: Expr; readonly issues: readonly Issue[] } {
  const size = characterCount(text);
  if (size > LONGEST) {
    return {
      issues: [{ at: 0, message: `expression code point size exceeds limit: size: ${size}, limit ${LONGEST}` }],
    };
  }
  const { tokens, issues } = tokenize(text);
  const parser = new Parser(tokens, issues);
  const expr = parser.run();
  return expr && parser.issues.length === 0 ? { expr, issues: [] } : { issues: parser.issues };
}

class Parser {
  readonly issues: Issue[];
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], issues: readonly Issue[]) {
    this.#tokens = tokens;
    this.issues = [...issues];
  }

  run(): Expr | undefined {
    try {
      const expr = this.#expr();
      if (this.#token.type !== '<EOF>') {
        const problem = this.#following === '<EOF>' ? 'extraneous' : 'mismatched';
        this.#syntax(`${problem} input '${this.#token.text}' expecting <EOF>`);
      }
      return expr;
    } catch (error) {
      if (error instanceof GiveUp) return undefined;
      throw error;
    }
  }

  #expr(): Expr {
    this.#deeper();
    const condition = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
    const question = this.#take('?');
    if (!question) {
      this.#depth--;
      return condition;
    }
    const yes = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
    this.#expect(':');
    const no = this.#expr();
    this.#depth--;
    return call(question.at, '_?_:_', [condition, yes, no]);
  }

  /** A chain becomes a balanced tree, so that a long one is not deep. */
  #logical(sign: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const places: number[] = [];
    for (let token = this.#take(sign); token; token = this.#take(sign)) {
      places.push(token.at);
      terms.push(operand());
    }
    const build = (from: number, to: number): Expr => {
      if (from === to) return terms[from] as Expr;
      const middle = Math.floor((from + to - 1) / 2);
      return call(places[middle] as number, name, [build(from, middle), build(middle + 1, to)]);
    };
    return build(0, terms.length - 1);
  }

  #relation(): Expr {
    return this.#chain(relations, () =>
      this.#chain(['+', '-'], () => this.#chain(['*', '/', '%'], () => this.#unary())),
    );
  }

  #chain(signs: readonly string[], operand: () => Expr): Expr {
    const before = this.#depth;
    let left = operand();
    for (let token = this.#takeOne(signs); token; token = this.#takeOne(signs)) {
      this.#deeper();
      left = call(token.at, token.type === 'in' ? '@in' : `_${token.type}_`, [left, operand()]);
    }
    this.#depth = before;
    return left;
  }

  #unary(): Expr {
    const sign = this.#token;
    if (sign.type !== '!' && sign.type !== '-') return this.#member();
    let count = 0;
    while (this.#token.type === sign.type) {
      if (sign.type === '-' && this.#nextIsNumber()) break;
      this.#index++;
      count++;
    }
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return call(sign.at, sign.type === '!' ? '!_' : '-_', [operand]);
  }

  #nextIsNumber(): boolean {
    return ['NUM_INT', 'NUM_FLOAT'].includes(this.#tokens[this.#index + 1]?.type ?? '');
  }

  #member(): Expr {
    const before = this.#depth;
    let expr = this.#primary();
    for (;;) {
      const token = this.#token;
      if (token.type === '.') {
        this.#index++;
        expr = this.#selection(expr, token.at);
      } else if (token.type === '[') {
        this.#index++;
        const optional = this.#take('?');
        const index = this.#expr();
        this.#expect(']');
        expr = call(token.at, optional ? '_[?_]' : '_[_]', [expr, index]);
      } else if (token.type === '{' && qualifiedName(expr) !== undefined) {
        expr = this.#struct(qualifiedName(expr) as string);
      } else {
        this.#depth = before;
        return expr;
      }
      this.#deeper();
    }
  }

  #selection(operand: Expr, at: number): Expr {
    const optional = this.#take('?');
    const field = this.#token;
    if (field.type === 'ESC_IDENTIFIER') {
      this.#index++;
      this.#report(field.at, "unsupported syntax: '`'");
      return operand;
    }
    if (field.type !== 'IDENTIFIER')
      this.#syntax(`no viable alternative at input '.${field.type === '<EOF>' ? '' : field.text}'`);
    this.#index++;
    const open = optional ? undefined : this.#take('(');
    if (open) return this.#called(open.at, field.text, operand);
    if (!optional) return { kind: 'select', at, operand, field: field.text, test: false };
    return call(at, '_?._', [operand, { kind: 'literal', at: field.at, value: field.text }]);
  }

  #called(at: number, name: string, target: Expr | undefined): Expr {
    const args: Expr[] = [];
    if (!this.#take(')')) {
      do args.push(this.#expr());
      while (this.#take(','));
      this.#expect(')');
    }
    const expanded = expandMacro(at, name, target, args);
    if (expanded === undefined) return { kind: 'call', at, name, target, args };
    if ('kind' in expanded) return expanded;
    this.#report(expanded.at, expanded.message);
    return { kind: 'literal', at, value: null };
  }

  #primary(): Expr {
    const token = this.#token;
    this.#index++;
    switch (token.type) {
      case '(': {
        const expr = this.#expr();
        this.#expect(')');
        return expr;
      }
      case '[':
        return this.#list(token.at);
      case '{':
        return this.#map(token.at);
      case '.':
      case 'IDENTIFIER':
        return this.#identifier(token);
      default:
        return this.#literal(token);
    }
  }

  #identifier(token: Token): Expr {
    const isAbsolute = token.type === '.';
    const identifier = isAbsolute ? this.#token : token;
    if (isAbsolute) this.#expect('IDENTIFIER');
    if (reserved.has(identifier.text)) this.#report(identifier.at, `reserved identifier: ${identifier.text}`);
    const open = this.#take('(');
    if (open) return this.#called(open.at, identifier.text, undefined);
    return { kind: 'ident', at: identifier.at, name: identifier.text };
  }

  #list(at: number): Expr {
    const elements: Expr[] = [];
    const optional = new Set<number>();
    while (this.#token.type !== ']') {
      if (this.#take('?')) optional.add(elements.length);
      elements.push(this.#expr());
      if (!this.#take(',')) break;
    }
    this.#expect(']');
    return { kind: 'list', at, elements, optional };
  }

  #map(at: number): Expr {
    const entries: MapEntry[] = [];
    while (this.#token.type !== '}') {
      const optional = this.#take('?') !== undefined;
      const key = this.#expr();
      this.#expect(':');
      entries.push({ key, value: this.#expr(), optional });
      if (!this.#take(',')) break;
    }
    this.#expect('}');
    return { kind: 'map', at, entries };
  }

  #struct(name: string): Expr {
    const at = this.#token.at;
    this.#expect('{');
    const values: Expr[] = [];
    while (this.#token.type !== '}') {
      this.#take('?');
      this.#expect('IDENTIFIER');
      this.#expect(':');
      values.push(this.#expr());
      if (!this.#take(',')) break;
    }
    this.#expect('}');
    return { kind: 'struct', at, name, values };
  }

  #literal(token: Token): Expr {
    const literal = (value: Extract<Expr, { kind: 'literal' }>['value']): Expr => ({
      kind: 'literal',
      at: token.at,
      value,
    });
    switch (token.type) {
      case 'true':
      case 'false':
        return literal(token.type === 'true');
      case 'null':
        return literal(null);
      case 'STRING':
      case 'BYTES':
        if (token.value === undefined) this.#report(token.at, 'unable to unescape string');
        return literal(token.value ?? '');
      case 'NUM_INT':
        return literal(this.#int(token, ''));
      case 'NUM_UINT':
        return literal(this.#uint(token));
      case 'NUM_FLOAT':
        return literal(this.#double(token, ''));
      case '-': {
        const number = this.#token;
        this.#index++;
        if (number.type === 'NUM_INT') return literal(this.#int({ ...number, at: token.at }, '-'));
        if (number.type === 'NUM_FLOAT') return literal(this.#double({ ...number, at: token.at }, '-'));
        return this.#unexpected(number);
      }
      default:
        return this.#unexpected(token);
    }
  }

  #int(token: Token, sign: '' | '-'): bigint {
    const value = sign === '-' ? -BigInt(token.text) : BigInt(token.text);
    if (value < INT_MIN || value > INT_MAX) this.#report(token.at, 'invalid int literal');
    return value;
  }

  #uint(token: Token): Uint {
    const value = BigInt(token.text.slice(0, -1));
    if (value > UINT_MAX) this.#report(token.at, 'invalid uint literal');
    return new Uint(value);
  }

  #double(token: Token, sign: '' | '-'): number {
    const value = Number(sign + token.text);
    if (!Number.isFinite(value)) this.#report(token.at, 'invalid double literal');
    return value;
  }

  #unexpected(token: Token): never {
    this.#index--;
    const problem = token.type !== '<EOF>' && startTypes.has(this.#following) ? 'extraneous' : 'mismatched';
    const before = this.#tokens[this.#index - 1];
    const brackets = before?.type === '(' && this.#isCall() ? "'[', '{', '(', ')'" : "'[', '{', '('";
    return this.#syntax(`${problem} input '${token.text}' expecting {${brackets}, ${starts}}`);
  }

  /** Whether the bracket just taken followed a name. */
  #isCall(): boolean {
    return this.#tokens[this.#index - 2]?.type === 'IDENTIFIER';
  }

  /** What stands after the present token. */
  get #following(): string {
    return this.#tokens[this.#index + 1]?.type ?? '<EOF>';
  }

  get #token(): Token {
    return this.#tokens[Math.min(this.#index, this.#tokens.length - 1)] as Token;
  }

  #take(type: string): Token | undefined {
    const token = this.#token;
    if (token.type !== type) return undefined;
    this.#index++;
    return token;
  }

  #takeOne(types: readonly string[]): Token | undefined {
    return types.includes(this.#token.type) ? this.#take(this.#token.type) : undefined;
  }

  #expect(type: string): void {
    if (this.#take(type)) return;
    const { text } = this.#token;
    if (type === ']' || type === '}') this.#syntax(`mismatched input '${text}' expecting {'${type}', ','}`);
    const fits = type === ':' ? startTypes.has(this.#token.type) : type === ')' && text === '<EOF>';
    const expected = type === 'IDENTIFIER' ? type : `'${type}'`;
    this.#syntax(fits ? `missing ${expected} at '${text}'` : `mismatched input '${text}' expecting ${expected}`);
  }

  #deeper(): void {
    if (++this.#depth <= DEEPEST) return;
    this.#report(this.#token.at, `expression recursion limit exceeded: ${DEEPEST}`);
    throw new GiveUp();
  }

  #syntax(message: string): never {
    this.#report(this.#token.at, `Syntax error: ${message}`);
    throw new GiveUp();
  }

  #report(at: number, message: string): void {
    this.issues.push({ at, message });
  }
}

function call(at: number, name: string, args: readonly Expr[]): Call {
  return { kind: 'call', at, name, args };
}
