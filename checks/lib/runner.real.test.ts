/** Whatever is wrong with a test file, the runner of unit tests fails and says where: on small files with one fault each. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { judge, runBatches } from './runner.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-runner-'));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');

function write(lines: readonly string[]): string {
  // It is run as from a terminal, not as a part of this test.
  delete process.env.NODE_TEST_CONTEXT;
  const file = join(folder, 'faulty.test.ts');
  const head = ["import assert from 'node:assert/strict';", "import { test } from 'node:test';"];
  writeFileSync(file, `${[...head, ...lines].join('\n')}\n`);
  return file;
}

/** As unit tests are run. */
async function run(...lines: readonly string[]) {
  let output = '';
  const { counts } = await runBatches([write(lines)], 1, (text) => {
    output += text;
  });
  return { problem: judge(counts), output };
}

const alone = join(folder, 'alone.ts');
writeFileSync(
  alone,
  `import { judge, runApart } from ${JSON.stringify(new URL('./runner.ts', import.meta.url).href)};
  const { counts } = await runApart(process.argv.slice(2), 1);
  console.log('problem: ' + judge(counts));
  process.exitCode = 0;\n`,
);

/** As all others are; in another process, because Node's runner is at work in this one. */
async function runAlone(...lines: readonly string[]) {
  const { stdout: output } = await promisify(execFile)(process.execPath, [alone, write(lines)]);
  return { problem: /^problem: (.*)$/m.exec(output)?.[1], output };
}

test('what passes passes, and promises are not followed', async () => {
  const { problem, output } = await run(
    "import { executionAsyncId } from 'node:async_hooks';",
    "test('each promise that is followed has a number', async () => {",
    '  await null;',
    '  const first = executionAsyncId();',
    '  await null;',
    '  assert.equal(executionAsyncId(), first);',
    '});',
  );
  assert.equal(problem, undefined, output);
});

test('a failing test is told with its place', async () => {
  const { problem, output } = await run("test('wrong', () => assert.equal(1, 2));");
  assert.equal(problem, '1 tests failed', output);
  assert.match(output, /faulty\.test\.ts:3:1[^]*wrong/);
});

test('a file that cannot be loaded fails', async () => {
  const { problem, output } = await run("import './nowhere.ts';");
  assert.equal(problem, '1 tests failed', output);
  assert.match(output, /nowhere\.ts/);
});

test('a suite that fails fails, also where all its tests passed or none came to be', async () => {
  const faults = [
    "after(() => assert.fail('not all')); test('good', () => undefined);",
    "throw new Error('too early');",
  ];
  for (const fault of faults) {
    const { problem, output } = await run(
      "import { after, describe } from 'node:test';",
      "test('another', () => undefined);",
      `describe('suite', () => { ${fault} });`,
    );
    assert.equal(problem, '1 tests failed', output);
    assert.match(output, /not all|too early/);
  }
});

test('an error that nobody caught fails, with its stack and the test that ran', async () => {
  for (const stray of ["void Promise.reject(new Error('stray'))", "setTimeout(() => { throw new Error('stray'); })"]) {
    const { problem, output } = await run(`test('leaves something behind', () => { ${stray}; });`);
    assert.equal(problem, '1 tests failed', output);
    assert.match(output, /nobody caught: Error: stray\n\s+at [^]*faulty\.test\.ts:3/);
    assert.match(output, /begun last: leaves something behind \(.*faulty\.test\.ts:3\)/);
  }
});

test('also one that comes when all tests have ended, and their counts are told', async () => {
  // Nothing is left to do when this comes: Node has stopped listening by then.
  const late = (stray: string) =>
    `test('early', () => { process.once('beforeExit', () => setImmediate(() => { ${stray} })); });`;
  for (const stray of ["void Promise.reject(new Error('stray'));", "throw new Error('stray');"]) {
    for (const { problem, output } of [await run(late(stray)), await runAlone(late(stray))]) {
      assert.equal(problem, '1 tests failed', output);
      assert.match(output, /nobody caught: Error: stray/);
    }
  }
});

test('a test that never gives way is killed, and told with its place', async () => {
  process.env.REEVE_TEST_MINUTES = '0.02';
  const { problem, output } = await run("test('endless', () => { for (;;); });");
  assert.equal(problem, 'the test runner gave no summary', output);
  assert.match(output, /did not give way within 0\.02 minutes; .* begun last: endless \(.*faulty\.test\.ts:3\)/);
  assert.match(output, /SIGKILL and without a summary: .*faulty\.test\.ts/);
});

test('a file that does not end fails, and so does a test that waits for what never comes', async () => {
  process.env.REEVE_TEST_MINUTES = '0.05';
  for (const body of ['{ setInterval(() => undefined, 1_000); }', 'new Promise(() => undefined)']) {
    const { problem, output } = await run(`test('endless', () => ${body});`);
    assert.equal(problem, 'the test runner gave no summary', output);
    assert.match(output, /did not end within 0\.05 minutes; still open: .*Timeout/);
    assert.match(output, /begun last: endless/);
    assert.match(output, /without a summary: .*faulty\.test\.ts/);
  }
});
