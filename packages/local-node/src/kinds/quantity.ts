/** Quantities of resources, as far as they are added and compared here. */

const suffixes: Readonly<Record<string, number>> = {
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

/** In thousandths, rounded up: cpu is asked for in those. Undefined if it is no quantity. */
export function milli(text: string | number | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i))?$/.exec(String(text));
  if (!match) return undefined;
  const [, number = '', exponent = '', suffix = ''] = match;
  const value = Number(`${number}${exponent}`) * (suffixes[suffix] ?? Number.NaN) * 1_000;
  return Number.isNaN(value) ? undefined : Math.ceil(Number(value.toPrecision(15)));
}
