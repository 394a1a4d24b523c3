import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { redisErrors } from '../api/errors.ts';
import {
  choosingOf,
  MOST_SETBACKS,
  remedyOf,
  type Setback,
  setbackConditions,
  setbacksAfterChoice,
  setbacksAfterRun,
} from './setbacks.ts';

const refusal = (code: string) => ({ code, message: `it is ${code}`, subjects: [] });
const codes = (setbacks: readonly Setback[]) => setbacks.map(({ kind, stage, code }) => `${kind} ${stage} ${code}`);
const condition = (setbacks: readonly Setback[], type: string) =>
  setbackConditions(setbacks).find((one) => one.type === type);

/** Every code that a plan names, except those that only findings have. */
function refusalCodes(): readonly string[] {
  const use = /(?:\bcode: |\brefus(?:e|al|ed)\()'([A-Z][A-Z_]+)'/g;
  const here = new URL('.', import.meta.url);
  const sources = readdirSync(here).filter((name) => /^(?!.*test).*\.ts$/.test(name));
  const named = sources.flatMap((name) => [...readFileSync(new URL(name, here), 'utf8').matchAll(use)]);
  return [...new Set(named.map((match) => match[1] ?? ''))].filter((code) => code in redisErrors);
}

const table = refusalCodes();

test('there are refusals to be told', () => assert.ok(table.length > 40, table.join()));

for (const code of table) {
  test(`${code} is told as a condition, with a reason and what to do, before it began and after`, () => {
    const refused = setbacksAfterChoice([], { wished: new Set(['fix']), asked: new Map([['fix', [refusal(code)]]]) });
    const failed = setbacksAfterRun([], 'fix', [refusal(code)]);
    for (const [type, setbacks] of [
      ['Refused', refused],
      ['OperationFailed', failed],
    ] as const) {
      const said = condition(setbacks, type);
      assert.equal(said?.status, 'True');
      assert.match(said?.reason ?? '', /^[A-Z][a-zA-Z]+$/);
      assert.equal(said?.reason.toUpperCase(), code.replaceAll('_', ''));
      assert.ok(said?.message.startsWith(`fix: ${code}: it is ${code}. `), said?.message);
      assert.ok(remedyOf(code).length > 10 && said?.message.endsWith(remedyOf(code)), said?.message);
    }
  });
}

test('what was refused stands until that kind is asked again or not wished for', () => {
  const before = setbacksAfterChoice([], {
    wished: new Set(['fix', 'rebalance']),
    asked: new Map([
      ['fix', [refusal('NO_QUORUM')]],
      ['rebalance', [refusal('CLUSTER_NOT_CLEAN')]],
    ]),
  });
  const asked = (...kinds: readonly string[]) => new Map(kinds.map((kind) => [kind, []]));
  const wished = new Set(['fix', 'rebalance']);
  assert.deepEqual(codes(setbacksAfterChoice(before, { wished, asked: asked('fix') })), [
    'rebalance proposal CLUSTER_NOT_CLEAN',
  ]);
  assert.deepEqual(setbacksAfterChoice(before, { wished, asked: asked() }), before);
  assert.deepEqual(setbacksAfterChoice(before, { wished: new Set(), asked: asked() }), []);
});

test('what failed stands until that kind is done or not wished for, also while it is tried again', () => {
  const failed = setbacksAfterRun([], 'fix', [refusal('FIX_NEW_DAMAGE')]);
  const wished = new Set(['fix']);
  const tried = setbacksAfterChoice(failed, { wished, asked: new Map([['fix', []]]) });
  assert.deepEqual(codes(tried), ['fix run FIX_NEW_DAMAGE']);
  assert.deepEqual(codes(setbacksAfterRun(tried, 'fix', [refusal('NO_QUORUM')])), ['fix run NO_QUORUM']);
  assert.deepEqual(codes(setbacksAfterRun(tried, 'rebalance', undefined)), ['fix run FIX_NEW_DAMAGE']);
  assert.deepEqual(setbacksAfterRun(tried, 'fix', undefined), []);
  assert.deepEqual(setbacksAfterChoice(tried, { wished: new Set(['rebalance']), asked: new Map() }), []);
});

test('nothing refused, nothing failed: both are told; there are never too many, and what failed is kept', () => {
  assert.deepEqual(
    setbackConditions([]).map(({ type, status }) => [type, status]),
    [
      ['Refused', 'False'],
      ['OperationFailed', 'False'],
    ],
  );
  const many = table.slice(0, MOST_SETBACKS + 1).map(refusal);
  const refused = setbacksAfterChoice([], { wished: new Set(['fix']), asked: new Map([['fix', many]]) });
  assert.equal(refused.length, MOST_SETBACKS);
  const failed = setbacksAfterRun(refused, 'rebalance', [refusal('SLOTS_BUSY')]);
  assert.equal(failed.length, MOST_SETBACKS);
  assert.equal(condition(failed, 'OperationFailed')?.reason, 'SlotsBusy');
});

test('what is in the way of an operation before it is asked is refused, and what cannot be asked keeps what it refused', () => {
  const full = { kind: 'create', refusal: refusal('NODE_NOT_EMPTY') };
  const said = setbacksAfterChoice([], choosingOf({ wishes: [], refused: [full] }, new Map()));
  assert.deepEqual(codes(said), ['create proposal NODE_NOT_EMPTY']);
  assert.deepEqual(setbacksAfterChoice(said, choosingOf({ wishes: [], unasked: ['create'] }, new Map())), said);
  assert.deepEqual(setbacksAfterChoice(said, choosingOf({ wishes: [] }, new Map())), []);
});
