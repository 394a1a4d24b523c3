/**
 * CLUSTER NODES of many nodes. The tables of one cluster say mostly the same, each in an order of its own and with times of its own: at
 * 1,000 nodes a look has a million lines, 135 MB, and a thousand different ones beside each node's line about itself. So a line is
 * compared, where it lies and a word at a time, with those that are known; it becomes text and is parsed only if it is none of them.
 * Lines that say the same are one object.
 */
import type { NodeLine } from '../api/view.ts';
import { parseClusterNodes, parseTimeless, timesOf, withoutTimes } from './parse.ts';

export interface ReadTable {
  /** Undefined: it does not say which line is its own. */
  readonly self: NodeLine | undefined;
  readonly others: readonly NodeLine[];
  /** Of each of the others: two lines that one reader read have the same number if they say the same. Counted from 0. */
  readonly numbers: Uint32Array;
}

interface NumberedLine {
  readonly line: NodeLine;
  readonly number: number;
}

/** By what a line is known again: all of its bytes but the times in its middle. */
interface Form {
  readonly says: NumberedLine;
  /** Before the times, with the space. */
  readonly head: Words;
  /** Behind the times, with the space, to the end. */
  readonly tail: Words;
  /** Others with the same hash. */
  readonly next: Form | undefined;
}

interface Words {
  readonly words: Float64Array;
  /** In bytes. The last word ends here, and overlaps the one before it if this is no multiple of a word. */
  readonly length: number;
}

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
/** In one bucket: what most say of a node, and some that differ. More become text each time. */
const MOST_FORMS = 8;
/** A power of two. */
const BUCKETS = 4_096;

export class NodeTableReader {
  readonly #byText = new Map<string, NumberedLine>();
  readonly #buckets = new Array<Form | undefined>(BUCKETS).fill(undefined);
  #numbers = new Uint32Array(0);

  /** How many different lines there were, without those of nodes about themselves. */
  get lineCount(): number {
    return this.#byText.size;
  }

  /** The bytes are only read. */
  read(bytes: Buffer): ReadTable {
    const table = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const others: NodeLine[] = [];
    const numbers = this.#roomFor(bytes.length);
    let self: NodeLine | undefined;
    for (let from = 0, to = 0; from < bytes.length; from = to + 1) {
      let says: NumberedLine | undefined;
      for (let form = this.#formsAt(table, from); form; form = form.next) {
        to = endIfSame(form, table, from);
        if (to < 0) continue;
        says = form.says;
        break;
      }
      if (!says) {
        to = bytes.indexOf(NEWLINE, from);
        if (to < 0) to = bytes.length;
        const text = bytes.toString('utf8', from, to);
        if (!self && isOwn(text)) {
          [self] = parseClusterNodes(text);
          continue;
        }
        says = this.#parse(text, bytes.subarray(from, to));
        if (!says) continue;
      }
      numbers[others.length] = says.number;
      others.push(says.line);
    }
    return { self, others, numbers: numbers.slice(0, others.length) };
  }

  /** For the numbers of all lines that so many bytes can be. */
  #roomFor(size: number): Uint32Array {
    const most = Math.ceil(size / ID_LENGTH);
    if (this.#numbers.length < most) this.#numbers = new Uint32Array(most);
    return this.#numbers;
  }

  #formsAt(table: DataView, from: number): Form | undefined {
    return from + ID_LENGTH > table.byteLength ? undefined : this.#buckets[bucketOf(table, from)];
  }

  #parse(text: string, bytes: Buffer): NumberedLine | undefined {
    const times = timesOf(text);
    if (!times) return undefined;
    const timeless = withoutTimes(text, times);
    const known = this.#byText.get(timeless);
    if (known) return known;
    const line = parseTimeless(timeless);
    if (!line) return undefined;
    const says = { line, number: this.#byText.size };
    this.#byText.set(timeless, says);
    // A line of a node about itself is its own in one table, and must be looked at in each.
    if (PRINTABLE.test(text) && !isOwn(text)) {
      this.#learn(says, bytes.subarray(0, times.from + 1), bytes.subarray(times.to, text.trimEnd().length));
    }
    return says;
  }

  #learn(says: NumberedLine, head: Buffer, tail: Buffer): void {
    if (tail.length < WORD) return;
    const bucket = bucketOf(new DataView(head.buffer, head.byteOffset, head.byteLength), 0);
    const next = this.#buckets[bucket];
    let forms = 0;
    for (let form = next; form; form = form.next) forms++;
    if (forms < MOST_FORMS) this.#buckets[bucket] = { says, head: wordsOf(head), tail: wordsOf(tail), next };
  }
}

/** By the flags, its third word. */
function isOwn(text: string): boolean {
  return (text.split(' ', 3)[2] ?? '').split(',').includes('myself');
}

/** By both ends of an id: those that people make up differ at one of them only. */
function bucketOf(table: DataView, at: number): number {
  const hash =
    Math.imul(table.getInt32(at, true), 0x9e3779b1) ^ Math.imul(table.getInt32(at + ID_LENGTH - 4, true), 0x85ebca6b);
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}

function wordsOf(bytes: Buffer): Words {
  const { length } = bytes;
  const words = new Float64Array(Math.ceil(length / WORD));
  for (let word = 0; word < words.length; word++) {
    words[word] = bytes.readDoubleLE(Math.min(word * WORD, length - WORD));
  }
  return { words, length };
}

/** Where the line that begins here ends, if it is the one with this form; else -1. */
function endIfSame({ head, tail }: Form, table: DataView, from: number): number {
  if (!hasWords(table, from, head)) return -1;
  const times = timesEnd(table, from + head.length);
  if (times < 0 || !hasWords(table, times, tail)) return -1;
  const end = times + tail.length;
  return end === table.byteLength || table.getUint8(end) === NEWLINE ? end : -1;
}

function hasWords(table: DataView, at: number, { words, length }: Words): boolean {
  if (at + length > table.byteLength) return false;
  const last = words.length - 1;
  for (let word = 0; word < last; word++) {
    if (table.getFloat64(at + word * WORD, true) !== words[word]) return false;
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
  return ping < table.byteLength && table.getUint8(ping) === SPACE ? wordEnd(table, ping + 1) : -1;
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
