/** What a benchmark is judged by: ratios of medians, each held against its bar. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly bar: number;
  readonly better: 'higher' | 'lower';
  readonly met: boolean;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : (high + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

export function atMost(name: string, value: number, bar: number): Bar {
  return { name, value: rounded(value), bar, better: 'lower', met: value <= bar };
}

export function atLeast(name: string, value: number, bar: number): Bar {
  return { name, value: rounded(value), bar, better: 'higher', met: value >= bar };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
