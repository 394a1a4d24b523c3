/** The formats of strings that the server checks, by name without dashes. What it does not know it does not check. */
import { isIPv4, isIPv6 } from 'node:net';
import { dns1123Label, dns1123Subdomain } from './names.ts';
import { parseDate, parseDuration } from './time.ts';
import { parseUrl } from './url.ts';

const uuid = (version: string, variant: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i');

const matches =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);

const wordUnits = /^(?:ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)/i;
const nanosOf: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 1000n,
  µ: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};

/** Go's durations, and numbers with units in words: `22 ns`, `3 days`. In nanoseconds. */
export function parseLooseDuration(text: string): bigint | undefined {
  const strict = parseDuration(text);
  if (strict !== undefined) return strict;
  let sum: bigint | undefined;
  for (const [, count = '', unit = ''] of text.matchAll(/(\d{1,18})\s*([A-Za-zµ]+)/g)) {
    const size = looseUnit(unit.toLowerCase());
    if (size !== undefined) sum = (sum ?? 0n) + BigInt(count) * size;
  }
  return sum;
}

function looseUnit(unit: string): bigint | undefined {
  if (!wordUnits.test(unit)) return undefined;
  if (unit === 'ms' || unit.startsWith('milli')) return nanosOf['ms'];
  if (unit === 'm' || unit.startsWith('min')) return nanosOf['m'];
  if (unit === 'us' || unit === 'µs' || unit.startsWith('micro')) return nanosOf['u'];
  for (const [short, words] of [
    ['n', ['ns', 'nano']],
    ['s', ['s', 'sec']],
    ['h', ['h', 'hr', 'hour']],
    ['d', ['d', 'day']],
    ['w', ['w', 'wk', 'week']],
  ] as const) {
    // Only the longest word may have something after it: `hours`, `days`.
    if (words.includes(unit as never) || unit.startsWith(words.at(-1) as string)) return nanosOf[short];
  }
  return undefined;
}

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time ?? '');
  if (!match || parseDate(date) === undefined) return false;
  return (match[1] as string) <= '23' && (match[2] as string) <= '59' && (match[3] as string) <= '59';
}

function isHostname(text: string): boolean {
  if (text.length > 255) return false;
  const labels = text.split('.');
  const last = labels.at(-1) as string;
  const body = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
  if (labels.some((label) => Buffer.byteLength(label) > 63)) return false;
  if (labels.length === 1) return /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u.test(text);
  return labels.slice(0, -1).every((label) => body.test(label)) && /^[a-zA-Z\p{L}]{2,63}$/u.test(last);
}

function isBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text);
}

function isMac(text: string): boolean {
  const byte = '[0-9a-fA-F]{2}';
  const groups = [6, 8, 20].flatMap((count) => [
    `${byte}(?::${byte}){${count - 1}}`,
    `${byte}(?:-${byte}){${count - 1}}`,
    `[0-9a-fA-F]{4}(?:\\.[0-9a-fA-F]{4}){${count / 2 - 1}}`,
    `[0-9a-fA-F]{${count * 2}}`,
  ]);
  return new RegExp(`^(?:${groups.join('|')})$`).test(text);
}

function isCidr(text: string): boolean {
  const match = /^([^/]*)\/(\d{1,3})$/.exec(text);
  if (!match) return false;
  const [, address = '', length = ''] = match;
  return (isIPv4(address) && Number(length) <= 32) || (isIPv6(address) && Number(length) <= 128);
}

/** With check digits. */
function isIsbn(text: string, digits: 10 | 13): boolean {
  const plain = text.replace(/[\s-]+/g, '');
  if (digits === 10) {
    if (!/^\d{9}[\dX]$/.test(plain)) return false;
    return (
      Array.from(plain).reduce((sum, one, index) => sum + (index + 1) * (one === 'X' ? 10 : Number(one)), 0) % 11 === 0
    );
  }
  if (!/^\d{13}$/.test(plain)) return false;
  return Array.from(plain).reduce((sum, one, index) => sum + (index % 2 === 0 ? 1 : 3) * Number(one), 0) % 10 === 0;
}

const cards =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!cards.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, one, index) => {
      const value = Number(one) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function isEmail(text: string): boolean {
  const address = /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text.trim();
  return /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}-]+)*|"[^"]*")@[^\s@<>(),;:"]+$/u.test(
    address,
  );
}

const rgb = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';

export const stringFormats: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({
    bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
    uri: (text: string) => typeof parseUrl(text) !== 'string',
    email: isEmail,
    hostname: isHostname,
    ipv4: (text: string) => isIPv4(text),
    ipv6: (text: string) => isIPv6(text) && !text.includes('%'),
    cidr: isCidr,
    mac: isMac,
    uuid: matches(uuid('[0-9a-f]', '[0-9a-f]')),
    uuid3: matches(uuid('3', '[0-9a-f]')),
    uuid4: matches(uuid('4', '[89ab]')),
    uuid5: matches(uuid('5', '[89ab]')),
    isbn: (text: string) => isIsbn(text, 10) || isIsbn(text, 13),
    isbn10: (text: string) => isIsbn(text, 10),
    isbn13: (text: string) => isIsbn(text, 13),
    creditcard: isCreditCard,
    ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
    hexcolor: matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
    rgbcolor: matches(new RegExp(`^rgb\\(\\s*${rgb}\\s*,\\s*${rgb}\\s*,\\s*${rgb}\\s*\\)$`)),
    byte: isBase64,
    password: () => true,
    date: (text: string) => parseDate(text) !== undefined,
    duration: (text: string) => parseLooseDuration(text) !== undefined,
    datetime: isDateTime,
    k8sshortname: (text: string) => dns1123Label(text).length === 0,
    k8slongname: (text: string) => dns1123Subdomain(text).length === 0,
  }),
);
