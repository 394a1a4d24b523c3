/** Quantities (`1.5Gi`, `200m`): exact to a billionth, as Kubernetes keeps them. */
const NANO = 1_000_000_000n;
const MOST = (2n ** 63n - 1n) * NANO;

const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

const FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** More digits change nothing: larger is cut off, smaller is rounded up. */
const WHOLE_DIGITS = 150;
const FRACTION_DIGITS = 150;

export interface Quantity {
  /** In billionths. */
  readonly nanos: bigint;
}

/** The quantity, or what is wrong with it in the server's words. */
export function parseQuantity(text: string): Quantity | string {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  if (!match || (match[2] === '' && (match[3] ?? '') === '')) return FORMAT;
  const [, sign = '', rawWhole = '', rawFraction = '', suffix = ''] = match;
  const whole = rawWhole.replace(/^0+/, '');
  // Far beyond the point only this counts: whether there is anything at all.
  const rest = rawFraction.slice(FRACTION_DIGITS);
  const fraction = rawFraction.slice(0, FRACTION_DIGITS) + (/[1-9]/.test(rest) ? '1' : '');
  const digits = BigInt(
    whole.length > WHOLE_DIGITS ? `1${'0'.repeat(WHOLE_DIGITS)}${fraction}` : `0${whole}${fraction}`,
  );
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix);
  const power = exponent ? Number(exponent[1]) : decimal[suffix];
  const shift = binary[suffix];
  if (power === undefined && shift === undefined) return "unable to parse quantity's suffix";
  // Beyond this it is cut off or rounded up anyway, and powers of ten grow large.
  if (Math.abs(power ?? 0) > 100) return "unable to parse quantity's suffix";
  let nanos = (digits << (shift ?? 0n)) * NANO;
  const down = BigInt(fraction.length) - BigInt(power ?? 0);
  if (down <= 0n) nanos *= 10n ** -down;
  else {
    const unit = 10n ** down;
    nanos = (nanos + unit - 1n) / unit; // what is smaller than a billionth counts as one
  }
  if (nanos > MOST) nanos = MOST;
  return { nanos: sign === '-' ? -nanos : nanos };
}

export const compareQuantities = (one: Quantity, other: Quantity): number =>
  one.nanos < other.nanos ? -1 : one.nanos > other.nanos ? 1 : 0;

export const ofInteger = (value: bigint): Quantity => ({ nanos: value * NANO });

/** As an int64, if it is one and was not cut off. */
export function integerOf({ nanos }: Quantity): bigint | undefined {
  const value = nanos / NANO;
  return nanos % NANO === 0n && nanos > -MOST && nanos < MOST ? value : undefined;
}

export const approximate = ({ nanos }: Quantity): number => Number(nanos) / 1e9;
