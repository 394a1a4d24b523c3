/**
 * Quantities have one spelling in a server: `0.5` cpu is `500m`, `1024Mi` is `1Gi`, `1.5Gi` is `1536Mi`. The family
 * (binary or decimal or exponent) stays, the number becomes an integer with the largest suffix that keeps it one.
 */
import type { Json } from '@reeve/kube';

const pattern = /^([+-]?)(\d+\.?\d*|\.\d+)(|[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)$/;

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal: readonly (readonly [string, number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
];

/** What is no quantity is returned as it came: refusing it is the validation's business. */
export function canonicalQuantity(value: Json): Json {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return value;
  const match = pattern.exec(String(value));
  if (!match) return value;
  const [, sign, digits = '', suffix = ''] = match;
  const [whole = '', fraction = ''] = digits.split('.');
  // The number times 10^9, rounded up like the server's: nothing smaller than a nano is kept.
  let nanos: bigint;
  let family: 'binary' | 'decimal' | 'exponent' = 'decimal';
  if (binary.includes(suffix) && suffix !== '') {
    family = 'binary';
    nanos = scaled(whole, fraction, 9, 1024n ** BigInt(binary.indexOf(suffix)));
  } else if (/^[eE][+-]?\d+$/.test(suffix)) {
    family = 'exponent';
    nanos = scaled(whole, fraction, 9 + Number(suffix.slice(1)), 1n);
  } else {
    nanos = scaled(whole, fraction, 9 + (decimal.find(([name]) => name === suffix)?.[1] ?? 0), 1n);
  }
  const text = spelled(nanos, family);
  return sign === '-' && text !== '0' ? `-${text}` : text;
}

function scaled(whole: string, fraction: string, exponent: number, factor: bigint): bigint {
  const number = BigInt(`${whole}${fraction}` || '0') * factor;
  const shift = Math.max(-1000, Math.min(1000, exponent - fraction.length));
  if (shift >= 0) return number * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (number + divisor - 1n) / divisor;
}

function spelled(nanos: bigint, family: 'binary' | 'decimal' | 'exponent'): string {
  if (nanos === 0n) return '0';
  const one = 10n ** 9n;
  // A binary quantity below 1024, or one that is not whole, is written like a decimal one.
  if (family === 'binary' && nanos % one === 0n && nanos / one >= 1024n) {
    let number = nanos / one;
    let step = 0;
    while (number % 1024n === 0n && step < binary.length - 1) {
      number /= 1024n;
      step++;
    }
    return `${number}${binary[step]}`;
  }
  let number = nanos;
  let step = 0;
  while (number % 1000n === 0n && step < decimal.length - 1) {
    number /= 1000n;
    step++;
  }
  const [suffix, exponent] = decimal[step] as readonly [string, number];
  if (family === 'exponent') return exponent === 0 ? `${number}` : `${number}e${exponent}`;
  return `${number}${suffix}`;
}
