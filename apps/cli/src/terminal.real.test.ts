/**
 * The program at a terminal: a pseudo terminal by `script` (util-linux; part of every Debian and Ubuntu, in the
 * package bsdutils that cannot be left out).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { REEVE, type Server, startServer } from '@reeve/rig';
import { address } from '../tests/program.ts';

const TERMINAL = 'script';
const PASSWORD = 'seen-by-nobody';
let server: Server;

before(async () => {
  server = await startServer({ product: 'valkey', password: PASSWORD });
});
after(() => server?.stop());

interface Ended {
  readonly code: number | null;
  /** All that the terminal showed. */
  readonly shown: string;
}

/** Runs a shell line at a terminal and types each answer once what it waits for is shown. */
function atTerminal(line: string, answers: readonly (readonly [after: string, typed: string])[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(TERMINAL, ['-qec', line, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const left = [...answers];
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      const [next] = left;
      if (!next || !shown.includes(next[0])) return;
      left.shift();
      child.stdin.write(next[1]);
    });
    child.on('error', (cause) => reject(new Error('this test needs the program `script` of util-linux', { cause })));
    child.on('close', (code) => resolve({ code, shown }));
  });
}

const reeve = (...args: readonly string[]) =>
  [process.execPath, REEVE, 'redis', ...args].map((word) => `'${word}'`).join(' ');

test('what is typed at a terminal shows, unless somebody sees to it: this test can fail', async () => {
  const { shown } = await atTerminal('echo ready; head -n 1 > /dev/null', [['ready', `${PASSWORD}\r`]]);
  assert.ok(shown.includes(PASSWORD), shown);
});

test('a password is asked for at the terminal, lets us in, and is not shown', async () => {
  const { code, shown } = await atTerminal(reeve('status', address(server)), [['Password for ', `${PASSWORD}\r`]]);
  assert.equal(code, 0, shown);
  assert.ok(shown.includes(`Password for ${address(server)}: `), shown);
  assert.match(shown, /cluster_state/);
  assert.ok(!shown.includes(PASSWORD), shown);
});

test('a wrong password is refused and not shown either', async () => {
  const { code, shown } = await atTerminal(reeve('status', address(server)), [['Password for ', 'mistyped\r']]);
  assert.equal(code, 1, shown);
  assert.match(shown, /\[REDIS_AUTH\]/);
  assert.ok(!shown.includes('mistyped'), shown);
});

test('Ctrl-C at the prompt ends it with 130', async () => {
  const { code, shown } = await atTerminal(reeve('status', address(server)), [['Password for ', '\u0003']]);
  assert.equal(code, 130, shown);
});
