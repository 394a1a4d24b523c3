import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { NodeLine } from '../api/view.ts';
import { parseClusterNodes } from './parse.ts';
import { NodeTableReader, type ReadTable } from './tables.ts';

const A = '7a5d01460bc56bd75a5fc2cc204ed2af5edbaa15';
const B = '660050d26b81333a9a62421719b51ec1cf4e5d59';
/** Differs in the middle only: whoever looks at both ends takes it for the first. */
const LIKE_A = `${A.slice(0, 20)}0${A.slice(21)}`;

/** As it would come: in a larger piece of memory, at an odd place. */
function bytesOf(text: string): Buffer {
  const all = Buffer.from(`+OK\r\n${text}\r\n+OK`);
  return all.subarray(5, all.length - 5);
}

const read = (reader: NodeTableReader, text: string): ReadTable => reader.read(bytesOf(text));
const firstOf = (reader: NodeTableReader, text: string): NodeLine | undefined => read(reader, text).others[0];

type Part = 'id' | 'at' | 'flags' | 'of' | 'times' | 'epoch' | 'link' | 'slots';

function lineOf(changes: Partial<Record<Part, string>> = {}): string {
  const { id, at, flags, of, times, epoch, link, slots } = {
    id: A,
    at: '10.0.0.1:1@2',
    flags: 'master',
    of: '-',
    times: '0 17',
    epoch: '3',
    link: 'connected',
    slots: ' 0-5',
    ...changes,
  };
  return `${id} ${at} ${flags} ${of} ${times} ${epoch} ${link}${slots}`;
}

describe('a line is known again', () => {
  test('whatever its times are, and only if all the rest is the same', () => {
    const reader = new NodeTableReader();
    const first = firstOf(reader, lineOf());
    for (const same of [lineOf({ times: '1794781666736 1794781666738' }), `${lineOf()}\r`, `${lineOf()}\n`]) {
      assert.equal(firstOf(reader, same), first);
    }
    const others = [
      lineOf({ id: LIKE_A }),
      lineOf({ at: '10.0.0.1:1@23' }),
      lineOf({ flags: 'master,fail?' }),
      lineOf({ flags: 'slave', of: B }),
      lineOf({ epoch: '33' }),
      lineOf({ link: 'disconnected' }),
      lineOf({ slots: ' 0-55' }),
      lineOf({ slots: ' 0-' }),
      lineOf({ slots: '' }),
    ];
    for (const other of others) {
      const line = firstOf(reader, other);
      assert.notEqual(line, first);
      assert.deepEqual(line, parseClusterNodes(other)[0], 'as if it were the first');
      assert.equal(firstOf(reader, other), line);
    }
    assert.equal(firstOf(reader, lineOf()), first);
  });

  test('as one object with one number', () => {
    const reader = new NodeTableReader();
    const table = (pong: number) => [lineOf({ times: `0 ${pong}` }), lineOf({ id: B, times: `${pong} 0` })].join('\n');
    const first = read(reader, table(1794781666738));
    const second = read(reader, table(17));
    assert.equal(first.others[0], second.others[0]);
    assert.equal(first.others[1], second.others[1]);
    assert.deepEqual(first.numbers, second.numbers);
    assert.notEqual(first.numbers[0], first.numbers[1]);
  });

  test('also if there are more different ones than are kept', () => {
    const reader = new NodeTableReader();
    const many = Array.from({ length: 50 }, (_, epoch) => lineOf({ epoch: String(epoch) }));
    const first = many.map((line) => firstOf(reader, line));
    const again = many.map((line) => firstOf(reader, line));
    assert.ok(again.every((line, index) => line === first[index]));
    assert.equal(new Set(first).size, 50);
  });

  test('n tables have n lines and n own lines, not n times n', () => {
    const count = 300;
    const ids = Array.from({ length: count }, (_, n) => n.toString(16).padStart(40, '0'));
    const reader = new NodeTableReader();
    const different = new Set<object>();
    for (let reporter = 0; reporter < count; reporter++) {
      const text = ids
        .map((id, n) =>
          lineOf({
            id,
            at: `10.0.${n >> 8}.${n & 255}:6379@16379`,
            flags: n === reporter ? 'myself,master' : 'master',
            times: `0 ${1794781666738 + reporter}`,
            epoch: String(n),
            slots: ` ${n * 50}-${n * 50 + 49}`,
          }),
        )
        .join('\n');
      const { self, others } = read(reader, text);
      assert.equal(self?.id, ids[reporter]);
      assert.equal(others.length, count - 1);
      for (const line of others) different.add(line);
    }
    assert.equal(different.size, count);
    assert.equal(reader.lineCount, count);
  });
});

test('its own line is the first that says so; without one there is none', () => {
  const reader = new NodeTableReader();
  const own = lineOf({ flags: 'myself,master' });
  assert.equal(read(reader, lineOf()).self, undefined);
  for (let look = 0; look < 2; look++) {
    const { self, others } = read(reader, [lineOf({ id: B }), own, lineOf({ id: LIKE_A, flags: 'myself' })].join('\n'));
    assert.equal(self?.id, A);
    assert.deepEqual(
      others.map(({ id }) => id),
      [B, LIKE_A],
    );
  }
});

/** So that some are in a table twice, and some are not. */
const MORE = Array.from({ length: 5 }, (_, n) => `${A.slice(0, 39)}${n}`);

/** Parts that are alike, so that lines often differ in one of them only. */
const anyLine = fc
  .record({
    id: fc.constantFrom(A, LIKE_A, B, ...MORE, A.slice(1), `${A}0`),
    at: fc.constantFrom('10.0.0.1:1@2', '10.0.0.1:1@23', '10.0.0.1:1@2,hôte', ':0@0', '::1:1@2', 'nowhere'),
    flags: fc.constantFrom('master', 'master,fail?', 'slave', 'myself,master', 'handshake', 'slave,fail,noaddr'),
    of: fc.constantFrom('-', B),
    times: fc.constantFrom('0 0', '0 1794781666738', '1794781666736 1794781666738', ' 0', '0 ', '0\t1 2', '0', 'a 3 3'),
    epoch: fc.constantFrom('3', '33', '0', ''),
    link: fc.constantFrom('connected', 'disconnected', ''),
    slots: fc.constantFrom('', ' ', ' 0-5', ' 0-55', ' 5 0-3', ` 7 [7->-${B}]`, ` [8-<-${A}]`, ' é'),
  })
  .map(lineOf);
const anyText = fc.array(
  fc.tuple(
    fc.oneof(
      { weight: 8, arbitrary: anyLine },
      { weight: 1, arbitrary: fc.constantFrom('', 'vars currentEpoch 7 lastVoteEpoch 0', A, `${A} `, ' '.repeat(60)) },
      { weight: 1, arbitrary: fc.tuple(anyLine, fc.nat(130)).map(([line, length]) => line.slice(0, length)) },
    ),
    fc.constantFrom('\n', '\n', '\n', '\r\n', ''),
  ),
  { maxLength: 12 },
);

test('a node that is in a table twice is read once, also its owner; the next table has it again', () => {
  const reader = new NodeTableReader();
  const own = lineOf({ id: B, flags: 'myself,master' });
  const failed = lineOf({ flags: 'master,fail' });
  for (const lines of [
    [own, lineOf(), failed, lineOf()],
    [lineOf({ id: B }), lineOf(), own, failed, lineOf({ id: B })],
    [lineOf(), own],
  ]) {
    const { self, others, numbers } = read(reader, lines.join('\n'));
    assert.equal(self?.id, B);
    assert.deepEqual(others, parseClusterNodes(lineOf()));
    assert.equal(numbers.length, 1);
  }
  assert.deepEqual(firstOf(reader, failed)?.flags, ['master', 'fail'], 'the first, whichever it is');
});

/** All lines, parsed one by one: its own is the first that says so, and of each of the others the first counts. */
function parsedTable(text: string): { readonly self: NodeLine | undefined; readonly others: readonly NodeLine[] } {
  const lines = parseClusterNodes(text);
  const self = lines.find(({ flags }) => flags.includes('myself'));
  const others = new Map<string, NodeLine>();
  for (const line of lines) {
    if (line.id !== self?.id && !others.has(line.id)) others.set(line.id, line);
  }
  return { self, others: [...others.values()] };
}

test('any tables, one after the other, are read as if each line were parsed', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 8 }), (tables) => {
      const reader = new NodeTableReader();
      const byNumber = new Map<number, NodeLine>();
      for (const lines of tables) {
        const text = lines.map(([line, end]) => line + end).join('');
        const { self, others, numbers } = read(reader, text);
        assert.deepEqual({ self, others }, parsedTable(text));
        assert.equal(numbers.length, others.length);
        for (const [index, line] of others.entries()) {
          const number = numbers[index] ?? -1;
          assert.ok(number >= 0 && number < reader.lineCount);
          assert.equal(byNumber.get(number) ?? line, line, 'one number, one line');
          byNumber.set(number, line);
        }
      }
    }),
    { numRuns: 400 },
  );
});
