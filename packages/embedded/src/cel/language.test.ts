/** The language itself. What is expected was compared with what the real server's evaluator answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from './environment.ts';
import { holds, outcomeOf } from './show-testing.ts';
import { DYN, INT, listOf, objectOf, STRING } from './type.ts';

test('literals and arithmetic', () => {
  holds(String.raw`
    1 + 2 * 3 => 7
    -7 / 2 => -3
    -7 % 2 => -1
    --1 => 1
    1.5 + 1.5 => double(3)
    0x1F => 31
    18446744073709551615u => 18446744073709551615u
    9223372036854775807 + 1 => error: integer overflow
    -9223372036854775808 - 1 => error: integer overflow
    1u - 2u => error: unsigned integer overflow
    1 / 0 => error: division by zero
    1 % 0 => error: modulus by zero
    9223372036854775808 => error: ERROR: <input>:1:1: invalid int literal
    1e400 => error: ERROR: <input>:1:1: invalid double literal
    "\x41\u0042\103" => "ABC"
    r"\n".size() => 2
    '''a"b''' => "a\"b"
    b"\xff\x00" => b'ff00'
    b"\u00e9" => error: ERROR: <input>:1:1: unable to unescape string
    "a" + "b" => "ab"
    [1] + [2, 3] => [1, 2, 3]
    [1, 2, 3,] => [1, 2, 3]
    [[1]].map(l, [l + [2], l + [3]]) => [[[1, 2], [1, 3]]]
    {"a": 1,} => {"a": 1}
  `);
});

test('comparison, across numeric types where the type is not known', () => {
  holds(String.raw`
    1 < 1.5 => true
    "a" < "b" => true
    "\uffff" < "😀" => true
    b"abc" < b"abd" => true
    1 == 1.0 => error: ERROR: <input>:1:3: found no matching overload for '_==_' applied to '(int, double)'
    dyn(1) == 1.0 => true
    dyn("a") == 1 => false
    dyn(1) < dyn("a") => error: no such overload
    double("NaN") < 1.0 => false
    double("NaN") == double("NaN") => false
    {"a": 1} == {"a": 1} => true
    [1, 2] == [2, 1] => false
    1 in [1, 2] => true
    "b" in {"a": 1} => false
    type(1) == int => true
    type(self) == map | self = {} => true
  `);
});

test('logical operators absorb errors when the other side decides', () => {
  holds(String.raw`
    1 / 0 == 1 || true => true
    true || 1 / 0 == 1 => true
    false || 1 / 0 == 1 => error: division by zero
    1 / 0 == 1 && false => false
    true && 1 / 0 == 1 => error: division by zero
    self && true | self = 1 => error: no such overload
    self ? 1 : 2 | self = "x" => error: no such overload
    true ? 1 : 1 / 0 => 1
  `);
});

test('macros', () => {
  holds(String.raw`
    [1, 2, 3].all(x, x > 0) => true
    [1, 2, 3].exists(x, x == 3) => true
    [1, 1].exists_one(x, x == 1) => false
    [1, 2, 3].map(x, x * 2) => [2, 4, 6]
    [1, 2, 3].map(x, x > 1, x * 2) => [4, 6]
    [1, 2, 3].filter(x, x > 1) => [2, 3]
    {"a": 1}.all(k, k == "a") => true
    [0, 1].all(x, 1 / x > 0) => error: division by zero
    [1, 0].all(x, 1 / x > 5) => false
    [0, 2].exists(x, 4 / x == 2) => true
    [1, 2].all(x, [3, 4].all(y, x < y)) => true
    [1].all(self, self > 0) => true
    {"a": 1}.all(k, v, v == 1) => true
    [5, 6].exists(i, v, i == 1 && v == 6) => true
    [1, 2].transformList(i, v, i + v) => [1, 3]
    {"a": 1, "b": 2}.transformMap(k, v, v > 1, v * 10) => {"b": 20}
    {"a": 1}.transformMapEntry(k, v, {v: k}) => {1: "a"}
    {"a": 1, "b": 1}.transformMapEntry(k, v, {v: k}) => error: insert failed: key 1 already exists
    has({"a": 1}.a) && !has({"a": 1}.b) => true
    has(1) => error: ERROR: <input>:1:5: invalid argument to has() macro
    self.all(1, true) => error: ERROR: <input>:1:10: argument must be a simple name
    [1].all(x, x, true) => error: ERROR: <input>:1:12: duplicate variable name: x
  `);
});

test('fields, indexes and optionals', () => {
  holds(String.raw`
    self.a.b | self = {"a": {"b": 1}} => 1
    self.a | self = {} => error: no such key: a
    self[5] | self = [1] => error: index out of bounds: 5
    self["x"] | self = [1] => error: unsupported index type 'string' in list
    self["a-b"] | self = {"a-b": 1} => 1
    dyn({1: 2})[1.0] => 2
    self.?a.?b.orValue("none") | self = {"a": {}} => "none"
    self.?a.b.hasValue() | self = {} => false
    self[?0] | self = [] => none
    optional.of(1).optMap(x, x + 1) => some(2)
    optional.none().orValue(3) => 3
    optional.of(1).or(optional.of(2)) => some(1)
    optional.none().value() => error: optional.none() dereference
    optional.ofNonZeroValue("") => none
    [?optional.of(1), ?optional.none()] => [1]
    {?"a": optional.none(), ?"b": optional.of(1)} => {"b": 1}
    [optional.of(1), optional.none()].unwrapOpt() => [1]
    [1, 2].first() => some(1)
  `);
});

test('conversions', () => {
  holds(String.raw`
    int(self) | self = "12" => 12
    int(self) | self = "x" => error: type conversion error from 'string' to 'int'
    int(1.9) => 1
    uint(self) | self = -1 => error: unsigned integer overflow
    double("1e3") => double(1000)
    string(1234567.0) => "1.234567e+06"
    string(0.1) => "0.1"
    string(timestamp('2009-02-13T23:31:30+01:00')) => "2009-02-13T23:31:30+01:00"
    string(duration('1.5h')) => "5400s"
    bool("t") => true
    bytes("é") => b'c3a9'
    string(self) | self = {} => error: no such overload: string(map)
    timestamp("2020-02-30T00:00:00Z") => error: ERROR: <input>:1:11: invalid timestamp argument
    duration("1d") => error: ERROR: <input>:1:10: invalid duration argument
    timestamp("2020-01-01T00:00:00Z").getHours("America/New_York") => 19
    timestamp("2020-01-01T00:00:00Z").getHours("+02:30") => 2
    timestamp("2020-01-01T00:00:00Z").getHours("Nope") => error: unknown time zone Nope
    timestamp("2020-02-03T04:05:06.789Z").getDayOfYear() => 33
    timestamp("2020-01-01T00:00:00Z") - timestamp("2019-12-31T23:59:59Z") => 1000000000ns
    timestamp("9999-12-31T23:59:59Z") + duration("1s") => error: timestamp overflow
    duration("3700s").getMinutes() => 61
  `);
});

test('messages of the parser name place and expectation', () => {
  const start = "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
  const rows = {
    '1 +': `1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ${start}`,
    'f(': `1:3: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', ${start}`,
    '1 + + 2': `1:5: Syntax error: extraneous input '+' expecting {'[', '{', '(', ${start}`,
    '1 1': "1:3: Syntax error: extraneous input '1' expecting <EOF>",
    '(1': "1:3: Syntax error: missing ')' at '<EOF>'",
    '[1': "1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}",
    'a ? b': "1:6: Syntax error: mismatched input '<EOF>' expecting ':'",
    'a.': "1:3: Syntax error: no viable alternative at input '.'",
    '1 @': "1:3: Syntax error: token recognition error at: '@'",
    namespace: '1:1: reserved identifier: namespace',
    'a.`b`': "1:3: unsupported syntax: '`'",
  };
  for (const [text, message] of Object.entries(rows)) {
    const program = compile(text, new Map([['a', DYN]]));
    assert.ok(
      'problem' in program && program.problem.startsWith(`ERROR: <input>:${message}`),
      `${text}: ${JSON.stringify(program)}`,
    );
  }
});

test('a picture shows where, with several lines and wide characters, and issues are in the order of the text', () => {
  const program = compile('"é" == b ||\n  c', new Map());
  assert.equal(
    'problem' in program && program.problem,
    [
      "ERROR: <input>:1:8: undeclared reference to 'b' (in container '')",
      ' | "é" == b ||',
      ' | .．.....^',
      "ERROR: <input>:2:3: undeclared reference to 'c' (in container '')",
      ' |   c',
      ' | ..^',
    ].join('\n'),
  );
});

test('the checker knows fields of objects, elements of lists, and the result', () => {
  const type = objectOf(
    'T',
    new Map([
      ['name', STRING],
      ['sizes', listOf(INT)],
    ]),
  );
  const variables = new Map([['self', type]]);
  const kindOf = (text: string): string => {
    const program = compile(text, variables);
    return 'problem' in program ? (program.problem.split('\n')[0] as string) : program.type.kind;
  };
  assert.equal(kindOf('self.name == "a" && self.sizes.all(s, s > 0)'), 'bool');
  assert.equal(kindOf('self.sizes.map(s, string(s))[0]'), 'string');
  assert.equal(kindOf('self.nope'), "ERROR: <input>:1:5: undefined field 'nope'");
  assert.equal(kindOf('has(self.nope)'), "ERROR: <input>:1:4: undefined field 'nope'");
  assert.equal(kindOf('self.name.x'), "ERROR: <input>:1:10: type 'string' does not support field selection");
  assert.equal(
    kindOf('self.name + 1 == ""'),
    "ERROR: <input>:1:11: found no matching overload for '_+_' applied to '(string, int)'",
  );
  assert.equal(
    kindOf('self.all(x, true)'),
    "ERROR: <input>:1:1: expression of type 'T' cannot be range of a comprehension (must be list, map, or dynamic)",
  );
  assert.equal(kindOf('self.sizes.all(s, s)'), "ERROR: <input>:1:19: expected type 'bool' but found 'int'");
  assert.equal(kindOf('[1, "a"]'), "ERROR: <input>:1:5: expected type 'int' but found 'string'");
  assert.equal(kindOf('"%s %d".format(["a", 1])'), 'string');
  assert.equal(
    kindOf('"%d".format(["a"])'),
    'ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was given string',
  );
  assert.equal(kindOf('"x".matches("[")'), 'ERROR: <input>:1:13: invalid matches argument');
  assert.equal(kindOf('T{}'), "ERROR: <input>:1:2: undeclared reference to 'T' (in container '')");
});

test('a constant that can never be converted makes no program', () => {
  const program = compile('int("x") > 1', new Map());
  assert.deepEqual(program, { reason: 'program', problem: "type conversion error from 'string' to 'int'" });
});

test('costs are those of the real server', () => {
  const rows: readonly (readonly [string, unknown, number])[] = [
    ['1 + 2', null, 1],
    ['self.a.b', { a: { b: 1 } }, 3],
    ['has(self.a.b)', { a: { b: 1 } }, 2],
    ['self.a[self.i]', { a: [1], i: 0 }, 4],
    ['self.all(x, x > 0)', [1, 2, 3], 17],
    ['self.exists(x, x > 2)', [1, 2, 3], 20],
    ['self.map(x, x + 1)', [1, 2, 3], 44],
    ['self.filter(x, x > 1)', [1, 2, 3], 34],
    ['self.exists_one(x, x > 2)', [1, 2, 3], 11],
    ['self.a == "abc"', { a: 'abcdefghijklmnopqrstuvwxyz' }, 3],
    ['self.matches("^a+$")', 'aaa', 2],
    ['{"a": self}', 1, 31],
    ['self in [1, 2, 3]', 1, 1],
    ['[3, 1, 2].sort()', null, 29],
    ['sets.equivalent([1, 2], [2, 1, 1])', null, 13],
    ['self.transformMap(k, v, v + 1)', { a: 1, b: 2 }, 12],
    ['self.?a.orValue(3)', { a: 1 }, 2],
    ['string(timestamp("2020-01-01T00:00:00Z"))', null, 0],
    ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")', null, 6],
  ];
  for (const [text, self, cost] of rows) assert.equal(outcomeOf(text, self).cost, cost, text);
});
