import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  advance,
  begin,
  type Candidate,
  end,
  type Operation,
  operationClasses,
  type OperationStatus,
} from './operation.ts';
import { compareCandidates, decideOperation, pickNext } from './pick.ts';

const candidate = (uid: string, more: Partial<Candidate> = {}): Candidate => ({
  kind: 'repair',
  class: 'task',
  trigger: { kind: 'Task', name: uid, uid },
  creationTimestamp: '2030-01-01T00:00:00Z',
  ...more,
});
const operation = (id: string, more: Partial<Operation> = {}): Operation => ({
  id,
  kind: 'repair',
  class: 'task',
  trigger: { kind: 'Task', name: 'a', uid: 'a' },
  startedAt: '2030-01-01T00:00:00.000Z',
  ...more,
});

test('the next operation is picked by class, then creation, then uid: first in, first out, safety first', () => {
  const all = [
    candidate('b'),
    candidate('a'),
    candidate('early', { creationTimestamp: '2029-12-31T23:59:59Z' }),
    candidate('timeless', { creationTimestamp: undefined }),
    candidate('scale', { class: 'p1', creationTimestamp: '2031-01-01T00:00:00Z' }),
    candidate('replace', { class: 'safety', creationTimestamp: '2032-01-01T00:00:00Z' }),
  ];
  const order: string[] = [];
  for (let left = all; left.length > 0; ) {
    const next = pickNext(left) as Candidate;
    order.push(next.trigger.uid);
    left = left.filter((one) => one !== next);
  }
  assert.deepEqual(order, ['replace', 'scale', 'early', 'a', 'b', 'timeless']);
});

test('which one is next depends on nothing but the candidates', () => {
  const one = fc.record({
    uid: fc.constantFrom('a', 'b', 'c', 'd'),
    class: fc.constantFrom(...operationClasses),
    creationTimestamp: fc.constantFrom('2030-01-01T00:00:00Z', '2030-01-01T00:00:01Z', undefined),
    kind: fc.constantFrom('x', 'y'),
  });
  fc.assert(
    fc.property(
      fc.array(one, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(), { minLength: 6 }),
      (given, randoms) => {
        const all = given.map(({ uid, ...more }) => candidate(uid, more));
        const shuffled = all
          .map((value, index) => ({ value, at: randoms[index] ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ value }) => value);
        assert.deepEqual(pickNext(shuffled), pickNext(all));
        const first = pickNext(all) as Candidate;
        assert.ok(all.every((other) => compareCandidates(first, other) <= 0));
      },
    ),
    { numRuns: 100 },
  );
});

test('what runs goes on; only safety makes an interruptible operation give way', () => {
  const running = operation('1', { interruptible: true });
  const safety = candidate('s', { class: 'safety' });
  assert.deepEqual(decideOperation(undefined, []), { do: 'rest' });
  assert.deepEqual(decideOperation(undefined, [safety]), { do: 'take', candidate: safety });
  const goesOn = (current: Operation, others: readonly Candidate[]) => {
    const decision = decideOperation(current, others);
    return decision.do === 'continue' && !decision.mustYield;
  };
  assert.ok(goesOn(running, [candidate('p', { class: 'p0' })]));
  assert.ok(!goesOn(running, [safety]));
  assert.ok(goesOn(operation('1'), [safety]));
  assert.ok(goesOn(operation('1', { class: 'safety', interruptible: true }), [safety]));
  assert.ok(goesOn({ ...running, trigger: safety.trigger }, [safety]), 'not to itself');
});

test('the lock is taken once, noted and given back by its holder only, and the history is bounded', () => {
  const one = begin({}, operation('1')) as OperationStatus;
  assert.equal(begin(one, operation('2')), undefined);
  assert.equal(advance(one, '2', 'step'), undefined);
  assert.equal(advance(one, '1', 'step')?.currentOperation?.step, 'step');
  assert.equal(end(one, '2', { outcome: 'done', endedAt: 'x' }), undefined);
  let status: OperationStatus = {};
  for (let i = 0; i < 5; i++) {
    const taken = begin(status, operation(String(i))) as OperationStatus;
    status = end(taken, String(i), { outcome: 'done', endedAt: 'now' }, 3) as OperationStatus;
    assert.equal(status.currentOperation, undefined);
  }
  assert.deepEqual(
    status.operations?.map(({ id, outcome }) => [id, outcome]),
    [
      ['4', 'done'],
      ['3', 'done'],
      ['2', 'done'],
    ],
  );
});
