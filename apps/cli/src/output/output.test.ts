import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clip, formatCount, formatDuration, plural } from './format.ts';
import { styleFor } from './style.ts';

test('numbers read well', () => {
  assert.equal(formatCount(0), '0');
  assert.equal(formatCount(1234567), '1,234,567');
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
