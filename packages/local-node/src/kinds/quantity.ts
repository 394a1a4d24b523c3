/** Amounts as Kubernetes writes them: `500m`, `2`, `1.5Gi`, `1e3`. */
const SCALES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Undefined: no amount. */
export function parseQuantity(text: string): number | undefined {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i))?$/.exec(text);
  if (!match) return undefined;
  const [, number = '', exponent = '', suffix = ''] = match;
  return Number(`${number}${exponent}`) * (SCALES[suffix] ?? Number.NaN);
}

/** In thousandths, rounded up: cpu is asked for in those. Undefined if it is no quantity. */
export function milli(text: string | number | undefined): number | undefined {
  const amount = text === undefined ? undefined : parseQuantity(String(text));
  // A little less first: 0.1 / 0.001 is not quite 100.
  return amount === undefined ? undefined : Math.ceil(Number((amount * 1_000).toPrecision(15)));
}

/** As the downward API gives it: in units of the divisor, rounded up. */
export function inUnitsOf(amount: number, divisor: string | undefined): string {
  const unit = (divisor === undefined || divisor === '0' ? 1 : parseQuantity(divisor)) ?? 1;
  return String(Math.ceil(Number((amount / (unit || 1)).toPrecision(12))));
}
