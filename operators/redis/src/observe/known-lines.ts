/**
 * Lines of CLUSTER NODES that were seen before, to be known again among the bytes of a table, whatever their times are. All that a
 * comparison needs lies side by side in three arrays: a million lines are looked up in each look at a large cluster, and waiting for
 * memory would be most of it.
 */

const ID_LENGTH = 40;
/**
 * In bytes. Words are compared as floating-point numbers, because nothing else in JavaScript is as wide and as fast. Of printable text
 * none is zero or not a number: they are the same number if, and only if, they are the same bytes.
 */
const WORD = 8;
const PRINTABLE = /^[ -~]*$/;
const SPACE = 0x20;
const ZERO_AND_SPACE = 0x2030;
const NEWLINE = 0x0a;
/** A power of two. */
const BUCKETS = 4_096;
/** In one bucket: what most say of a node, and some that differ. More are not known again. */
const MOST_FORMS = 8;
const NONE = -1;

/** What is kept of a line, in this order. */
const NEXT = 0; // another one in its bucket, or NONE
const START = 1; // of its words
const HEAD = 2; // bytes before the times, with the space
const TAIL = 3; // bytes behind the times, with the space, to the end
const FIELDS = 4;

export class KnownLines {
  /** Where the line ends that was found last. */
  end = 0;
  readonly #buckets = new Int32Array(BUCKETS).fill(NONE);
  #forms = new Int32Array(64 * FIELDS);
  #words = new Float64Array(1_024);
  #used = 0;

  /** The number of the line that begins here, or -1. */
  find(table: DataView, from: number): number {
    if (from + ID_LENGTH > table.byteLength) return NONE;
    const forms = this.#forms;
    let number = this.#buckets[bucketOf(table, from)] as number;
    while (number !== NONE) {
      const end = this.#endIfSame(number, table, from);
      if (end !== NONE) {
        this.end = end;
        return number;
      }
      number = forms[number * FIELDS + NEXT] as number;
    }
    return NONE;
  }

  /** @param times where they are in the line: from the space before them to the space behind them. */
  learn(number: number, line: Buffer, times: { readonly from: number; readonly to: number }): void {
    const text = line.toString('latin1');
    const head = times.from + 1;
    const tail = text.trimEnd().length - times.to;
    if (!PRINTABLE.test(text) || head < ID_LENGTH || tail < WORD) return;
    const bucket = bucketOf(new DataView(line.buffer, line.byteOffset, line.byteLength), 0);
    const next = this.#buckets[bucket] as number;
    if (this.#isFull(next)) return;
    const forms = this.#roomForForm(number);
    forms.set([next, this.#used, head, tail], number * FIELDS);
    this.#add(line.subarray(0, head));
    this.#add(line.subarray(times.to, times.to + tail));
    this.#buckets[bucket] = number;
  }

  #isFull(first: number): boolean {
    let count = 0;
    for (let form = first; form !== NONE; form = this.#forms[form * FIELDS + NEXT] as number) count++;
    return count >= MOST_FORMS;
  }

  #roomForForm(number: number): Int32Array {
    while (this.#forms.length < (number + 1) * FIELDS) {
      const larger = new Int32Array(this.#forms.length * 2);
      larger.set(this.#forms);
      this.#forms = larger;
    }
    return this.#forms;
  }

  /** The last word ends with the bytes, and overlaps the one before it if they are no multiple of a word. */
  #add(bytes: Buffer): void {
    const count = wordsIn(bytes.length);
    while (this.#words.length < this.#used + count) {
      const larger = new Float64Array(this.#words.length * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    for (let word = 0; word < count; word++) {
      this.#words[this.#used++] = bytes.readDoubleLE(Math.min(word * WORD, bytes.length - WORD));
    }
  }

  #endIfSame(number: number, table: DataView, from: number): number {
    const forms = this.#forms;
    const words = this.#words;
    const at = number * FIELDS;
    const start = forms[at + START] as number;
    const head = forms[at + HEAD] as number;
    if (!hasWords(table, from, words, start, head)) return NONE;
    const times = timesEnd(table, from + head);
    const tail = forms[at + TAIL] as number;
    if (times === NONE || !hasWords(table, times, words, start + wordsIn(head), tail)) return NONE;
    const end = times + tail;
    return end === table.byteLength || table.getUint8(end) === NEWLINE ? end : NONE;
  }
}

function wordsIn(bytes: number): number {
  return (bytes + WORD - 1) >> 3;
}

/** By both ends of an id: those that people make up differ at one of them only. */
function bucketOf(table: DataView, at: number): number {
  const first = Math.imul(table.getInt32(at, true), 0x9e3779b1);
  const last = Math.imul(table.getInt32(at + ID_LENGTH - 4, true), 0x85ebca6b);
  const hash = first ^ last;
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}

function hasWords(table: DataView, at: number, words: Float64Array, start: number, length: number): boolean {
  if (at + length > table.byteLength) return false;
  const last = start + wordsIn(length) - 1;
  let here = at;
  for (let word = start; word < last; word++, here += WORD) {
    if (table.getFloat64(here, true) !== words[word]) return false;
  }
  return table.getFloat64(at + length - WORD, true) === words[last];
}

/** The end of the two words that begin here, the first of which has a space behind it; else -1. */
function timesEnd(table: DataView, at: number): number {
  // As a rule no ping is waited for, and the pong has the 13 digits of milliseconds.
  const usual = at + 15;
  if (
    usual <= table.byteLength &&
    table.getInt16(at, true) === ZERO_AND_SPACE &&
    isWord(table, at + 2) &&
    isWord(table, at + 6) &&
    isWord(table, at + 10) &&
    isWord(table, at + 11)
  ) {
    return usual;
  }
  const ping = wordEnd(table, at);
  return ping < table.byteLength && table.getUint8(ping) === SPACE ? wordEnd(table, ping + 1) : NONE;
}

/** Whether the next four bytes are digits, or one of the signs that follow them: nothing that ends a word. */
function isWord(table: DataView, at: number): boolean {
  return (table.getInt32(at, true) & 0xf0f0f0f0) === 0x30303030;
}

/** The first byte from here that is no part of a word. */
function wordEnd(table: DataView, from: number): number {
  let at = from;
  while (at < table.byteLength && table.getUint8(at) > SPACE) at++;
  return at;
}
