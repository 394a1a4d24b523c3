import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReeveError } from '@reeve/runtime';
import { allCommands } from '../src/commands.ts';
import { redisVerbs } from '../src/redis/verbs.ts';
import { Harness } from './harness.ts';

test('without arguments: the overview and exit code 2; with --help: the same and 0', async () => {
  const harness = new Harness();
  const bare = await harness.run('');
  const asked = await harness.run('--help');
  assert.equal(bare.code, 2);
  assert.equal(asked.code, 0);
  assert.equal(bare.out, asked.out);
  for (const { spec } of redisVerbs) assert.match(asked.out, new RegExp(`${spec.name} `));
  assert.match(asked.out, /Exit codes: 0 .* 1 .* 2 .*\n3 .* 130/);
  for (const family of ['redis', 'agent']) {
    for (const [line, code] of [
      [family, 2],
      [`${family} --help`, 0],
      [`${family} -h`, 0],
    ] as const) {
      const ran = await harness.run(line);
      assert.deepEqual([ran.code, ran.out, ran.err], [code, asked.out, ''], line);
    }
  }
});

test('every verb has help with usage, options and examples', async () => {
  const harness = new Harness();
  for (const { spec } of redisVerbs) {
    const { code, out } = await harness.run(`${spec.name} --help`);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`Usage: reeve ${spec.name} `));
    assert.match(out, /--password-file FILE/);
    assert.match(out, /Examples:\n {2}reeve redis/);
  }
  assert.deepEqual(harness.sent, []);
});

test('--version prints the version of the package', async () => {
  const { code, out } = await new Harness().run('--version');
  assert.equal(code, 0);
  assert.match(out, /^reeve \d+\.\d+\.\d+\n$/);
});

test('wrong command lines end with 2, say what is wrong and touch nothing', async () => {
  const lines: readonly [line: string, message: RegExp][] = [
    ['redus check', /'redus' is not a command/],
    ['redis chekc 10.0.0.1:6379', /did you mean check\?/],
    ['redis frobnicate', /not a verb of reeve redis: create, status/],
    ['agent enrol', /'enrol' is not a verb of reeve agent; did you mean enroll\?/],
    ['agent frob', /'frob' is not a verb of reeve agent: redis, enroll/],
    ['redis check', /no address given: reeve redis check HOST:PORT/],
    ['redis check 10.0.0.1', /'10\.0\.0\.1' is not an address/],
    ['redis check 10.0.0.1:6379 --jsno', /unknown option --jsno; did you mean --json\?/],
    ['redis check nowhere.invalid:6379', /the name nowhere\.invalid has no address/],
    ['redis check 10.0.0.1:6379 --password-file /none', /--password-file \/none: there is no such file/],
    ['redis check 10.0.0.1:6379 --cert /none', /--cert and --key belong together/],
    ['redis reshard 10.0.0.1:6379 --engine redis-atomic --slots 1 --to a', /add --experimental/],
    ['redis reshard 10.0.0.1:6379 --yes --approve x --slots 1 --to a', /give one of them/],
    ['redis reshard 10.0.0.1:6379 --resume /a --rollback /b', /exclude each other/],
    ['redis reshard --resume /none', /no journal at \/none/],
    ['redis create 10.0.0.1:6379 10.0.0.1:6379', /given twice/],
  ];
  for (const [line, message] of lines) {
    const harness = new Harness();
    harness.addServers(1);
    const { code, err, out } = await harness.run(line);
    assert.equal(code, 2, `${line}: ${err}`);
    assert.match(err, message, line);
    assert.equal(out, '', line);
    assert.deepEqual(harness.changes(), [], line);
  }
});

test('a password as an argument is refused and not repeated', async () => {
  const { code, err } = await new Harness().run('redis check 10.0.0.1:6379 --password hunter2');
  assert.equal(code, 2);
  assert.match(err, /--password-file FILE/);
  assert.match(err, /\[PASSWORD_ARGUMENT\]/);
  assert.doesNotMatch(err, /hunter2/);
});

test('with --json an error is one document on stdout', async () => {
  const { code, json, err } = await new Harness().run('redis check --json 10.9.9.9:1');
  assert.equal(code, 1);
  assert.deepEqual(Object.keys(json()).sort(), ['command', 'error', 'ok', 'status']);
  assert.equal((json().error as { code: string }).code, 'REDIS_UNREACHABLE');
  assert.equal(err, '');
});

test('what stands behind -- is not ours: its --json does not make our errors JSON', async () => {
  const { code, out, err } = await new Harness().run('exec a/b/c -- y --json');
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /\[USAGE\]/);
});

test('Ctrl-C speaks of a safe place and a journal only where there is one', async () => {
  const harness = new Harness();
  harness.addServers(1);
  let send = () => undefined as void;
  harness.beforeCall = () => {
    send();
    throw new ReeveError('INTERRUPTED', 'stopped by Ctrl-C');
  };
  for (const verb of ['status', 'check']) {
    const ran = await harness.run(`redis ${verb} 10.0.0.1:6379`, { interrupt: (sending) => (send = sending) });
    assert.deepEqual([ran.code, ran.out, ran.err], [130, '', 'reeve: 10.0.0.1:6379: stopped by Ctrl-C\n'], verb);
  }
  assert.deepEqual(
    allCommands.filter(({ keepsJournal }) => keepsJournal).map(({ spec }) => spec.name),
    ['create', 'fix', 'reshard', 'rebalance', 'add-node', 'del-node', 'failover'].map((verb) => `redis ${verb}`),
  );
});

test('an address where nothing answers is told with the reason, whatever is asked', async () => {
  const verbs = [
    'status',
    'check',
    'fix --yes',
    'rebalance --yes',
    'reshard --to a --slots 1 --yes',
    'failover --spread --yes',
  ];
  for (const verb of verbs) {
    const { code, err } = await new Harness().run(`redis ${verb} 10.9.9.9:1`);
    assert.equal(code, 1, verb);
    assert.match(err, /10\.9\.9\.9:1.*\[REDIS_UNREACHABLE\]/, verb);
  }
});
