/** A controller in a world where everything goes wrong that can: in the end its goal holds, and it is quiet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal, type TestApi } from '../manager/api-testing.ts';
import { type Part, parts, rest, start, type Thing, things } from '../manager/manager-testing.ts';
import { controller } from './controller.ts';

const names = fc.constantFrom('a', 'b', 'c');
const action = fc.oneof(
  fc.record({ do: fc.constant('put' as const), name: names, size: fc.nat(3) }),
  fc.record({ do: fc.constant('delete' as const), name: names }),
  /** Somebody meddles with a child. */
  fc.record({ do: fc.constantFrom('spoil' as const, 'steal' as const), name: names }),
  fc.record({ do: fc.constant('touch' as const), name: names }),
  fc.record({ do: fc.constantFrom('cut' as const, 'compact' as const, 'bookmark' as const) }),
  /** What becomes of the next writes: refused, or done and the answer lost, or answered late. */
  fc.record({ do: fc.constantFrom('refuse' as const, 'conflict' as const, 'lose' as const, 'delay' as const) }),
  fc.record({ do: fc.constantFrom('half-open' as const, 'lose-lease' as const) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 1, 50, 700, 12_000) }),
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

function world() {
  const running = new Set<string>();
  const cleanedUp = new Set<string>();
  const worked = new Set<string>();
  const faults: string[] = [];
  const it = start(
    [
      controller<Thing>({
        name: 'things',
        kind: things,
        concurrency: 3,
        owns: [parts],
        finalizer: {
          name: 'test.dev/parts',
          finalize: async ({ object, children, remove }) => {
            for (const child of children(parts)) await remove(parts, child);
            cleanedUp.add(object.metadata.uid);
          },
        },
        reconcile: async ({ key, object, apply, status }) => {
          assert.ok(!running.has(key), `${key} is worked on twice at once`);
          running.add(key);
          try {
            worked.add(object.metadata.uid);
            const number = object.spec?.size ?? 0;
            await apply(parts, { metadata: { name: object.metadata.name }, spec: { number } });
            await status({ size: number });
          } finally {
            running.delete(key);
          }
        },
      }),
    ],
    { election: { namespace: 'ns', name: 'leader', leaseMs: 30_000, renewMs: 20_000, retryMs: 8_000 } },
  );
  const { api } = it;
  /** True once for each time it was asked for. */
  const strikes = (fault: string) => faults[0] === fault && faults.shift() !== undefined;
  api.admit = (request, what) => {
    if (what.includes('leases') && faults[0] === 'lose-lease') throw new Refusal(503, 'ServiceUnavailable');
    if (request.method === 'GET' || what.includes('leases')) return;
    if (strikes('refuse')) throw new Refusal(500, 'InternalError');
    if (strikes('conflict')) throw new Refusal(409, 'Conflict');
  };
  api.answering = async (what) => {
    if (what.includes('leases')) return;
    if (strikes('lose')) throw new Error('connection reset');
    if (strikes('delay')) await it.clock.sleep(300);
  };
  return { ...it, faults, cleanedUp, worked };
}

function act(api: TestApi, faults: string[], one: Exclude<Action, { do: 'pass' }>): void {
  if ('name' in one) {
    const { name } = one;
    const thing = api.object('things', `ns/${name}`);
    if (one.do === 'put' && thing?.metadata.deletionTimestamp === undefined)
      api.put('things', name, { size: one.size });
    if (one.do === 'delete' && thing) api.delete('things', name);
    if (one.do === 'touch' && thing) api.kind('things').keep(thing as never);
    if (one.do === 'spoil' && api.object('parts', `ns/${name}`)) api.put('parts', name, { number: -1 });
    if (one.do === 'steal' && api.object('parts', `ns/${name}`)) api.delete('parts', name);
    return;
  }
  for (const kind of [api.kind('things'), api.kind('parts')]) {
    if (one.do === 'cut') kind.cut();
    if (one.do === 'compact') kind.compact();
    if (one.do === 'bookmark') kind.bookmark();
    if (one.do === 'half-open') kind.isHalfOpen = true;
  }
  if (['refuse', 'conflict', 'lose', 'delay', 'lose-lease'].includes(one.do)) faults.push(one.do);
}

async function play(actions: readonly Action[]): Promise<void> {
  const it = world();
  for (const one of actions) {
    if (one.do === 'pass') await it.advance(one.ms);
    else act(it.api, it.faults, one);
    await rest();
  }
  // The last accident is over.
  it.faults.length = 0;
  for (const kind of ['things', 'parts']) {
    it.api.kind(kind).isHalfOpen = false;
    it.api.kind(kind).bookmark();
  }
  await it.advance(200_000);
  const told = it.lines
    .filter((line) => !line.includes('started'))
    .slice(-8)
    .join('\n');
  const wanted: Record<string, unknown> = {};
  const found: Record<string, unknown> = {};
  for (const { metadata, spec, status } of it.api.kind('things').objects.values() as Iterable<Thing>) {
    assert.equal(metadata.deletionTimestamp, undefined, `${metadata.name} is still being deleted\n${told}`);
    wanted[`${metadata.name}`] = [spec?.size, spec?.size];
    found[`${metadata.name}`] = [
      status?.size,
      (it.api.object('parts', `ns/${metadata.name}`) as Part | undefined)?.spec?.number,
    ];
  }
  assert.deepEqual(found, wanted, told);
  const left = [...it.api.kind('parts').objects.keys()].sort();
  assert.deepEqual(left, [...it.api.kind('things').objects.keys()].sort(), 'no child outlives its owner');
  const there = new Set([...it.api.kind('things').objects.values()].map(({ metadata }) => metadata.uid));
  for (const uid of it.worked) assert.ok(there.has(uid) || it.cleanedUp.has(uid), `${uid} went without its clean-up`);
  // And it is quiet.
  const writes = it.api.writes.filter((write) => !write.includes('leases')).length;
  await it.advance(60_000);
  assert.equal(it.api.writes.filter((write) => !write.includes('leases')).length, writes, 'it writes on and on');
  await it.end(/connection reset/);
  assert.equal(it.clock.sleeping, 0);
  assert.equal(it.api.kind('things').open + it.api.kind('parts').open, 0);
}

test('whatever happens, in the end every object has what it should, nothing leaks, and nothing is written any more', async () => {
  await fc.assert(fc.asyncProperty(fc.array(action, { maxLength: 25, size: 'max' }), play), {
    numRuns: 20,
  });
});
