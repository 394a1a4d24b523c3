/**
 * Where the values of a JSON text end, found in its bytes without making anything of them. Only the compact form that servers
 * write is known; -1 says that something else was met, and that a parser must judge. It does not prove that a text is JSON: what
 * was passed over is parsed by whoever reads it.
 */
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Told of each member: where its key and its value begin. Returns where the value ends. */
export type Member = (keyAt: number, valueAt: number) => number;

/** Walks the object that begins at `at`; returns where it ends. */
export function scanObject(bytes: Uint8Array, at: number, member: Member): number {
  if (bytes[at] !== OPEN_OBJECT) return -1;
  let next = at + 1;
  if (bytes[next] === CLOSE_OBJECT) return next + 1;
  for (;;) {
    if (bytes[next] !== QUOTE) return -1;
    const colon = skipString(bytes, next);
    if (bytes[colon] !== COLON) return -1;
    next = member(next, colon + 1);
    if (bytes[next] === CLOSE_OBJECT) return next + 1;
    if (bytes[next] !== COMMA) return -1;
    next++;
  }
}

/** Walks the list that begins at `at`: `item` is told where each begins and returns where it ends. Returns where the list ends. */
export function scanList(bytes: Uint8Array, at: number, item: (at: number) => number): number {
  if (bytes[at] !== OPEN_LIST) return -1;
  let next = at + 1;
  if (bytes[next] === CLOSE_LIST) return next + 1;
  for (;;) {
    next = item(next);
    if (bytes[next] === CLOSE_LIST) return next + 1;
    if (bytes[next] !== COMMA) return -1;
    next++;
  }
}

/** Where the value that begins at `at` ends. */
export function skipValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipString(bytes, at);
  return first === OPEN_OBJECT || first === OPEN_LIST ? skipNested(bytes, at) : skipWord(bytes, at);
}

export function isNested(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_LIST;
}

/** Whether the key that begins at `at` is exactly this one, written without escapes. */
export function isKey(bytes: Uint8Array, at: number, key: string): boolean {
  const end = at + 1 + key.length;
  if (bytes[end] !== QUOTE) return false;
  for (let i = 0; i < key.length; i++) if (bytes[at + 1 + i] !== key.charCodeAt(i)) return false;
  return true;
}

function skipString(bytes: Uint8Array, at: number): number {
  for (let next = at + 1; next < bytes.length; next++) {
    const byte = bytes[next];
    if (byte === QUOTE) return next + 1;
    if (byte === BACKSLASH) next++;
  }
  return -1;
}

function skipNested(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let next = at; next < bytes.length; next++) {
    switch (bytes[next]) {
      case QUOTE: {
        const end = skipString(bytes, next);
        if (end < 0) return -1;
        next = end - 1;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth++;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (--depth === 0) return next + 1;
        break;
      default: // the content of a number, a mark between two values
    }
  }
  return -1;
}

/** A number, true, false or null: nothing else may stand between two marks. */
function skipWord(bytes: Uint8Array, at: number): number {
  for (let next = at; next < bytes.length; next++) {
    const byte = bytes[next];
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST) return next > at ? next : -1;
  }
  return -1;
}
