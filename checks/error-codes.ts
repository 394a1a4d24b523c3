/** Every error code that sources use is declared with its meaning and remedy, and every declared one is used. */
import { isTest, isTypeScript, lineAt, type SourceFile } from './lib/source.ts';

const isCatalog = ({ text }: SourceFile): boolean => text.includes('satisfies ErrorCatalog');
/** Where findings of a check are declared: they look like error codes and have their own list. */
const findings = 'operators/redis/src/api/findings.ts';
const use =
  /(?:\bcode:|\b(?:failed|refuse|refused|refusal|cliError)\(|\bnew (?:Reeve|Kube|Embedded)Error\()\s*'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{4,})'/g;

const quoted = (text: string): readonly string[] =>
  [...text.matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{4,})'/g)].map((match) => match[1] as string);

export function checkErrorCodes(files: readonly SourceFile[], declared: readonly string[]): readonly string[] {
  const sources = files.filter(
    ({ path }) =>
      isTypeScript(path) &&
      !isTest(path) &&
      /^(?:packages\/(?:kube|runtime|embedded|local-node)|operators\/[^/]+|apps\/[^/]+)\/src\//.test(path),
  );
  const known = new Set(declared);
  const ofFindings = new Set(quoted(sources.find(({ path }) => path === findings)?.text ?? ''));
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const file of sources) {
    const { path, text } = file;
    if (!isCatalog(file)) for (const code of quoted(text)) seen.add(code);
    for (const match of text.matchAll(use)) {
      const code = match[1] as string;
      if (known.has(code) || ofFindings.has(code)) continue;
      problems.push(`${path}:${lineAt(text, match.index)}: ${code} is declared in no catalog`);
    }
  }
  for (const { path, text } of sources.filter(isCatalog)) {
    // A catalog may also raise errors itself, as the command line's does.
    for (const match of text.matchAll(use)) seen.add(match[1] as string);
    for (const code of declared) {
      if (!seen.has(code) && new RegExp(`^  ${code}: \\{`, 'm').test(text))
        problems.push(`${path}: ${code} is never used`);
    }
  }
  return problems;
}
