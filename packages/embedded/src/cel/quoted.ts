/** String and bytes literals: prefixes r and b, one or three quotes of either kind, escapes. */
export interface Quoted {
  /** Where the text goes on. */
  readonly end: number;
  readonly isWhole: boolean;
  readonly isBytes: boolean;
  /** Absent when it is not whole, or has an escape for what is no character. */
  readonly value?: string | Uint8Array;
}

const simple: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '"': '"',
  "'": "'",
  '\\': '\\',
  '?': '?',
  '`': '`',
};

const LAST_CODE_POINT = 0x10ffff;

/** The literal that begins at `start`, if one does. */
export function readQuoted(characters: readonly string[], start: number): Quoted | undefined {
  const prefix = /^(?:[bB][rR]?|[rR])?(?=['"])/.exec(characters.slice(start, start + 3).join(''));
  if (!prefix || (prefix[0] === '' && !/^['"]$/.test(characters[start] ?? ''))) return undefined;
  const isRaw = /r/i.test(prefix[0]);
  const isBytes = /b/i.test(prefix[0]);
  let at = start + prefix[0].length;
  const quote = characters[at] as string;
  const isLong = characters[at + 1] === quote && characters[at + 2] === quote;
  const closing = isLong ? 3 : 1;
  at += closing;
  const parts: (Part | undefined)[] = [];
  for (;;) {
    const one = characters[at];
    if (one === undefined || (!isLong && (one === '\n' || one === '\r'))) return { end: at, isWhole: false, isBytes };
    if (one === quote && (!isLong || (characters[at + 1] === quote && characters[at + 2] === quote))) {
      const whole = { end: at + closing, isWhole: true, isBytes };
      if (parts.includes(undefined)) return whole;
      return { ...whole, value: isBytes ? bytesOf(parts as Part[]) : (parts as Part[]).join('') };
    }
    if (one === '\\' && !isRaw) {
      const escape = readEscape(characters, at, isBytes);
      if (!escape) return { end: at + 2, isWhole: false, isBytes };
      parts.push(escape.part);
      at = escape.end;
    } else {
      parts.push(one);
      at++;
    }
  }
}

/** Text, or one byte. */
type Part = string | number;

function readEscape(
  characters: readonly string[],
  at: number,
  isBytes: boolean,
): { part: Part | undefined; end: number } | undefined {
  const letter = characters[at + 1] ?? '';
  const known = simple[letter];
  if (known !== undefined) return { part: known, end: at + 2 };
  const digits = { x: 2, X: 2, u: 4, U: 8 }[letter];
  const octal = /^[0-3]$/.test(letter);
  if (digits === undefined && !octal) return undefined;
  const start = octal ? at + 1 : at + 2;
  const end = start + (octal ? 3 : (digits as number));
  const text = characters.slice(start, end).join('');
  if (text.length !== end - start || !(octal ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/).test(text)) return undefined;
  const code = Number.parseInt(text, octal ? 8 : 16);
  if (letter === 'u' || letter === 'U') {
    const isCharacter = code <= LAST_CODE_POINT && (code < 0xd800 || code > 0xdfff);
    return { part: isBytes || !isCharacter ? undefined : String.fromCodePoint(code), end };
  }
  return { part: isBytes ? code : String.fromCodePoint(code), end };
}

function bytesOf(parts: readonly Part[]): Uint8Array {
  const encoder = new TextEncoder();
  return Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...encoder.encode(part)])));
}
