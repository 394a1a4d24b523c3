/**
 * A part of an object and the way to it. All parts of one object note what is wrong in one list, in the words of the real
 * server. By then objects are of their types: what is no text, number or list where there should be one was refused before.
 */
import { integerOf, isObject, isSame, type JsonObject, objectOf, textOf, textsOf } from '../object/draft.ts';
import type { NameRule } from '../object/names.ts';
import * as found from '../status/field-error.ts';

const IMMUTABLE = 'field is immutable';
export const NEGATIVE = 'must be greater than or equal to 0';

export class Part {
  readonly object: JsonObject;
  readonly path: string;
  readonly errors: found.FieldError[];

  constructor(object: JsonObject, path = '', errors: found.FieldError[] = []) {
    this.object = object;
    this.path = path;
    this.errors = errors;
  }

  at(field: string): string {
    return found.child(this.path, field);
  }

  text(field: string): string {
    return textOf(this.object[field]);
  }

  texts(field: string): readonly string[] {
    return textsOf(this.object[field]);
  }

  /** As Go has it: what is not there is 0. */
  number(field: string): number | bigint {
    return integerOf(this.object[field]) ?? 0;
  }

  has(field: string): boolean {
    return this.object[field] !== undefined && this.object[field] !== null;
  }

  /** Empty if it is not there. */
  within(field: string): Part {
    return new Part(objectOf(this.object[field]), this.at(field), this.errors);
  }

  /** Nothing if it is not there. */
  maybe(field: string): readonly Part[] {
    return isObject(this.object[field]) ? [this.within(field)] : [];
  }

  list(field: string): readonly Part[] {
    const items = this.object[field];
    if (!Array.isArray(items)) return [];
    return items.map((item, index) => new Part(objectOf(item), found.index(this.at(field), index), this.errors));
  }

  note(...errors: readonly found.FieldError[]): void {
    this.errors.push(...errors);
  }

  wrong(field: string, value: unknown, ...problems: readonly string[]): void {
    for (const problem of problems) this.errors.push(found.invalid(this.at(field), value, problem));
  }

  /** The part as a whole. */
  isWrong(value: unknown, ...problems: readonly string[]): void {
    for (const problem of problems) this.errors.push(found.invalid(this.path, value, problem));
  }

  isMissing(detail: string): void {
    this.errors.push(found.required(this.path, detail));
  }

  isForbidden(detail: string): void {
    this.errors.push(found.forbidden(this.path, detail));
  }

  /** Another part under this path: where the real server names a path that is not quite the right one. */
  standingFor({ object }: Part, field: string): Part {
    return new Part(object, field === '' ? this.path : this.at(field), this.errors);
  }

  missing(field: string, detail = ''): void {
    this.errors.push(found.required(this.at(field), detail));
  }

  forbid(field: string, detail: string): void {
    this.errors.push(found.forbidden(this.at(field), detail));
  }

  duplicate(field: string, value: unknown): void {
    this.errors.push(found.duplicate(this.at(field), value));
  }

  /** It names something that is not there. */
  unknown(field: string, name: string): void {
    this.errors.push(found.notFound(this.at(field), name));
  }

  tooMany(field: string, count: number, most: number): void {
    this.errors.push(found.tooMany(this.at(field), count, most));
  }

  /** The part as a whole. */
  isDuplicate(value: unknown): void {
    this.errors.push(found.duplicate(this.path, value));
  }

  unsupported(field: string, value: unknown, supported: readonly string[]): void {
    this.errors.push(found.notSupported(this.at(field), value, supported));
  }

  /** Whether there is a text that is not empty; notes it if not. */
  needs(field: string): boolean {
    if (this.text(field) !== '') return true;
    this.missing(field);
    return false;
  }

  /** A text that may be absent, but must then be right. */
  named(field: string, rule: NameRule): void {
    const name = this.text(field);
    if (name !== '') this.wrong(field, name, ...rule(name, false));
  }

  /** A text that must be there, and one of these. */
  oneOf(field: string, supported: readonly string[]): void {
    const text = this.text(field);
    if (text === '') this.missing(field);
    else if (!supported.includes(text)) this.unsupported(field, text, supported);
  }

  notNegative(...fields: readonly string[]): void {
    for (const field of fields) if (this.number(field) < 0) this.wrong(field, this.object[field], NEGATIVE);
  }

  /** @param shown how the real server shows the value, if it is not as it was sent. */
  keeps(field: string, before: JsonObject, shown: unknown = this.object[field] ?? null): void {
    if (!isSame(this.object[field], before[field])) this.wrong(field, shown, IMMUTABLE);
  }
}
