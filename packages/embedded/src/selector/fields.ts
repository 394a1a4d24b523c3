/** Field selectors: `metadata.name=x,status.phase!=Running`, on the fields that a kind lets be selected. */
import { badRequest } from '../status/refusal.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

export type FieldSelector = readonly FieldRequirement[];

const MOST_LENGTH = 64 * 1024;

export function parseFieldSelector(text: string): FieldSelector {
  if (text.length > MOST_LENGTH) throw badRequest(`a field selector of more than ${MOST_LENGTH} characters`);
  return termsOf(text)
    .filter((term) => term !== '')
    .map((term) => {
      const match = /^(?<field>.*?)(?<operator>!=|==|=)(?<value>.*)$/s.exec(term)?.groups;
      if (match === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const { field = '', operator, value = '' } = match;
      return { field, equal: operator !== '!=', value: unescaped(value) };
    });
}

/** Cut at commas that are not escaped. */
function termsOf(text: string): readonly string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescaped(text: string): string {
  let result = '';
  for (let at = 0; at < text.length; at++) {
    const one = text.charAt(at);
    if (one === '=' || one === ',') {
      throw badRequest(`invalid field selector: unescaped character in value: ${one.charCodeAt(0)}`);
    }
    if (one !== '\\') result += one;
    else {
      const next = text.charAt(++at);
      if (next === '' || !'\\,='.includes(next)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${next}`);
      }
      result += next;
    }
  }
  return result;
}

/** A field that is not there is the empty text. */
export function matchesFields(selector: FieldSelector, valueOf: (field: string) => string): boolean {
  return selector.every(({ field, equal, value }) => (valueOf(field) === value) === equal);
}

/** The only value that a field may have, if the selector leaves one. */
export function exactValue(selector: FieldSelector, field: string): string | undefined {
  return selector.find((term) => term.field === field && term.equal)?.value;
}
