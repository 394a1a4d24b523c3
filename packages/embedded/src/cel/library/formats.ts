/** `format.dns1123Label().validate(x)`: named formats and what is wrong with a text in their eyes. */
import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../format/names.ts';
import { stringFormats } from '../../format/openapi.ts';
import { parseUrl } from '../../format/url.ts';
import { fn, method, type Overload } from '../function.ts';
import { listOf, objectOf, optionalOf, STRING } from '../type.ts';
import { ArrayList, NONE, Opaque, Optional } from '../value.ts';

type Validate = (text: string) => readonly string[];

const FORMAT = objectOf('kubernetes.NamedFormat');

class NamedFormat extends Opaque {
  override readonly typeName = FORMAT.name;
  readonly name: string;
  readonly validate: Validate;

  /** Costs are counted by the size of the server's pattern. */
  constructor(name: string, size: number, validate: Validate) {
    super(size);
    this.name = name;
    this.validate = validate;
  }

  override equals(other: Opaque): boolean {
    return other instanceof NamedFormat && other.name === this.name;
  }
}

const openapi =
  (name: string, problem: string): Validate =>
  (text) =>
    stringFormats.get(name)?.(text) === true ? [] : [problem];

function uri(text: string): readonly string[] {
  const url = parseUrl(text);
  return typeof url === 'string' ? [url] : [];
}

const DATE_TIME_SIZE = 71;

const named: ReadonlyMap<string, NamedFormat> = new Map(
  (
    [
      ['dns1123Label', 30, dns1123Label],
      ['dns1123Subdomain', 60, dns1123Subdomain],
      ['dns1035Label', 30, dns1035Label],
      ['qualifiedName', 60, qualifiedName],
      ['dns1123LabelPrefix', 30, (text: string) => dns1123Label(text, true)],
      ['dns1123SubdomainPrefix', 60, (text: string) => dns1123Subdomain(text, true)],
      ['dns1035LabelPrefix', 30, (text: string) => dns1035Label(text, true)],
      ['labelValue', 40, labelValue],
      ['uri', 1103, uri],
      ['uuid', 70, openapi('uuid', 'does not match the UUID format')],
      ['byte', 84, openapi('byte', 'invalid base64')],
      ['date', DATE_TIME_SIZE, openapi('date', 'invalid date')],
      ['datetime', DATE_TIME_SIZE, openapi('datetime', 'invalid datetime')],
    ] as const
  ).map(([name, size, validate]) => [name, new NamedFormat(name, size, (text) => validate(text))]),
);

export const formats: readonly Overload[] = [
  ...Array.from(named, ([name, format]) => fn(`format.${name}`, `format.${name}`, [], FORMAT, () => format)),
  fn('format.named', 'format-named', [STRING], optionalOf(FORMAT), ([name]) => {
    const format = named.get(name as string);
    return format ? new Optional(format) : NONE;
  }),
  method('validate', 'format-validate', [FORMAT, STRING], optionalOf(listOf(STRING)), ([format, text]) => {
    const problems = (format as NamedFormat).validate(text as string);
    return problems.length === 0 ? NONE : new Optional(new ArrayList([...problems]));
  }),
];
