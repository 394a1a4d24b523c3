/**
 * CLUSTER NODES of many nodes. The tables of one cluster say mostly the same, each in an order of its own and with times of its own: at
 * 1,000 nodes a look has a million lines, 135 MB, and a thousand different ones beside each node's line about itself. So a line is
 * compared, where it lies, with those that are known; it becomes text and is parsed only if it is none of them. Lines that say the same
 * are one object.
 */
import type { NodeId, NodeLine } from '../api/view.ts';
import { KnownLines } from './known-lines.ts';
import { parseClusterNodes, parseTimeless, timesOf, withoutTimes } from './parse.ts';

export interface ReadTable {
  /** Undefined: it does not say which line is its own. */
  readonly self: NodeLine | undefined;
  /** Each node once, as servers print them; should one be in a table twice, its first line counts. Who merges tables relies on it. */
  readonly others: readonly NodeLine[];
  /** Of each of the others: two lines that one reader read have the same number if they say the same. Counted from 0. */
  readonly numbers: Uint32Array;
}

/** Longer than this is every line. */
const ID_LENGTH = 40;
const NEWLINE = 0x0a;

export class NodeTableReader {
  /** By their numbers. */
  readonly #lines: NodeLine[] = [];
  readonly #byText = new Map<string, number>();
  /** Nodes have numbers, too. */
  readonly #nodes = new Map<NodeId, number>();
  /** The node of a line, by the line's number. */
  readonly #nodeOf: number[] = [];
  /** In which table a node was last, by the node's number. */
  readonly #lastIn: number[] = [];
  #tables = 0;
  readonly #known = new KnownLines();
  #numbers = new Uint32Array(0);

  /** How many different lines there were, without those of nodes about themselves. */
  get lineCount(): number {
    return this.#lines.length;
  }

  /** The bytes are only read. */
  read(bytes: Buffer): ReadTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const known = this.#known;
    const lines = this.#lines;
    const nodeOf = this.#nodeOf;
    const lastIn = this.#lastIn;
    const present = ++this.#tables;
    const others: NodeLine[] = [];
    const numbers = this.#roomFor(bytes.length);
    let self: NodeLine | undefined;
    let isAmongOthers = false;
    for (let from = 0, to = 0; from < bytes.length; from = to + 1) {
      let number = known.find(view, from);
      if (number >= 0) {
        to = known.end;
      } else {
        to = bytes.indexOf(NEWLINE, from);
        if (to < 0) to = bytes.length;
        const text = bytes.toString('utf8', from, to);
        if (!self && isOwn(text)) {
          [self] = parseClusterNodes(text);
          const own = self && this.#nodeNumber(self.id);
          if (own !== undefined) {
            isAmongOthers = lastIn[own] === present;
            lastIn[own] = present;
          }
          continue;
        }
        number = this.#parse(text, bytes.subarray(from, to));
        if (number < 0) continue;
      }
      const node = nodeOf[number] as number;
      if (lastIn[node] === present) continue;
      lastIn[node] = present;
      numbers[others.length] = number;
      others.push(lines[number] as NodeLine);
    }
    const table = { self, others, numbers: numbers.slice(0, others.length) };
    return isAmongOthers ? withoutItself(table) : table;
  }

  #nodeNumber(id: NodeId): number {
    const known = this.#nodes.get(id);
    if (known !== undefined) return known;
    this.#nodes.set(id, this.#nodes.size);
    return this.#lastIn.push(0) - 1;
  }

  /** For the numbers of all lines that so many bytes can be. */
  #roomFor(size: number): Uint32Array {
    const most = Math.ceil(size / ID_LENGTH);
    if (this.#numbers.length < most) this.#numbers = new Uint32Array(most);
    return this.#numbers;
  }

  /** The number of a line, or -1 if this is none. */
  #parse(text: string, bytes: Buffer): number {
    const times = timesOf(text);
    if (!times) return -1;
    const timeless = withoutTimes(text, times);
    const seen = this.#byText.get(timeless);
    if (seen !== undefined) return seen;
    const line = parseTimeless(timeless);
    if (!line) return -1;
    const number = this.#lines.push(line) - 1;
    this.#nodeOf.push(this.#nodeNumber(line.id));
    this.#byText.set(timeless, number);
    // A line of a node about itself is its own in one table, and must be looked at in each.
    if (!isOwn(text)) this.#known.learn(number, bytes, times);
    return number;
  }
}

function withoutItself({ self, others, numbers }: ReadTable): ReadTable {
  const isOther = (line: NodeLine | undefined) => line?.id !== self?.id;
  return { self, others: others.filter(isOther), numbers: numbers.filter((_number, index) => isOther(others[index])) };
}

/** By the flags, its third word. */
function isOwn(text: string): boolean {
  return (text.split(' ', 3)[2] ?? '').split(',').includes('myself');
}
