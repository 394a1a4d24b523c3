/** What the README shows of `npm start`, held against what it prints. Pure. */

const HEAD = '`npm start` (shortened):';
/** Where a line was left out or shortened. */
const CUT = '…';
/** How far it comes before somebody looks is a matter of moments. */
const MOMENTARY = /^ *Pending/;

/** Lines of the README that have no counterpart; numbers may be others. */
export function missingLines(readme: string, printed: string): readonly string[] {
  const shown = shownLines(readme);
  if (shown.length === 0) return [`no block after ${HEAD}`];
  const lines = printed.split('\n').map((line) => line.trim());
  return shown.filter((line) => {
    const pattern = patternOf(line.trim());
    return !lines.some((one) => pattern.test(one));
  });
}

function shownLines(readme: string): readonly string[] {
  const [, rest = ''] = readme.split(HEAD);
  const block: string[] = [];
  for (const line of rest.split('\n')) {
    if (line.startsWith('    ')) block.push(line);
    else if (line.trim() !== '') break;
  }
  return block.filter((line) => line.trim() !== CUT && !MOMENTARY.test(line));
}

function patternOf(line: string): RegExp {
  const parts = line.split(CUT).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const loose = parts.join('.*').replaceAll(/\d+/g, String.raw`\d+`).replaceAll(/ {2,}/g, ' +');
  return new RegExp(`^${loose}$`);
}
