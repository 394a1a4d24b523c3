/** What single texts and numbers may be. Each rule answers what is wrong, in the words of the real server. */
import { parseAddress } from '../format/address.ts';
import { type JsonObject, textOf } from '../object/draft.ts';
import { labelValueProblems, qualifiedName } from '../object/names.ts';
import { type FieldError, invalid } from '../status/field-error.ts';

type Rule = (value: string) => readonly string[];

const between = (least: number, most: number): string => `must be between ${least} and ${most}, inclusive`;
const shorter = (most: number): string => `must be no more than ${most} characters`;

export const inRange = (value: number | bigint, least: number, most: number): readonly string[] =>
  value >= least && value <= most ? [] : [between(least, most)];

export const portNumber = (port: number | bigint): readonly string[] => inRange(port, 1, 65_535);

export const portName: Rule = (name) => [
  ...(Buffer.byteLength(name) > 15 ? [shorter(15)] : []),
  ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter (a-z)']),
  ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(/^-|-$/.test(name) ? ['must not begin or end with a hyphen'] : []),
];

/** A number, or the name of a port of the pod. */
export function portErrors(value: unknown, path: string): readonly FieldError[] {
  const problems = typeof value === 'string' ? portName(value) : portNumber(typeof value === 'number' ? value : 0);
  return problems.map((problem) => invalid(path, value ?? 0, problem));
}

/** Names that would lead out of a folder. */
function steps(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`must not be '${name}'`];
  return name.startsWith('..') ? ["must not start with '..'"] : [];
}

const KEY = '[-._a-zA-Z0-9]+';

export const configKey: Rule = (key) => [
  ...(Buffer.byteLength(key) > 253 ? [shorter(253)] : []),
  ...(/^[-._a-zA-Z0-9]+$/.test(key)
    ? []
    : [
        `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${KEY}')`,
      ]),
  ...steps(key),
];

export const envName: Rule = (name) =>
  /^[ -<>-~]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

export const headerName: Rule = (name) =>
  /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ];

export const percent: Rule = (text) =>
  /^[0-9]+%$/.test(text)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ];

/** A path below some folder, that does not lead out of it. */
export const pathBelow: Rule = (path) => [
  ...(path.startsWith('/') ? ['must be a relative path'] : []),
  ...(path.split('/').includes('..') ? ["must not contain '..'"] : []),
];

/** The same, for a file that is put there. */
export const fileBelow: Rule = (path) => [
  ...pathBelow(path),
  ...(path.startsWith('..') && !path.startsWith('../') ? ["must not start with '..'"] : []),
];

export const ipAddress: Rule = (text) =>
  typeof parseAddress(text) === 'string' ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : [];

export const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';
export const isMode = (mode: number | bigint): boolean => mode >= 0 && mode <= 0o777;

export function labelErrors(labels: JsonObject, path: string): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((problem) => invalid(path, key, problem)),
    ...labelValueProblems(textOf(value)).map((problem) => invalid(path, value, problem)),
  ]);
}

export function annotationErrors(annotations: JsonObject, path: string): readonly FieldError[] {
  return Object.keys(annotations).flatMap((key) =>
    qualifiedName(key.toLowerCase()).map((problem) => invalid(path, key, problem)),
  );
}
