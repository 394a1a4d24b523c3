import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpText, nearest, type OptionSpecs, parseLine, wrap } from './args.ts';

const specs = {
  yes: { type: 'flag', help: 'Do not ask.' },
  to: { type: 'text', value: 'NODE', help: 'Where to.' },
  slots: { type: 'number', value: 'N', least: 1, most: 16384, help: 'How many.' },
  threshold: { type: 'number', value: 'P', whole: false, help: 'Percent.' },
  from: { type: 'list', value: 'NODE', help: 'Where from.' },
  engine: { type: 'text', value: 'E', choices: ['auto', 'atomic'], help: 'Which.' },
} as const satisfies OptionSpecs;

const parse = (...argv: string[]) => parseLine(specs, argv);
const refused = (code: string, message: RegExp) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, code);
  assert.match((error as Error).message, message);
  return true;
};

test('options of every type are read, words are kept in order', () => {
  const line = parse('a:1', '--to', 'x', '--slots=5', '--from', 'b', 'c:2', '--from=d', '--yes', '--threshold', '2.5');
  assert.deepEqual(line.words, ['a:1', 'c:2']);
  assert.deepEqual(
    { ...line.values },
    { yes: true, to: 'x', slots: 5, threshold: 2.5, from: ['b', 'd'], engine: undefined },
  );
  assert.deepEqual(
    { ...parse().values },
    { yes: false, to: undefined, slots: undefined, threshold: undefined, from: [], engine: undefined },
  );
});

test('a mistyped option is refused with the one that was meant', () => {
  assert.throws(() => parse('--slot', '5'), refused('USAGE', /unknown option --slot; did you mean --slots\?/));
  assert.throws(() => parse('--form', 'x'), refused('USAGE', /did you mean --from\?/));
  assert.throws(() => parse('--nonsense'), refused('USAGE', /unknown option --nonsense$/));
  assert.throws(() => parse('-x'), refused('USAGE', /unknown option -x/));
});

test('values that are missing, of the wrong kind or out of range are refused', () => {
  assert.throws(() => parse('--to'), refused('USAGE', /--to needs a value: --to NODE/));
  assert.throws(() => parse('--to', '--yes'), refused('USAGE', /needs a value/));
  assert.throws(() => parse('--yes=1'), refused('USAGE', /takes no value/));
  assert.throws(() => parse('--slots', 'many'), refused('USAGE', /whole number, not 'many'/));
  assert.throws(() => parse('--slots', '1.5'), refused('USAGE', /whole number/));
  assert.throws(() => parse('--slots', '0'), refused('USAGE', /1 to 16384/));
  assert.throws(() => parse('--slots', '16385'), refused('USAGE', /1 to 16384/));
  assert.throws(() => parse('--engine', 'fast'), refused('USAGE', /one of auto, atomic, not 'fast'/));
  assert.throws(() => parse('--to', 'a', '--to', 'b'), refused('USAGE', /given 2 times/));
});

test('a password on the argument list is refused with a hint, whatever it is called', () => {
  const withFile = { ...specs, 'password-file': { type: 'text', value: 'FILE', help: 'Where it is.' } } as const;
  for (const name of ['--password', '--pass', '-a', '-p', '--auth']) {
    assert.throws(() => parseLine(withFile, [name, 'secret']), refused('PASSWORD_ARGUMENT', /--password-file/), name);
    assert.throws(() => parse(name, '8443'), refused('USAGE', /^unknown option/), `${name}, without such a file`);
  }
});

test('--help and -h win over everything else', () => {
  assert.equal(parse('--help').help, true);
  assert.equal(parse('x', '-h').help, true);
});

test('the nearest word is found, and none when nothing is near', () => {
  assert.equal(nearest('rebalanse', ['reshard', 'rebalance']), 'rebalance');
  assert.equal(nearest('reba', ['reshard', 'rebalance']), 'rebalance');
  assert.equal(nearest('xyz', ['reshard', 'rebalance']), undefined);
});

test('help names every option with its value and has the examples', () => {
  const text = helpText({
    name: 'redis move',
    takes: 'HOST:PORT',
    summary: 'moves',
    description: ['Moves things.'],
    groups: [{ title: 'Options', options: specs }],
    examples: [{ line: 'reeve redis move a:1', what: 'an example' }],
  });
  assert.match(text, /^reeve redis move — moves\n\nUsage: reeve redis move HOST:PORT\n/);
  for (const name of Object.keys(specs)) assert.match(text, new RegExp(`--${name} `));
  assert.match(text, /--slots N +How many\./);
  assert.match(text, /Examples:\n {2}reeve redis move a:1\n {6}an example/);
});

test('long help is wrapped at words', () => {
  assert.deepEqual(wrap('one two three four', 9), ['one two', 'three', 'four']);
});

test('an option may have a letter, alone, with its value, or in a row of flags', () => {
  const lettered = {
    all: { type: 'flag', short: 'A', help: 'All.' },
    watch: { type: 'flag', short: 'w', help: 'On and on.' },
    namespace: { type: 'text', short: 'n', value: 'NS', help: 'Where.' },
    file: { type: 'text', short: 'f', value: 'FILE', help: 'What.' },
  } as const satisfies OptionSpecs;
  const read = (...argv: string[]) => {
    const { words, values } = parseLine(lettered, argv);
    return { words, ...values };
  };
  const none = { all: false, watch: false, namespace: undefined, file: undefined };
  assert.deepEqual(read('-n', 'x', 'pods', '-A'), { ...none, words: ['pods'], namespace: 'x', all: true });
  assert.deepEqual(read('-nx', '-Aw'), { ...none, words: [], namespace: 'x', all: true, watch: true });
  assert.deepEqual(read('-f', '-'), { ...none, words: [], file: '-' });
  assert.deepEqual(read('pod', '--', 'ls', '-A'), { ...none, words: ['pod', 'ls', '-A'] });
  assert.throws(() => read('-n'), refused('USAGE', /-n needs a value: -n NS/));
  assert.throws(() => read('-z'), refused('USAGE', /unknown option -z/));
  assert.throws(() => read('-n', 'x', '--namespace', 'y'), refused('USAGE', /given 2 times/));
  const groups = [{ title: 'Options', options: lettered }];
  const spec = { name: 'get', takes: '', summary: 's', description: [], groups, examples: [] };
  assert.match(helpText(spec), / {2}-n, --namespace NS +Where\.\n/);
});
