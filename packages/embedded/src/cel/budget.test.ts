/** Whatever is written or given: compiling and evaluating end soon, with a value or an error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compile } from './environment.ts';
import { estimateCost } from './estimate.ts';
import { COST_LIMIT } from './meter.ts';
import { outcomeOf } from './show-testing.ts';
import { DYN } from './type.ts';
import { fromJson } from './value.ts';

const json = fc.jsonValue({ maxDepth: 3 });

/** Expressions by the grammar, right or wrong by their types. */
const { expression } = fc.letrec<{ expression: string; list: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'cel' },
    fc.constantFrom('self', 'self.a', 'x', '1', '2.5', '"a"', 'true', 'null', 'b"x"', '[1, 2]', '{"a": 1}', '0u', '-1'),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '/', '%', '<', '==', '!=', '&&', '||', 'in'),
        tie('expression'),
      )
      .map(([one, sign, other]) => `(${one} ${sign} ${other})`),
    fc.tuple(tie('expression'), tie('expression'), tie('expression')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(tie('list'), fc.constantFrom('all', 'exists', 'exists_one', 'map', 'filter'), tie('expression'))
      .map(([list, macro, body]) => `${list}.${macro}(x, ${body})`),
    fc
      .tuple(
        fc.constantFrom('string', 'int', 'size', 'dyn', 'type', 'quantity', 'ip', 'url', 'duration'),
        tie('expression'),
      )
      .map(([name, arg]) => `${name}(${arg})`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('a', '?a', 'size()', 'matches("a+")', 'split(",")', 'sort()', 'sum()', 'value()'),
      )
      .map(([target, part]) => `dyn(${target}).${part}`),
    fc.tuple(tie('expression'), tie('expression')).map(([one, other]) => `dyn(${one})[${other}]`),
    tie('list'),
  ),
  list: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'cel' },
    fc.constantFrom('self', '[1, 2, 3]', 'lists.range(50)', '{"a": 1}', 'dyn(x)'),
    fc.tuple(tie('expression')).map(([one]) => `[${one}]`),
  ),
}));

test('property: an evaluation ends with a value or an error and keeps to its budget', () => {
  fc.assert(
    fc.property(expression, json, fc.constantFrom(50, 1000, COST_LIMIT), (text, self, limit) => {
      const program = compile(
        text,
        new Map([
          ['self', DYN],
          ['x', DYN],
        ]),
      );
      if ('problem' in program) return assert.notEqual(program.problem, '');
      const { value, error, exceeded, cost } = program.evaluate((name) => (name === 'self' ? fromJson(self) : null), {
        cost: limit,
      });
      assert.notEqual(value === undefined, error === undefined);
      if (!exceeded) assert.ok(cost <= limit, `${cost} of ${limit}`);
      assert.ok(estimateCost(program.tree, () => undefined) >= 0);
    }),
    { numRuns: 150 },
  );
});

test('property: no text at all breaks parser and checker', () => {
  const noise = fc.array(
    fc.constantFrom(...Array.from('()[]{}.,?:!-+*/%"\'\\abx1 \n'), '&&', '||', 'self', 'has(', '.all(', '😀', '//'),
    {
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(noise, (parts) => {
      const program = compile(parts.join(''), new Map([['self', DYN]]));
      if ('problem' in program) assert.notEqual(program.problem, '');
    }),
    { numRuns: 300 },
  );
});

test('a runaway expression is ended with the server’s words', () => {
  const long = Array.from({ length: 100 }, (_unused, index) => index);
  const { error, exceeded } = outcomeOf('self.all(a, self.all(b, self.all(c, a + b + c >= 0)))', long, {
    cost: 100_000,
  });
  assert.equal(error, 'operation cancelled: actual cost limit exceeded');
  assert.ok(exceeded);
});

test('what costs little and takes long is ended, too', () => {
  const work = 200_000;
  const deep = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 'x'));
  assert.ok(outcomeOf('lists.range(2000).all(i, [self] == [self])', deep, { work }).exceeded);
  assert.ok(outcomeOf('lists.range(100000000).size() > 0').exceeded);
  assert.ok(outcomeOf('self.matches("([a-z]{1,30}a){1,30}x$")', 'ab'.repeat(2000), { work }).exceeded);
  assert.ok(
    outcomeOf('lists.range(500).map(i, lists.range(500)).flatten().sort().size() > 0', null, { work }).exceeded,
  );
});

test('results much larger than what went in are paid for before they are made', () => {
  const text = 'x'.repeat(100_000);
  const rows = [
    'self.replace("", self).size() > 0',
    'lists.range(1000).map(i, self).join(self).size() > 0',
    '"%s%s%s%s%s%s%s%s%s%s".format([self, self, self, self, self, self, self, self, self, self]).size() > 0',
    '[self, self].map(a, lists.range(500).map(i, a)).flatten().join(",").size() > 0',
  ];
  for (const row of rows) assert.ok(outcomeOf(row, text, { work: 500_000 }).exceeded, row);
});

test('much data is looked at without being copied each time', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_unused, at) => [`k${at}`, at]));
  const { exceeded } = outcomeOf(
    'lists.range(2000).all(i, self.m.size() > i && self.m.exists(k, k == "k0"))',
    { m: many },
    { work: 100_000 },
  );
  assert.ok(!exceeded);
  const list = Array.from({ length: 2000 }, () => '');
  assert.ok(outcomeOf('lists.range(2000).all(i, (self + ["x"]).max() == "x")', list, { work: 500_000 }).exceeded);
});

test('numbers with very many digits are no trouble', () => {
  const digits = '9'.repeat(200_000);
  assert.match(outcomeOf('int(self)', digits).error ?? '', /type conversion error/);
  assert.equal(outcomeOf('int(self) == 5', `${'0'.repeat(200_000)}5`).value, true);
  assert.equal(outcomeOf('quantity(self).isInteger()', digits).value, false);
  assert.equal(outcomeOf('quantity(self).isGreaterThan(quantity("0"))', `0.${'0'.repeat(200_000)}1`).value, true);
  assert.equal(outcomeOf('isSemver(self)', `1.2.${digits}`).value, false);
  assert.match(outcomeOf('duration(self)', `${digits}s`).error ?? '', /type conversion error/);
});

test('nesting and length are bounded', () => {
  const message = (text: string): string => {
    const program = compile(text, new Map([['self', DYN]]));
    return 'problem' in program ? program.problem.slice(0, 120) : 'fine';
  };
  assert.match(message(`${'('.repeat(5000)}1${')'.repeat(5000)}`), /expression recursion limit exceeded: 250/);
  assert.match(
    message(Array.from({ length: 5000 }, () => '1').join(' + ')),
    /expression recursion limit exceeded: 250/,
  );
  assert.match(message(`self${'.a'.repeat(5000)}`), /expression recursion limit exceeded: 250/);
  assert.match(message(`${'!'.repeat(5000)}true`), /fine/);
  assert.match(message(Array.from({ length: 5000 }, () => 'true').join(' && ')), /fine/);
  assert.match(message(' '.repeat(100_001)), /expression code point size exceeds limit: size: 100001, limit 100000/);
});

test('a fold that appends or inserts does not copy what it has', () => {
  const { value, exceeded } = outcomeOf(
    'lists.range(5000).map(x, x).size() + lists.range(5000).transformMap(i, v, v).size()',
    null,
    {
      work: 500_000,
    },
  );
  assert.ok(!exceeded);
  assert.equal(value, 10_000n);
});
