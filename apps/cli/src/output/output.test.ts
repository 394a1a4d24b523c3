import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clip, formatBytes, formatCount, formatDuration, plural } from './format.ts';
import { styleFor } from './style.ts';
import { table } from './table.ts';

test('numbers read well', () => {
  assert.equal(formatCount(0), '0');
  assert.equal(formatCount(1234567), '1,234,567');
  assert.equal(formatBytes(512), '512 B');
  assert.equal(formatBytes(1536), '1.5 KiB');
  assert.equal(formatBytes(300 * 1024 * 1024), '300 MiB');
  assert.equal(formatDuration(400), '0 s');
  assert.equal(formatDuration(61_000), '1 min 01 s');
  assert.equal(formatDuration(3_720_000), '1 h 02 min');
  assert.equal(plural(1, 'primary', 'primaries'), '1 primary');
  assert.equal(plural(2, 'key'), '2 keys');
  assert.equal(clip('abcdef', 4), 'abc…');
  assert.equal(clip('abc', 4), 'abc');
});

test('colours need a terminal and give way to NO_COLOR', () => {
  assert.equal(styleFor(true, {}).red('x'), '\u001b[31mx\u001b[39m');
  assert.equal(styleFor(false, {}).red('x'), 'x');
  assert.equal(styleFor(true, { NO_COLOR: '1' }).red('x'), 'x');
  assert.equal(styleFor(true, { NO_COLOR: '' }).bold('x'), '\u001b[1mx\u001b[22m');
  assert.equal(styleFor(true, { TERM: 'dumb' }).red('x'), 'x');
});

test('a table is as wide as its widest cells and has no trailing blanks', () => {
  assert.deepEqual(
    table(
      [{ title: 'A' }, { title: 'N', right: true }, { title: 'B' }],
      [
        ['long', '7', ''],
        ['x', '1000', 'y'],
      ],
    ),
    ['A        N  B', 'long     7', 'x     1000  y'],
  );
});
