import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, fits, judged } from './compare.ts';
import type { Explanation } from './explained.ts';
import { normalised } from './normal.ts';
import { Timeline } from './timeline.ts';

const NOW = Date.UTC(2026, 5, 1);
const uid = (digit: string): string => `${digit.repeat(8)}-0000-4000-8000-000000000000`;
const made = (resourceVersion: string, more: object = {}) => ({
  metadata: { name: 'a', uid: uid('1'), resourceVersion, creationTimestamp: '2026-06-01T00:00:01Z', ...more },
});
/** Step n begins after n * 10 + 1 s and takes one and a half. */
function stepped(steps: number): Timeline {
  const timeline = new Timeline(NOW);
  for (let step = 0; step < steps; step++) {
    timeline.begin(step, NOW + step * 10_000 + 1_000);
    timeline.passed(NOW + step * 10_000 + 2_500, true);
  }
  return timeline;
}
const after = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString().replace('.000', '');
const normal = (...recorded: readonly unknown[]) => normalised({ recorded, timeline: stepped(4) }, { steps: [] });

test('uids, versions and times are replaced by what can be compared', () => {
  assert.deepEqual(normal(made('17'), made('9'), { body: `uid ${uid('2')}, then ${uid('1')}` }), [
    { metadata: { name: 'a', uid: 'uid-1', resourceVersion: 'version-2', creationTimestamp: 'the time of step 0' } },
    { metadata: { name: 'a', uid: 'uid-1', resourceVersion: 'version-1', creationTimestamp: 'the time of step 0' } },
    { body: 'uid uid-2, then uid-1' },
  ]);
});

test('whether a write made a new version is not lost', () => {
  assert.deepEqual(normal(made('3'), made('4')), normal(made('30'), made('44')));
  assert.notDeepEqual(normal(made('3'), made('3')), normal(made('30'), made('44')));
});

test('a time that a case set itself stays, and so does the precision of others', () => {
  const [value] = normal({ spec: { a: '2020-01-01T00:00:00Z', b: '2026-06-01T00:00:01.000001Z' } });
  assert.deepEqual(value, { spec: { a: '2020-01-01T00:00:00Z', b: 'the time of step 0 with 6 digits' } });
});

test('versions of lists are there or not; their items are numbered', () => {
  const list = { metadata: { resourceVersion: '99', continue: 'abc' }, items: [made('7')] };
  const [value] = normal(list) as [{ metadata: unknown; items: { metadata: { resourceVersion: string } }[] }];
  assert.deepEqual(value.metadata, { resourceVersion: 'a version', continue: 'a token' });
  assert.equal(value.items[0]?.metadata.resourceVersion, 'version-1');
  assert.notDeepEqual(normal(list), normal({ ...list, metadata: { resourceVersion: '' } }));
});

test('a generated name must look like one', () => {
  const named = (name: string) => normal({ metadata: { generateName: 'a-', name } });
  assert.deepEqual(named('a-bcdfg'), named('a-xz245'));
  assert.notDeepEqual(named('a-bcdfg'), named('a-aeiou'));
});

test('several causes have one order, also in the message; a message that misses one is another', () => {
  const cause = (field: string) => ({ field, message: 'Invalid value', reason: 'x' });
  const status = (first: string, second: string, message = `[${first}: Invalid value, ${second}: Invalid value]`) =>
    normal({ message, details: { causes: [cause(first), cause(second)] } });
  assert.deepEqual(status('b', 'a'), status('a', 'b'));
  assert.notDeepEqual(status('b', 'a', '[a: Invalid value]'), status('a', 'b'));
});

test('a time is the step in which it was taken, in whichever of its seconds', () => {
  const told = (seconds: number, more: object = {}) =>
    normal({ metadata: { deletionTimestamp: after(seconds), ...more } })[0] as {
      metadata: { deletionTimestamp: string };
    };
  assert.deepEqual(told(11), told(12));
  assert.deepEqual(
    [0, 1, 12, 15, 21, 90].map((seconds) => told(seconds).metadata.deletionTimestamp),
    [
      'a time before',
      'the time of step 0',
      'the time of step 1',
      'the time of step 1',
      'the time of step 2',
      'a time to come',
    ],
  );
  // A deletion that waits has its end as its time.
  assert.deepEqual(
    told(41, { deletionGracePeriodSeconds: 30 }).metadata.deletionTimestamp,
    told(11).metadata.deletionTimestamp,
  );
});

test('steps that write must not share a second', () => {
  const timeline = stepped(1);
  assert.equal(timeline.next, NOW + 3_000);
  assert.throws(() => timeline.begin(1, NOW + 2_900));
  timeline.passed(NOW + 2_950, false);
  timeline.begin(1, timeline.next);
});

/** Two managers: x applies in step 0, y in step 1, x again in step 2. Faults in the rules of times, planted. */
test('a wrong rule for the times of managers cannot hide', () => {
  const entry = (manager: string, seconds: number) => ({ manager, operation: 'Apply', time: after(seconds) });
  const object = (version: string, ...managedFields: readonly object[]) => made(version, { managedFields });
  const right = normal(
    object('5', entry('x', 1)),
    object('6', entry('x', 1), entry('y', 11)),
    object('7', entry('y', 11), entry('x', 22)),
  );
  const begun = [object('5', entry('x', 2)), object('6', entry('x', 2), entry('y', 12))];
  // The other server was asked in other seconds: that is all.
  assert.deepEqual(normal(...begun, object('7', entry('y', 12), entry('x', 21))), right);
  const faults: Readonly<Record<string, object>> = {
    'the time is kept although something changed': object('7', entry('x', 2), entry('y', 12)),
    'another manager gets the time': object('7', entry('x', 2), entry('y', 22)),
    'all get it': object('7', entry('x', 22), entry('y', 22)),
    'the order is not that of the times': object('7', entry('x', 22), entry('y', 12)),
    'nothing is written': object('6', entry('x', 2), entry('y', 12)),
    'no time at all': object('7', entry('y', 12), { manager: 'x', operation: 'Apply' }),
  };
  for (const [name, fault] of Object.entries(faults)) assert.notDeepEqual(normal(...begun, fault), right, name);
});

test('addresses and ports that a server chose are numbered; those that the case names stay', () => {
  const service = (clusterIP: string, nodePort: number) => ({ spec: { clusterIP, ports: [{ nodePort }] } });
  const steps = [{ method: 'POST', path: '/', body: service('10.96.7.7', 31_000) }] as const;
  const shown = (...recorded: readonly unknown[]) => normalised({ recorded, timeline: stepped(1) }, { steps });
  const chosen = shown(service('10.96.3.4', 30_100), service('10.96.200.1', 30_100));
  assert.deepEqual(chosen, shown(service('10.96.9.9', 32_000), service('10.96.9.10', 32_000)));
  assert.notDeepEqual(chosen, shown(service('10.96.9.9', 32_000), service('10.96.9.9', 32_000)));
  assert.notDeepEqual(chosen, shown(service('10.96.9.9', 32_000), service('10.96.9.10', 32_001)));
  // Not of the part of the range from which a server chooses.
  assert.deepEqual(shown(service('10.96.0.9', 30_001)), [service('10.96.0.9', 30_001)]);
  assert.deepEqual(shown(service('10.96.7.7', 31_000)), [service('10.96.7.7', 31_000)]);
});

test('a diff of Go structs is cut off, the words before it are not', () => {
  const words = 'spec: Forbidden: pod updates may not change fields other than `x`';
  const cause = (message: string) => ({ field: 'spec', message });
  const status = (diff: string, text = words) =>
    normal({
      message: `[${text}${diff}, b: Invalid value]`,
      details: { causes: [cause(text.slice('spec: '.length) + diff), { field: 'b', message: 'Invalid value' }] },
    });
  assert.deepEqual(status('\n  core.PodSpec{\n+ \tx: $1,\n'), status(''));
  assert.notDeepEqual(status('\nx', `${words}, y`), status(''));
});

test('differences name their way; a row explains what lies below it and nothing else', () => {
  const found = differences({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 3] }, d: 1 });
  assert.deepEqual(
    found.map(({ field }) => field),
    ['a.b.1', 'c', 'd'],
  );
  assert.ok(fits('*.b', 'a.b.1') && fits('a', 'a.b.1') && !fits('a.c', 'a.b.1') && !fits('a.b.1.x', 'a.b.1'));
  const row = (field: string): Explanation => ({ area: '', case: '', field, why: '' });
  const rows = [row('a.b'), row('x')];
  const { unexplained, rows: used } = judged(found, rows);
  assert.deepEqual([unexplained.map(({ field }) => field), used], [['c', 'd'], [rows[0]]]);
});
