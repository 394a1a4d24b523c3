/** IP addresses and networks, as Go's netip reads and writes them. */
import { goQuote } from './go-text.ts';

export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

export interface Network {
  readonly address: Address;
  readonly length: number;
}

/** The address, or what is wrong with it. A zone is refused by the caller's words. */
export function parseAddress(text: string): Address | string {
  const problem = (message: string): string => `ParseAddr(${goQuote(text)}): ${message}`;
  const sign = /[.:%]/.exec(text)?.[0];
  if (sign === undefined) return problem('unable to parse IP');
  if (sign === '%') return problem('missing IPv6 address');
  const parsed = sign === '.' ? parseV4(text) : parseV6(text);
  if (typeof parsed === 'string') return problem(parsed);
  return { bits: sign === '.' ? 32 : 128, value: parsed };
}

function parseV4(text: string): bigint | string {
  if (/[^0-9.]/.test(text)) return 'unexpected character (at "' + text.slice(text.search(/[^0-9.]/)) + '")';
  const fields = text.split('.');
  for (const field of fields) {
    if (field === '') return 'IPv4 field must have at least one digit';
    if (field.length > 1 && field.startsWith('0')) return 'IPv4 field has octet with leading zero';
    if (Number(field) > 255) return 'IPv4 field has value >255';
  }
  if (fields.length < 4) return 'IPv4 address too short';
  if (fields.length > 4) return 'IPv4 address too long';
  return fields.reduce((value, field) => value * 256n + BigInt(field), 0n);
}

function parseV6(text: string): bigint | string {
  const bad = text.search(/[^0-9a-fA-F:.]/);
  if (bad >= 0) return `unexpected character, want colon (at ${goQuote(text.slice(bad))})`;
  let body = text;
  const dotted = body.includes('.') ? body.slice(body.lastIndexOf(':') + 1) : '';
  if (dotted !== '') {
    const v4 = parseV4(dotted);
    if (typeof v4 === 'string') return v4;
    body = `${body.slice(0, -dotted.length)}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  }
  const halves = body.split('::');
  if (halves.length > 2) return `multiple :: in address (at ${goQuote(text.slice(text.lastIndexOf('::')))})`;
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':'))) as [string[], string[] | undefined];
  const fields = [...head, ...(tail ?? [])];
  for (const field of fields) {
    if (field.includes('.')) return 'embedded IPv4 address must replace the final 2 fields of the address';
    if (field === '') return 'each colon-separated field must have at least one digit (at ":")';
    if (field.length > 4) return `each group must have 4 or less digits (at ${goQuote(field)})`;
  }
  if (tail === undefined && fields.length < 8) return 'address string too short';
  if (fields.length > 8) return 'trailing garbage after address';
  if (tail !== undefined && fields.length === 8) return 'the :: must expand to at least one field of zeros';
  const zeros = Array.from({ length: 8 - fields.length }, () => '0');
  const all = tail === undefined ? fields : [...head, ...zeros, ...tail];
  return all.reduce((value, field) => value * 65536n + BigInt(`0x${field}`), 0n);
}

export function formatAddress({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const fields = Array.from({ length: 8 }, (_unused, index) => (value >> BigInt(112 - index * 16)) & 0xffffn);
  let [best, length] = [-1, 1];
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && fields[end] === 0n) end++;
    if (end - start > length) [best, length] = [start, end - start];
  }
  const write = (part: readonly bigint[]): string => part.map((field) => field.toString(16)).join(':');
  if (best < 0) return write(fields);
  return `${write(fields.slice(0, best))}::${write(fields.slice(best + length))}`;
}

/** ::ffff:1.2.3.4 */
export const isV4InV6 = ({ bits, value }: Address): boolean => bits === 128 && value >> 32n === 0xffffn;

const within = (address: Address, v4: string, v6: string): boolean => {
  const network = parseNetwork(address.bits === 32 ? v4 : v6);
  return typeof network !== 'string' && holds(network, address);
};

export const isUnspecified = ({ value }: Address): boolean => value === 0n;
export const isLoopback = (address: Address): boolean => within(address, '127.0.0.0/8', '::1/128');
export const isLinkLocalUnicast = (address: Address): boolean => within(address, '169.254.0.0/16', 'fe80::/10');
export const isLinkLocalMulticast = (address: Address): boolean =>
  address.bits === 32 ? within(address, '224.0.0.0/24', '') : ((address.value >> 112n) & 0xff0fn) === 0xff02n;
const isMulticast = (address: Address): boolean => within(address, '224.0.0.0/4', 'ff00::/8');

export function isGlobalUnicast(address: Address): boolean {
  if (address.bits === 32 && address.value === 0xffffffffn) return false;
  return ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast].some((is) => is(address));
}

/** The network, or what is wrong with it. */
export function parseNetwork(text: string): Network | string {
  const problem = (message: string): string => `netip.ParsePrefix(${goQuote(text)}): ${message}`;
  const slash = text.lastIndexOf('/');
  if (slash < 0) return problem("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === 'string') return problem(address);
  const length = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d*)$/.test(length)) return problem(`bad bits after slash: ${goQuote(length)}`);
  if (Number(length) > address.bits) return problem('prefix length out of range');
  return { address, length: Number(length) };
}

export const formatNetwork = ({ address, length }: Network): string => `${formatAddress(address)}/${length}`;

function network({ address: { bits, value }, length }: Network): bigint {
  const host = BigInt(bits - length);
  return (value >> host) << host;
}

export const masked = (one: Network): Network => ({ ...one, address: { ...one.address, value: network(one) } });

export function holds(one: Network, address: Address): boolean {
  return one.address.bits === address.bits && network(one) === network({ address, length: one.length });
}

export const holdsNetwork = (one: Network, other: Network): boolean =>
  one.length <= other.length && holds(one, other.address);
