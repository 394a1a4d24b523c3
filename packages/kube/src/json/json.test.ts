import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseExactly } from './exact.ts';
import { parseJson } from './parse.ts';
import { stringifyJson } from './stringify.ts';

test('ordinary documents are what JSON.parse makes of them, on both ways', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      // What is meant to differ: the key __proto__, integers that a double does not hold, and a bug of V8 (below).
      if (/__proto__|\d{16}|\\/.test(text)) return;
      const expected: unknown = JSON.parse(text);
      assert.deepEqual(parseJson(text), expected);
      assert.deepEqual(parseExactly(text, 100), expected);
    }),
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('any value with integers of any size comes back from its text, with or without space', () => {
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom('a', ':', '":', '\\', '"', ' ', '\u0001\ud800', 'é😀', 'constructor', 'prototype'),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
      key,
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(
        key.filter((one) => one !== '__proto__'),
        tie('value'),
        { maxKeys: 3, noNullPrototype: true },
      ),
    ),
  }));
  const canonical = (one: unknown): unknown => {
    if (typeof one === 'bigint') return Number.isSafeInteger(Number(one)) ? Number(one) : one;
    if (Array.isArray(one)) return one.map(canonical);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, item]) => [name, canonical(item)]));
  };
  fc.assert(
    fc.property(value, fc.boolean(), (one, spaced) => {
      const text = stringifyJson(one);
      const given = spaced ? text.replace(/":(?=[{[\d])/g, '" \n:\t') : text;
      // Putting space in may have hit the inside of a string; then the text is no document any more.
      if (!isJson(given)) return;
      const numbers = canonical(one);
      // A double beyond 2^53 that is written without exponent is an integer in the text, and read as one.
      assert.equal(stringifyJson(parseJson(given)), stringifyJson(numbers));
    }),
  );
});

test('a key given twice is refused wherever it stands and however it is written', () => {
  const twice: string[] = [
    '{"a":1,"a":1}',
    '{"a" :1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[{"x":{"\\\\":1,"\\\\":2}}]',
    '{"":1,"":2}',
  ];
  // A key that ends in a backslash looks like none and must not make up for one too many.
  twice.push('{"\\\\":1,"a":1,"a":2}');
  for (const text of twice) assert.throws(() => parseJson(text), /is given twice/, text);
  assert.deepEqual(parseJson('[{"a":":"},{"a":"\\":"}]'), [{ a: ':' }, { a: '":' }]);
});

test('a document in which any key is repeated is refused', () => {
  const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(names, fc.nat(), fc.nat(), fc.constantFrom(':', ' :', ': '), (keys, pick, place, colon) => {
      const fields = keys.map((key) => `${JSON.stringify(key)}${colon}":"`);
      fields.splice(place % (keys.length + 1), 0, `${JSON.stringify(keys[pick % keys.length])}:1`);
      assert.throws(() => parseJson(`[{${fields.join(',')}}]`), { code: 'KUBE_JSON' });
    }),
  );
});

test('a key is what its text says, whatever was parsed before', () => {
  // V8 takes the second for the first; see countKeys.
  assert.deepEqual(parseJson(String.raw`{"a":null,"\\":1}`), { a: null, '\\': 1 });
  assert.deepEqual(parseJson(String.raw`{"a":null,"\"":1}`), { a: null, '"': 1 });
});

test('int64 values keep every digit', () => {
  const text = '{"min":-9223372036854775808,"max":9223372036854775807,"safe":9007199254740991,"next":9007199254740992}';
  const value = parseJson(text) as Record<string, unknown>;
  assert.equal(value.max, 9223372036854775807n);
  assert.equal(value.safe, 9007199254740991);
  assert.equal(stringifyJson(value), text);
  assert.deepEqual(parseJson('[1e300,1.5,-0.25]'), [1e300, 1.5, -0.25]);
});

test('hostile documents are refused with their place', () => {
  const cases: readonly [string, RegExp][] = [
    ['{"a":{"__proto__":{}}}', /__proto__ is refused at line 1, column 7, in \.a/],
    ['{"\\u005f_proto__":1}', /__proto__ is refused/],
    ['{"__pr\\u006fto__":1}', /__proto__ is refused/],
    ['{\n  "a": [1,\n 2,,]}', /unexpected "," at line 3, column 4, in \.a\[2\]/],
    ['{"a":1', /expected ',' or '}', found the end at line 1, column 7/],
    ['"a\nb"', /control character/],
    ['"a', /a string without an end at line 1, column 1/],
    ['"\\x"', /escape/],
    ['01', /unexpected "1" after the value/],
    ['', /unexpected the end/],
    ['[1] x', /after the value/],
    ['nul', /unexpected "n"/],
    ['{a:1}', /expected a key/],
    ['{"a" 1}', /expected ':'/],
    ['{"a":[1,1e999]}', /the number 1e999 is larger than any that a double holds at line 1, column 9, in \.a\[1\]/],
    ['-1e999', /the number -1e999 is larger/],
    [`1${'0'.repeat(309)}`, /is larger/],
    [`-1${'0'.repeat(309)}.5`, /is larger/],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /nested deeper than 500/],
    [`${'{"a":'.repeat(501)}1${'}'.repeat(501)}`, /nested deeper than 500/],
  ];
  for (const [text, message] of cases) assert.throws(() => parseJson(text), message, text.slice(0, 40));
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test('the depth that is allowed is allowed exactly', () => {
  assert.deepEqual(parseJson('[[1]]', { maxDepth: 2 }), [[1]]);
  assert.throws(() => parseJson('[[[1]]]', { maxDepth: 2 }), /nested deeper than 2/);
  assert.deepEqual(parseJson('{"constructor":{"prototype":1}}'), { constructor: { prototype: 1 } });
});

test('a cycle is not written', () => {
  const cycle: Record<string, unknown> = { big: 1n };
  cycle.self = cycle;
  assert.throws(() => stringifyJson(cycle), TypeError);
});

test('on any text, valid or not, the fast way and the exact one agree', () => {
  const outcome = (parse: () => unknown): string => {
    try {
      return stringifyJson(parse());
    } catch {
      return 'refused';
    }
  };
  const piece = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\n', '"a"', '"a":', '"\\\\":', '":"', '"\\":"', '"__proto__":'],
    ...[
      '1',
      '-',
      '0',
      '.',
      'e5',
      '9007199254740993',
      '1e999',
      'null',
      'true',
      '{"a":1}',
      '{"a" :1,',
      '"a":2}',
      '{}',
      '\\u0061',
    ],
  );
  const members = fc.array(fc.tuple(fc.constantFrom('a', 'b', '\\\\', '\\u0061', '"'.padStart(2, '\\'), ':'), piece), {
    maxLength: 5,
  });
  const soup = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const nearly = members.map((list) => `{${list.map(([key, value]) => `"${key}":${value}`).join(',')}}`);
  fc.assert(
    fc.property(fc.oneof(soup, nearly), (text) => {
      const exact = outcome(() => parseExactly(text, 100));
      assert.equal(
        outcome(() => parseJson(text, { maxDepth: 100 })),
        exact,
      );
      // What the exact parser takes is JSON.
      if (exact !== 'refused') JSON.parse(text);
    }),
    { numRuns: 1000 },
  );
});
