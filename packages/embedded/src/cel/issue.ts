/** What is wrong with an expression, and the picture that shows where. */
export interface Issue {
  /** Offset in characters (code points). */
  readonly at: number;
  readonly message: string;
}

/** More are only counted. */
const MOST_ISSUES = 100;
/** A longer line is not shown. */
const LONGEST_LINE = 16384;

/** All issues, in the order of the text, each with its line and a mark below it. */
export function describeIssues(text: string, issues: readonly Issue[]): string {
  const lines = text.split('\n').map((line) => Array.from(line));
  const placed = issues
    .slice(0, MOST_ISSUES)
    .map((issue) => ({ ...issue, ...placeOf(lines, issue.at) }))
    .toSorted((one, other) => one.line - other.line || one.column - other.column)
    .map(({ line, column, message }) => describe(lines[line] ?? [], line, column, message));
  const more = issues.length - MOST_ISSUES;
  if (more > 0) placed.push(`${more} more errors were truncated`);
  return placed.join('\n');
}

function placeOf(lines: readonly (readonly string[])[], at: number): { line: number; column: number } {
  let rest = at;
  for (const [line, characters] of lines.entries()) {
    if (rest <= characters.length) return { line, column: rest };
    rest -= characters.length + 1;
  }
  return { line: lines.length - 1, column: lines.at(-1)?.length ?? 0 };
}

function describe(characters: readonly string[], line: number, column: number, message: string): string {
  const head = `ERROR: <input>:${line + 1}:${column + 1}: ${message}`;
  if (characters.length > LONGEST_LINE) return head;
  const before = characters.slice(0, column).map((one) => (isWide(one) ? '．' : '.'));
  const mark = isWide(characters[column] ?? '') ? '＾' : '^';
  return `${head}\n | ${characters.join('').replaceAll('\t', ' ')}\n | ${before.join('')}${mark}`;
}

/** Whatever takes more than one byte. */
function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 127;
}
