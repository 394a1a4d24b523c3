/** Each tool, with the settings of this repository, can fail: on a small repository with one mistake of each kind. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { formatProblems } from './lib/report.ts';
import { root } from './lib/source.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-checks-'));
after(() => rmSync(folder, { recursive: true }));

for (const name of ['.oxlintrc.json', 'tsconfig.json', 'biome.json'])
  copyFileSync(join(root, name), join(folder, name));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function run(tool: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', tool), args, {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}` };
}

test('lint finds bare clocks, timers, randomness and floating promises in src, and only there', () => {
  const mistakes: readonly [line: string, rule: string][] = [
    ['export const a = Date.now();', 'no-restricted-properties'],
    ['export const b = performance.now();', 'no-restricted-properties'],
    ['export const c = Math.random();', 'no-restricted-properties'],
    ['export const d = AbortSignal.timeout(5);', 'no-restricted-properties'],
    ['setTimeout(() => undefined, 5);', 'no-restricted-globals'],
    ['setImmediate(() => undefined);', 'no-restricted-globals'],
    ['export const e = new WeakRef({});', 'no-restricted-globals'],
    ["export { setTimeout as f } from 'node:timers/promises';", 'no-restricted-imports'],
    ["export { randomBytes as g } from 'node:crypto';", 'no-restricted-imports'],
    ['Promise.resolve(1);', 'no-floating-promises'],
    ['export const h = async () => await 1;', 'await-thenable'],
    ['export const i = JSON.parse("1") + 1;', 'no-unsafe'],
    ['export const { now: j } = Date;', 'no-restricted-properties'],
  ];
  const text = `${mistakes.map(([line]) => line).join('\n')}\n`;
  write('packages/x/src/a.ts', text);
  write('packages/x/src/a.test.ts', 'setTimeout(() => undefined, Date.now());\n');
  const { status, output } = run('oxlint', '--type-aware', '-f', 'unix', 'packages');
  assert.equal(status, 1, output);
  mistakes.forEach(([line, rule], index) => {
    const found = output
      .split('\n')
      .some((found) => found.startsWith(`packages/x/src/a.ts:${index + 1}:`) && found.includes(rule));
    assert.ok(found, `${line} → ${rule}\n${output}`);
  });
  assert.doesNotMatch(output, /a\.test\.ts/);
});

test('a wrong type is found', () => {
  write('packages/y/src/a.ts', 'export const a: number = "1";\n');
  const { status, output } = run('tsc', '-p', '.');
  assert.notEqual(status, 0);
  assert.match(output, /packages\/y\/src\/a\.ts\(1,14\): error TS2322/);
});

test('a file that is not formatted is found', () => {
  write('packages/z/src/a.ts', 'export const a = {b:"c"}\n');
  write('packages/z/src/b.ts', "export const b = { b: 'c' };\n");
  const options = ['format', '--colors=off', '--vcs-enabled=false'];
  assert.equal(run('biome', ...options, 'packages/z/src/b.ts').status, 0);
  const { status, output } = run('biome', ...options, 'packages/z/src/a.ts');
  assert.equal(status, 1, output);
  assert.match(output, /packages\/z\/src\/a\.ts/);
});

test('a formatter whose settings are broken fails, though it names no file', () => {
  write('broken/biome.json', '{ "formatter": { "nonsense": true } }');
  write('broken/a.ts', "export const a = 'b';\n");
  const { status, output } = run(
    'biome',
    'format',
    '--colors=off',
    `--config-path=${join(folder, 'broken')}`,
    'broken',
  );
  assert.notEqual(status, 0, output);
  assert.deepEqual(formatProblems([output]), [output]);
  assert.match(output, /nonsense/);
});

test('a dead file and a dead export are found', () => {
  const small = 'small';
  write(`${small}/package.json`, '{ "name": "small", "type": "module", "main": "./index.ts" }');
  write(`${small}/index.ts`, "import { used } from './lib.ts';\nconsole.log(used);\n");
  write(`${small}/lib.ts`, 'export const used = 1;\nexport const dead = 2;\n');
  write(`${small}/nobody.ts`, 'export const x = 1;\n');
  const { status, output } = run('knip', '--no-progress', '--directory', join(folder, small));
  assert.equal(status, 1, output);
  assert.match(output, /nobody\.ts/);
  assert.match(output, /dead/);
});

test('a test file whose process does not end fails, and says what is still open', () => {
  const deadline = join(root, 'checks/lib/deadline-testing.ts');
  write('src/endless.ts', 'setInterval(() => undefined, 1_000);\n');
  const { status, stderr } = spawnSync(process.execPath, ['--import', deadline, join(folder, 'src/endless.ts')], {
    env: { ...process.env, REEVE_TEST_MINUTES: '0.001' },
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /endless\.ts did not end within 0\.001 minutes; still open: .*Timeout/);
});
