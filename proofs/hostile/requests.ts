/** Requests by chance: half of them valid by grammar, half of them hostile, each with the answers that are right. */
import { MAPS, runawayDefinition, SECRETS, TARGET, WIDGETS } from './kinds.ts';
import type { Sent } from './server.ts';

export interface Attempt extends Sent {
  readonly what: string;
  readonly right: readonly number[];
  /** Must be in the answer, if it is a good one. */
  readonly holds?: string;
}

type Random = () => number;
type Make = (random: Random) => Attempt;

const pick = <T>(random: Random, ...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const name = (random: Random) => `m-${Math.floor(random() * 200)}`;
const word = (random: Random) => Math.floor(random() * 2 ** 40).toString(36);
const query = (pairs: Readonly<Record<string, string>>) => `?${new URLSearchParams(pairs).toString()}`;

const post = (
  what: string,
  path: string,
  body: string,
  right: readonly number[],
  more: Partial<Attempt> = {},
): Attempt => ({
  what,
  method: 'POST',
  path,
  body,
  right,
  ...more,
});
const get = (what: string, path: string, right: readonly number[]): Attempt => ({ what, method: 'GET', path, right });
const patch = (what: string, random: Random, type: string, body: string, right: readonly number[]): Attempt => ({
  what,
  method: 'PATCH',
  path: `${MAPS}/${name(random)}`,
  headers: { 'content-type': `application/${type}` },
  body,
  right,
});
const onTarget = (what: string, body: string, right: readonly number[]): Attempt => ({
  ...patch(what, () => 0, 'json-patch+json', body, right),
  path: `${MAPS}/${TARGET}`,
});
const mapOf = (random: Random, more: object = {}) =>
  JSON.stringify({
    metadata: { name: name(random), labels: { a: pick(random, 'b', 'c') } },
    data: { x: word(random) },
    ...more,
  });

const valid: readonly Make[] = [
  (random) => post('a config map', MAPS, mapOf(random), [201, 409]),
  (random) => get('one object', `${MAPS}/${name(random)}`, [200, 404]),
  (random) =>
    get(
      'a list',
      `${MAPS}${query({ limit: '20', labelSelector: pick(random, 'a=b', 'a in (b,c)', '!z', 'a notin (q)') })}`,
      [200],
    ),
  (random) => get('a list by name', `${MAPS}${query({ fieldSelector: `metadata.name=${name(random)}` })}`, [200]),
  (random) => patch('a merge patch', random, 'merge-patch+json', `{"data":{"y":"${word(random)}"}}`, [200, 404]),
  (random) =>
    patch(
      'a JSON patch',
      random,
      'json-patch+json',
      `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`,
      [200, 404],
    ),
  (random) => {
    const body = mapOf(random, { apiVersion: 'v1', kind: 'ConfigMap' });
    const { metadata } = JSON.parse(body) as { readonly metadata: { readonly name: string } };
    const path = `${MAPS}/${metadata.name}${query({ fieldManager: 'me', force: 'true' })}`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    return { what: 'an apply', method: 'PATCH', path, headers, body, right: [200, 201] };
  },
  (random) => ({ what: 'a deletion', method: 'DELETE', path: `${MAPS}/${name(random)}`, right: [200, 404] }),
  (random) => widget('a widget', random, { size: Math.floor(random() * 12) }, [201, 409]),
  (random) => ({ what: 'a deleted widget', method: 'DELETE', path: `${WIDGETS}/${name(random)}`, right: [200, 404] }),
  (random) =>
    post(
      'keys of every object as keys of data',
      MAPS,
      mapOf(random, { data: { constructor: 'own', prototype: 'p', toString: 't', hasOwnProperty: 'h' } }),
      [201, 409],
      { holds: '"constructor":"own"' },
    ),
  () =>
    get(
      'a selector of 500 parts',
      `${MAPS}${query({ labelSelector: Array.from({ length: 500 }, (_, at) => `!z${at}`).join() })}`,
      [200],
    ),
  () => get('discovery', '/apis', [200]),
];

function widget(what: string, random: Random, spec: unknown, right: readonly number[]): Attempt {
  const text = typeof spec === 'string' ? spec : JSON.stringify(spec);
  const head = `"apiVersion":"hostile.reeve.dev/v1","kind":"Widget","metadata":{"name":"${name(random)}"}`;
  return post(what, WIDGETS, `{${head},"spec":${text}}`, right);
}

const hostile: readonly Make[] = [
  (random) => {
    const text = mapOf(random);
    return post('a body that breaks off', MAPS, text.slice(0, Math.floor(random() * text.length)), [400]);
  },
  (random) =>
    post('a body that is no object', MAPS, pick(random, '5', '[]', '"x"', 'true', '\u0000', '{]', "{'a':1}"), [400]),
  (random) => post('a key twice', MAPS, `{"metadata":{"name":"${name(random)}","name":"other"}}`, [400]),
  (random) =>
    post(
      'a key of the prototype',
      MAPS,
      `{"metadata":{"name":"${name(random)}"},"data":{${pick(random, '"__proto__"', '"\\u005f_proto__"', '"__pr\\u006fto__"')}:{"polluted":"yes"}}}`,
      [400],
    ),
  (random) => {
    const depth = 600 + Math.floor(random() * 5_000);
    return post(
      'a deep body',
      MAPS,
      random() < 0.5 ? '['.repeat(depth) : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
      [400],
    );
  },
  (random) =>
    post(
      'wrong types',
      MAPS,
      pick(
        random,
        '{"metadata":5}',
        '{"metadata":{"name":"x"},"data":{"a":5}}',
        '{"metadata":{"name":["x"]}}',
        '{"metadata":{"name":"x","labels":{"a":1}}}',
      ),
      [400],
    ),
  (random) =>
    post(
      'a bad name',
      MAPS,
      JSON.stringify({ metadata: { name: pick(random, 'A B', 'x'.repeat(300), '../x', '-', 'a/b', 'ü') } }),
      [422],
    ),
  (random) => get('a broken path', `${MAPS}/${pick(random, '%zz', '%00', '%2e%2e', 'a%2fb', '%ff')}`, [400, 404]),
  (random) =>
    get(
      'a kind that is not there',
      `/apis/${word(random)}/v1/${pick(random, 'constructor', '__proto__', 'things')}`,
      [404],
    ),
  (random) => ({
    what: 'another method',
    method: pick(random, 'OPTIONS', 'TRACE', 'PROPFIND'),
    path: MAPS,
    right: [405],
  }),
  (random) =>
    post('another media type', MAPS, mapOf(random), [415], {
      headers: { 'content-type': pick(random, 'text/xml', 'constructor', 'application/x-www-form-urlencoded') },
    }),
  () => ({ ...get('an answer as a picture', MAPS, [406]), headers: { accept: 'image/png' } }),
  (random) =>
    get(
      'a hostile label selector',
      `${MAPS}${query({ labelSelector: pick(random, 'a in (', 'a==b==c', '!', ',,', '=x', 'a in (b', 'x'.repeat(20_000), '(((((((', 'a>b', '\u0000', 'ü=1', `a in ${'('.repeat(5_000)}`) })}`,
      [400],
    ),
  (random) =>
    get(
      'a hostile field selector',
      `${MAPS}${query({ fieldSelector: pick(random, 'x', 'spec.a=b', 'metadata.name>a', '__proto__=1', '=='.repeat(5_000)) })}`,
      [400],
    ),
  (random) =>
    get(
      'a list with bad options',
      `${MAPS}${query(pick<Readonly<Record<string, string>>>(random, { limit: 'abc' }, { continue: word(random) }, { resourceVersion: 'abc' }, { resourceVersionMatch: 'Exact' }, { resourceVersion: '1', resourceVersionMatch: 'Nonsense' }))}`,
      [400, 422],
    ),
  (random) =>
    patch(
      'a broken patch',
      random,
      pick(random, 'merge-patch+json', 'json-patch+json', 'strategic-merge-patch+json'),
      pick(random, '{', '', '['),
      [400, 404],
    ),
  (random) =>
    patch(
      'a JSON patch of nonsense',
      random,
      'json-patch+json',
      pick(
        random,
        '{}',
        '[{"op":"explode"}]',
        '[{"op":"remove","path":"/nothing/here"}]',
        '[{"op":"test","path":"/kind","value":"Pod"}]',
        '[{"op":"add","path":"/__proto__/polluted","value":1}]',
        '[{"op":"replace","path":"metadata","value":1}]',
      ),
      [400, 404, 422],
    ),
  (random) => patch('a patch of another kind', random, pick(random, 'xml-patch', 'constructor'), '{}', [415]),
  () => ({ ...get('no token', MAPS, [401]), token: '' }),
  (random) => ({
    ...get('a wrong token', MAPS, [401]),
    token: pick(random, word(random), 'a.b.c', `${'A'.repeat(5_000)}.e30.x`),
  }),
  () => ({ ...get('another host', MAPS, [403]), headers: { host: 'evil.example' } }),
  () => ({ ...get('a web page', MAPS, [403]), headers: { origin: 'http://evil.example' } }),
  (random) =>
    post(
      'an unknown field, strictly',
      `${MAPS}${query({ fieldValidation: 'Strict' })}`,
      mapOf(random, { dota: {} }),
      [400],
    ),
  (random) =>
    post(
      'bad write options',
      `${MAPS}${query(pick<Readonly<Record<string, string>>>(random, { dryRun: 'Some' }, { fieldValidation: 'Maybe' }, { fieldManager: 'x'.repeat(200) }))}`,
      mapOf(random),
      [400, 422],
    ),
  (random) =>
    widget(
      'a widget against its schema',
      random,
      pick<unknown>(
        random,
        { size: 101 },
        { size: -1 },
        { size: '5' },
        { size: 13 },
        '{"size":9223372036854775808}',
        '{"size":1e400}',
        { word: 'b' },
      ),
      [400, 422],
    ),
  (random) =>
    widget(
      'a number that no double holds, where nothing bounds it',
      random,
      `{"free":${pick(random, '1e999', '-1e999')}}`,
      [400],
    ),
  (random) => {
    const size = pick(random, '1.5', '9223372036854775808', '-9223372036854775809', '1e999');
    const keyword = pick(random, 'maxLength', 'minLength', 'maxItems', 'maxProperties');
    const schema = `{"type":"object","properties":{"a":{"type":"string","${keyword}":${size}}}}`;
    const versions = `[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]`;
    const names = '{"plural":"sizes","kind":"Size"}';
    return post(
      'a definition with a size that is no int64',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      `{"metadata":{"name":"sizes.hostile.reeve.dev"},"spec":{"group":"hostile.reeve.dev","scope":"Namespaced","names":${names},"versions":${versions}}}`,
      [400],
    );
  },
  (random) => ({
    what: 'a grace that is no int64',
    method: 'DELETE',
    path: `${MAPS}/${name(random)}`,
    body: `{"gracePeriodSeconds":${pick(random, '1.5', '9223372036854775808', '1e999')}}`,
    right: [400],
  }),
];

/** Each costs a server that is not careful seconds or gigabytes: one in a thousand. */
const heavy: readonly Make[] = [
  (random) =>
    post('a body over 3 MB', MAPS, `{"data":{"x":"${'y'.repeat(3 * 1024 * 1024)}"}}`, [413], {
      isChunked: random() < 0.5,
    }),
  (random) => post('an object of 2 MB', MAPS, mapOf(random, { data: { x: 'y'.repeat(2 * 1024 * 1024) } }), [422]),
  () => post('a body of a million brackets', MAPS, '['.repeat(1_000_000), [400]),
  (random) => widget('a word for a pattern that backtracks', random, { word: `${'a'.repeat(90_000)}!` }, [422]),
  (random) => post('a policy without end', SECRETS, JSON.stringify({ metadata: { name: name(random) } }), [403, 422]),
  () => ({ ...runawayDefinition, what: 'a definition with a rule without end', right: [422] }),
  () => {
    const copies = Array.from({ length: 40 }, (_, at) => ({ op: 'copy', from: '/data', path: `/data/c${at}` }));
    const first = { op: 'add', path: '/data', value: { x: 'y'.repeat(1_000) } };
    return onTarget('a JSON patch that doubles 40 times', JSON.stringify([first, ...copies]), [400, 413, 422]);
  },
  () => {
    const steps = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }));
    return onTarget('a JSON patch of 10,001 steps', JSON.stringify(steps), [413]);
  },
  (random) =>
    post(
      'a hundred thousand keys',
      `${MAPS}?dryRun=All`,
      mapOf(random, { data: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 'v'])) }),
      [201, 409],
    ),
];

export function attempt(random: Random): { readonly isValid: boolean; readonly one: Attempt } {
  if (random() < 0.5) return { isValid: true, one: pick(random, ...valid)(random) };
  return { isValid: false, one: pick(random, ...(random() < 0.002 ? heavy : hostile))(random) };
}

/** Each of the heavy ones once. */
export function heavyOnes(random: Random): readonly Attempt[] {
  return heavy.map((make) => make(random));
}
