/** Formats of strings, numbers and names. Expectations were compared with the real server's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatAddress, parseAddress } from './address.ts';
import { goJson } from './go-json.ts';
import { fixedPoint, goNumber, goQuote } from './go-text.ts';
import { dns1123Subdomain, qualifiedName } from './names.ts';
import { parseLooseDuration, stringFormats } from './openapi.ts';
import { Pattern, PatternTooDear } from './pattern.ts';
import { compareQuantities, parseQuantity } from './quantity.ts';
import { formatDuration, formatInstant, parseDuration, parseInstant } from './time.ts';

test('numbers as Go writes them', () => {
  const rows = [
    [1, '1'],
    [999999, '999999'],
    [1e6, '1e+06'],
    [1.5e6, '1.5e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-2.5, '-2.5'],
    [1e100, '1e+100'],
    [Infinity, '+Inf'],
  ] as const;
  for (const [value, text] of rows) assert.equal(goNumber(value), text);
  assert.equal(
    goJson({ b: 1e21, a: [1.5, '<&>', null, 10n] }),
    '{"a":[1.5,"\\u003c\\u0026\\u003e",null,10],"b":1e+21}',
  );
  assert.equal(goQuote('a"\n\u0001é\u200b'), '"a\\"\\n\\x01é\\u200b"');
});

test('property: rounding to digits is exact and halves go to even', () => {
  assert.equal(fixedPoint(2.5, 0), '2');
  assert.equal(fixedPoint(-0.5, 0), '-0');
  assert.equal(fixedPoint(1.005, 2), '1.00');
  const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 });
  fc.assert(
    fc.property(number, fc.integer({ min: 0, max: 20 }), (value, digits) => {
      const difference = Math.abs(Number(fixedPoint(value, digits)) - value);
      assert.ok(difference <= 0.5 / 10 ** digits + Math.abs(value) * 2e-16);
    }),
    { numRuns: 100 },
  );
});

test('formats of strings: what is taken and what is not', () => {
  const rows: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
    uri: [
      ['http://a/b', '/path', 'mailto:x'],
      ['x', '', 'a b'],
    ],
    email: [
      ['a@b.c', 'Joe <joe@x.y>'],
      ['x', 'a@', 'a b@c'],
    ],
    hostname: [
      ['example.com', 'x', 'my-name.org'],
      ['foo_bar.com', 'a..b', '-a', 'my-name', ''],
    ],
    ipv4: [['1.2.3.4'], ['256.1.1.1', '::1', '1.2.3']],
    ipv6: [['::1'], ['1.2.3.4', 'fe80::1%eth0']],
    cidr: [
      ['10.0.0.0/8', '::/0'],
      ['10.0.0.0', '10.0.0.0/33'],
    ],
    mac: [
      ['01:23:45:67:89:ab', '0123.4567.89ab'],
      ['01:23', 'x'],
    ],
    uuid4: [['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
    isbn10: [['0321751043'], ['0321751044']],
    isbn13: [['978-0321751041'], ['978-0321751042']],
    creditcard: [['4111111111111111'], ['4111111111111112']],
    byte: [
      ['YWJj', 'YQ=='],
      ['YWJ', ''],
    ],
    date: [['2020-02-29'], ['2020-13-01', '2021-02-29']],
    datetime: [
      ['2020-01-01T00:00:00Z', '2020-01-01t00:00:00.5+01:00'],
      ['2020-01-01T00:00:00', '2020-01-01'],
    ],
    duration: [
      ['1h30m', '3 days', '22 ns', '5 minutes'],
      ['x', '5 parsecs'],
    ],
    k8sshortname: [['my-name'], ['a.b', 'A']],
    k8slongname: [['a.b-c'], ['-a', 'A']],
  };
  for (const [format, [good, bad]] of Object.entries(rows)) {
    for (const text of good) assert.equal(stringFormats.get(format)?.(text), true, `${format} ${text}`);
    for (const text of bad) assert.equal(stringFormats.get(format)?.(text), false, `${format} ${text}`);
  }
  assert.equal(parseLooseDuration('2 weeks 1 day'), 15n * 86_400_000_000_000n);
});

test('names', () => {
  assert.deepEqual(dns1123Subdomain('a.b-c.d'), []);
  assert.equal(dns1123Subdomain('a'.repeat(254))[0], 'must be no more than 253 bytes');
  assert.deepEqual(qualifiedName('example.com/My_name.x'), []);
  assert.deepEqual(qualifiedName('/x'), ['prefix part must be non-empty']);
  assert.equal(qualifiedName('a/')[0], 'name part must be non-empty');
});

test('property: instants, durations and addresses read back as written', () => {
  const nanos = fc.bigInt({ min: -62135596800n * 10n ** 9n, max: 253402300799n * 10n ** 9n });
  fc.assert(
    fc.property(nanos, (time) => assert.equal(parseInstant(formatInstant(time, 0))?.nanos, time)),
    { numRuns: 100 },
  );
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), (seconds) => {
      const duration = BigInt(seconds) * 10n ** 9n;
      assert.equal(parseDuration(formatDuration(duration)), duration);
    }),
    { numRuns: 50 },
  );
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const address = parseAddress(text);
      assert.ok(typeof address !== 'string', text);
      assert.deepEqual(parseAddress(formatAddress(address)), address);
    }),
    { numRuns: 100 },
  );
  for (const broken of ['1:2.3::', '::1.2.3.4:5', '1.2::']) assert.equal(typeof parseAddress(broken), 'string', broken);
});

test('property: quantities are ordered as their numbers', () => {
  const quantity = fc.tuple(fc.integer({ min: -999, max: 999 }), fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi', 'e3'));
  const sizes = { '': 1, m: 1e-3, k: 1e3, M: 1e6, Ki: 1024, Mi: 1024 ** 2, e3: 1e3 };
  fc.assert(
    fc.property(quantity, quantity, ([one, unit], [other, otherUnit]) => {
      const left = parseQuantity(`${one}${unit}`);
      const right = parseQuantity(`${other}${otherUnit}`);
      assert.ok(typeof left !== 'string' && typeof right !== 'string');
      assert.equal(compareQuantities(left, right), Math.sign(one * sizes[unit] - other * sizes[otherUnit]));
    }),
    { numRuns: 100 },
  );
});

test('no pattern can be made to take long', () => {
  const catastrophic = Pattern.compile('^(([a-z])+.)+[A-Z]([a-z])+$');
  assert.ok(typeof catastrophic !== 'string');
  assert.equal(catastrophic.test('a'.repeat(5000)), false);
  const large = Pattern.compile('([a-z]{1,30}a){1,30}x$');
  assert.ok(typeof large !== 'string');
  assert.throws(() => large.test('ab'.repeat(50_000)), PatternTooDear);
  assert.equal(Pattern.compile('(?=a)'), 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`');
  assert.equal(Pattern.compile('((a{100}){100}){100}'), 'error parsing regexp: invalid repeat count: `{100}`');
});
