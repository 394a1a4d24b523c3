import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLeftovers, checkMachine, checkSize, MOST_LINES } from './house.ts';

test('a file that grew too long is found', () => {
  const text = 'x;\n'.repeat(MOST_LINES + 1);
  assert.match(checkSize([{ path: 'a/b.ts', text }]).join(), /a\/b\.ts: 451 lines/);
  assert.deepEqual(checkSize([{ path: 'a/b.ts', text: 'x;\n'.repeat(MOST_LINES) }]), []);
  assert.deepEqual(checkSize([{ path: 'docs/long.md', text }]), []);
});

test('paths of one machine and other registries are found', () => {
  const path = 'a.md';
  assert.match(checkMachine([{ path, text: 'ok\nsee /home/ann/reeve/x' }]).join(), /a\.md:2/);
  assert.match(checkMachine([{ path, text: 'https://npm.corp.example/x' }]).join(), /registry/);
  assert.deepEqual(
    checkMachine([{ path, text: 'https://registry.npmjs.org/x and ~/home and https://x.y/home/ann/' }]),
    [],
  );
});

test('undone work, silenced tools and switched-off tests are found', () => {
  const of = (text: string) => checkLeftovers([{ path: 'a.ts', text }]).join();
  assert.match(of(`// ${'TO'}DO later`), /undone/);
  assert.match(of('// @ts-expect-error'), /silenced/);
  assert.match(of("test.skip('x')"), /switched off/);
  assert.match(of("test('x', { skip: true })"), /switched off/);
  assert.equal(of("skipped.push('x');"), '');
});
