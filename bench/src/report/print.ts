/** The table for people, and the line for machines. */
import type { Bar } from './bars.ts';

/** Columns as wide as their widest cell; the first line is the head. */
export function printTable(lines: readonly (readonly string[])[]): void {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}

/** The bars in words, then as the last line in JSON. A bar that is missed is the exit code. */
export function printBars(bench: string, bars: readonly Bar[], more: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write('\n');
  printTable([
    ['bar', 'value', 'wanted', ''],
    ...bars.map(({ name, value, bar, better, met }) => [
      name,
      String(value),
      `${better === 'lower' ? '≤' : '≥'} ${Math.round(bar * 1_000) / 1_000}`,
      met ? 'met' : 'MISSED',
    ]),
  ]);
  process.stdout.write(`${JSON.stringify({ bench, ...more, bars })}\n`);
  if (bars.some(({ met }) => !met)) process.exitCode = 1;
}

/** Progress goes to stderr, so that stdout stays usable for data. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
