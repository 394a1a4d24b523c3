/**
 * What lint cannot say about `src` folders: no `new Date()` without arguments, no module-level mutable state
 * (a "restarted" process in the simulation shares its modules). The rest of the rules is in .oxlintrc.json.
 */
import { blank, isTest, isTypeScript, lineAt, type SourceFile } from './lib/source.ts';

/** The real ports are where the outside world begins; the rig and the benchmarks are outside. */
const exempt = [/^packages\/(?:kube|runtime)\/src\/ports\/system\.ts$/, /^rig\//, /^bench\//];

const rules: readonly { readonly pattern: RegExp; readonly topLevelOnly: boolean; readonly message: string }[] = [
  { pattern: /\bnew\s+Date\s*(?:\(\s*\)|(?![\s\w(]))/g, topLevelOnly: false, message: 'new Date() reads the clock' },
  { pattern: /(?<![.\w])Date\s*\(\s*\)/g, topLevelOnly: false, message: 'Date() reads the clock' },
  { pattern: /(?<![.\w$])(?:let|var)\s+[\w${[]/g, topLevelOnly: true, message: 'module-level mutable state' },
  {
    pattern: /=\s*new\s+(?:Map|Set|WeakMap|WeakSet|Array)\b[^(;]*\(\s*\)\s*;/g,
    topLevelOnly: true,
    message: 'module-level collection that starts empty is mutable state',
  },
  {
    pattern: /\bconst\s+[\w$]+\s*:(?![^=;]*\breadonly\b)[^=;]*(?:=\s*\[\s*\]|\bRecord\b[^=;]*=\s*\{\s*\})\s*;/gi,
    topLevelOnly: true,
    message: 'module-level collection that starts empty is mutable state',
  },
];

export function isUnderPurity(path: string): boolean {
  return (
    isTypeScript(path) && /(^|\/)src\//.test(path) && !isTest(path) && !exempt.some((pattern) => pattern.test(path))
  );
}

export function checkPurity(files: readonly SourceFile[]): readonly string[] {
  const problems: string[] = [];
  for (const file of files.filter(({ path }) => isUnderPurity(path))) {
    const { code } = blank(file.text);
    const depths = depthsOf(code);
    for (const { pattern, topLevelOnly, message } of rules) {
      for (const match of code.matchAll(pattern)) {
        if (topLevelOnly && depths[match.index] !== 0) continue;
        problems.push(`${file.path}:${lineAt(file.text, match.index)}: ${message}: ${match[0].trim()}`);
      }
    }
  }
  return problems;
}

/** How many brackets are open before each character. */
function depthsOf(code: string): Uint16Array {
  const depths = new Uint16Array(code.length + 1);
  let depth = 0;
  for (let i = 0; i < code.length; i++) {
    depths[i] = depth;
    const one = code.charAt(i);
    if ('([{'.includes(one)) depth++;
    else if (')]}'.includes(one)) depth--;
  }
  return depths;
}
