/** Reading the repository's own sources: which files there are, and their text without comments and literals. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every file that is, or would be, committed: tracked or new, not ignored, still there. */
export function repositoryPaths(): readonly string[] {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(list.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path))).sort();
}

export function readSources(paths: readonly string[]): readonly SourceFile[] {
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export const isTypeScript = (path: string): boolean => path.endsWith('.ts');
/** Tests and what only tests use: beside the sources as `testing.ts` or `x-testing.ts`, or in a folder `tests`. */
export const isTest = (path: string): boolean =>
  path.endsWith('.test.ts') || /[/-]testing\.ts$/.test(path) || /(^|\/)tests\//.test(path);

/** After one of these a slash begins a regular expression, not a division. */
const beforeRegex =
  /(?:^|[=(,;:!&|?{}[+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield))\s*$/;

interface Blanked {
  /** Comments blanked; strings, templates and regular expressions kept. */
  readonly withoutComments: string;
  /** Comments and the insides of strings, templates and regular expressions blanked. */
  readonly code: string;
}

/**
 * Blanks what is not code by spaces, so that offsets and lines stay. Code inside `${}` of a template is blanked with it,
 * which is good enough for looking at statements.
 */
export function blank(text: string): Blanked {
  // Code units, not code points: offsets must agree with indexOf and regular expressions.
  const code = text.split('');
  const kept = text.split('');
  const wipe = (target: string[], from: number, to: number) => {
    for (let i = from; i < to; i++) if (target[i] !== '\n') target[i] = ' ';
  };
  let at = 0;
  while (at < text.length) {
    const two = text.slice(at, at + 2);
    const one = text.charAt(at);
    let end: number;
    if (two === '//' || (at === 0 && two === '#!')) {
      end = text.indexOf('\n', at);
      if (end < 0) end = text.length;
      wipe(code, at, end);
      wipe(kept, at, end);
    } else if (two === '/*') {
      end = text.indexOf('*/', at + 2);
      end = end < 0 ? text.length : end + 2;
      wipe(code, at, end);
      wipe(kept, at, end);
    } else if (one === "'" || one === '"') {
      end = endOfQuoted(text, at, one);
      wipe(code, at + 1, end - 1);
    } else if (one === '`') {
      end = endOfTemplate(text, at);
      wipe(code, at + 1, end - 1);
    } else if (one === '/' && beforeRegex.test(code.slice(Math.max(0, at - 40), at).join(''))) {
      end = endOfRegex(text, at);
      wipe(code, at + 1, end - 1);
    } else {
      end = at + 1;
    }
    at = end;
  }
  return { code: code.join(''), withoutComments: kept.join('') };
}

function endOfQuoted(text: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < text.length && text[at] !== quote && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

function endOfRegex(text: string, start: number): number {
  let at = start + 1;
  let inClass = false;
  while (at < text.length && text[at] !== '\n' && (inClass || text[at] !== '/')) {
    if (text[at] === '[') inClass = true;
    else if (text[at] === ']') inClass = false;
    at += text[at] === '\\' ? 2 : 1;
  }
  return Math.min(at + 1, text.length);
}

function endOfTemplate(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '`') {
    if (text[at] === '\\') at += 2;
    else if (text.startsWith('${', at)) at = endOfSubstitution(text, at + 2);
    else at++;
  }
  return Math.min(at + 1, text.length);
}

function endOfSubstitution(text: string, start: number): number {
  let at = start;
  let depth = 1;
  while (at < text.length && depth > 0) {
    const one = text.charAt(at);
    if (one === '`') at = endOfTemplate(text, at);
    else if (one === "'" || one === '"') at = endOfQuoted(text, at, one);
    else {
      if (one === '{') depth++;
      else if (one === '}') depth--;
      at++;
    }
  }
  return at;
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let i = 0; i < offset; i++) if (text.charCodeAt(i) === 10) line++;
  return line;
}

/** The module names of all static and dynamic imports and re-exports, with their lines. */
export function importsOf(text: string): readonly { readonly name: string; readonly line: number }[] {
  const { code, withoutComments } = blank(text);
  const found: { name: string; line: number }[] = [];
  for (const match of code.matchAll(/(?<![.\w$])(?:from\s*|import\s*\(?\s*)(['"])/g)) {
    const open = match.index + match[0].length;
    const close = withoutComments.indexOf(match[1] as string, open);
    found.push({ name: withoutComments.slice(open, close), line: lineAt(text, open) });
  }
  return found;
}
