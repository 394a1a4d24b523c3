/** Columns as wide as their widest cell; numbers to the right. */
export interface Column {
  readonly title: string;
  readonly right?: boolean;
}

export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return columns[index]?.right ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}
