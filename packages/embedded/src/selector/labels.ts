/** Label selectors: `app=web,tier in (a,b),!old`. Refused in the server's words, in time linear in their length. */
import { each } from '../kinds/defaults/fill.ts';
import { type JsonObject, objectOf, textOf, textsOf } from '../object/draft.ts';
import { labelValueProblems, qualifiedName } from '../object/names.ts';
import { type FieldError, invalid, sentenceOf } from '../status/field-error.ts';
import { badRequest } from '../status/refusal.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelRequirement {
  readonly key: string;
  readonly operator: '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

export type LabelSelector = readonly LabelRequirement[];

/** Longer ones are refused before they are read: no honest client sends them, and a URL has an end, too. */
const MOST_LENGTH = 64 * 1024;

type Token = { readonly type: 'word' | 'end' | 'mark' | 'error'; readonly text: string };

const symbols = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];
const special = '=!(),><';
const space = ' \t\r\n';
const operators = ['=', '==', '!=', 'in', 'notin', '>', '<'];
/** As the server lists them in its complaint. */
const OPERATORS_TEXT = 'in, notin, =, ==, !=, gt, lt';

export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > MOST_LENGTH) throw badRequest(`a label selector of more than ${MOST_LENGTH} characters`);
  return new LabelParser(text).selector();
}

class LabelParser {
  readonly #text: string;
  #at = 0;
  #token: Token;

  constructor(text: string) {
    this.#text = text;
    this.#token = this.#scan();
  }

  selector(): LabelSelector {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      if (this.#token.type === 'end') return requirements;
      if (!this.#beginsRequirement()) this.#expected("!, identifier, or 'end of string'");
      requirements.push(this.#requirement());
      if (this.#is('end')) return requirements;
      if (!this.#take(',')) this.#expected("',' or 'end of string'");
      if (!this.#beginsRequirement()) this.#expected("identifier after ','");
    }
  }

  #beginsRequirement(): boolean {
    return this.#token.type === 'word' || this.#token.text === '!';
  }

  #requirement(): LabelRequirement {
    const negated = this.#take('!');
    if (this.#token.type !== 'word') this.#expected('identifier', true);
    const key = this.#token.text;
    const problems = qualifiedName(key);
    if (problems.length > 0) throw unreadable(sentenceOf([invalid('<nil>', key, problems.join('; '))]));
    this.#next();
    if (this.#is('end') || this.#token.text === ',') return { key, operator: negated ? '!' : 'exists', values: [] };
    return this.#valued(key);
  }

  #valued(key: string): LabelRequirement {
    const { text } = this.#token;
    if (!operators.includes(text)) this.#expected(OPERATORS_TEXT, true);
    this.#next();
    const values = text === 'in' || text === 'notin' ? this.#values() : [this.#value()];
    const names = { '=': '=', '==': '=', '!=': '!=', in: 'in', notin: 'notin', '>': 'gt', '<': 'lt' } as const;
    const operator = names[text as keyof typeof names];
    const errors: FieldError[] = [];
    values.forEach((value, index) => {
      if ((operator === 'gt' || operator === 'lt') && !/^[+-]?\d{1,18}$/.test(value)) {
        errors.push(invalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      const problems = labelValueProblems(value);
      if (problems.length > 0) errors.push(invalid(`values[${index}][${key}]`, value, problems.join('; ')));
    });
    if (errors.length > 0) throw unreadable(sentenceOf(errors));
    return { key, operator, values };
  }

  #value(): string {
    if (this.#is('end') || this.#token.text === ',') return '';
    if (this.#token.type !== 'word') this.#expected('identifier', true);
    const { text } = this.#token;
    this.#next();
    return text;
  }

  #values(): readonly string[] {
    if (!this.#take('(')) throw unreadable(`found '${this.#token.text}' expected: '('`);
    const values = new Set<string>();
    let isAfterWord = false;
    while (!this.#take(')')) {
      if (this.#token.type === 'word' && !isAfterWord) {
        values.add(this.#token.text);
        isAfterWord = true;
        this.#next();
      } else if (this.#take(',')) {
        // An empty place before, between or after commas is the empty value.
        if (!isAfterWord || this.#token.text === ')') values.add('');
        isAfterWord = false;
      } else {
        this.#expected(isAfterWord ? "',' or ')'" : "',', ')' or identifier", true);
      }
    }
    return values.size === 0 ? [''] : [...values].sort();
  }

  #is(type: Token['type']): boolean {
    return this.#token.type === type;
  }

  #take(mark: string): boolean {
    if (this.#token.type !== 'mark' || this.#token.text !== mark) return false;
    this.#next();
    return true;
  }

  #next(): void {
    this.#token = this.#scan();
  }

  #scan(): Token {
    while (this.#at < this.#text.length && space.includes(this.#text.charAt(this.#at))) this.#at++;
    const start = this.#at;
    if (start >= this.#text.length) return { type: 'end', text: '' };
    const symbol = symbols.find((one) => this.#text.startsWith(one, start));
    if (symbol !== undefined) {
      this.#at += symbol.length;
      return { type: 'mark', text: symbol };
    }
    while (this.#at < this.#text.length && !`${special}${space}`.includes(this.#text.charAt(this.#at))) this.#at++;
    const text = this.#text.slice(start, this.#at);
    // Words are words everywhere but where an operator stands; `#valued` knows.
    return { type: 'word', text };
  }

  #expected(what: string, inRequirement = false): never {
    const text = `found '${this.#token.text}', expected: ${what}`;
    throw inRequirement ? unreadable(text) : badRequest(text);
  }
}

const unreadable = (why: string) => badRequest(`unable to parse requirement: ${why}`);

export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case 'exists':
        return value !== undefined;
      case '!':
        return value === undefined;
      case '=':
      case 'in':
        return value !== undefined && values.includes(value);
      case '!=':
      case 'notin':
        return value === undefined || !values.includes(value);
      case 'gt':
      case 'lt':
        return value !== undefined && /^[+-]?\d{1,18}$/.test(value) && compare(value, values[0] as string, operator);
    }
  });
}

function compare(value: string, limit: string, operator: 'gt' | 'lt'): boolean {
  return operator === 'gt' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
}

/** A selector as it stands in objects (`matchLabels`, `matchExpressions`), written as a query has it. */
export function selectorText(selector: JsonObject): string {
  const equal = Object.entries(objectOf(selector.matchLabels)).map(([key, value]) => `${key}=${textOf(value)}`);
  const others = each(selector, 'matchExpressions').map(({ key, operator, values }) => {
    const list = `(${[...textsOf(values)].sort().join(',')})`;
    switch (operator) {
      case 'In':
        return `${textOf(key)} in ${list}`;
      case 'NotIn':
        return `${textOf(key)} notin ${list}`;
      case 'DoesNotExist':
        return `!${textOf(key)}`;
      default:
        return textOf(key);
    }
  });
  return [...equal, ...others].sort().join(',');
}
