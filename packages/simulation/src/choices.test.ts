import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Choices,
  fromSparse,
  listOf,
  oneAccident,
  replayedChoices,
  seededChoices,
  seededWith,
  toSparse,
  weightOf,
} from './choices.ts';
import { prng } from './random.ts';

const accidents = () => ['delay', 'crash', 'crash'];

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number) => Array.from({ length: 20 }, prng(seed).next);
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
  assert.notDeepEqual(draw(7), draw(7 + 2 ** 32));
});

test('numbers are uniform enough: every sixteenth holds between 4 % and 9 %', () => {
  const random = prng(1);
  const counts = Array.from({ length: 16 }, () => 0);
  for (let i = 0; i < 16_000; i++) {
    const drawn = random.below(16);
    counts[drawn] = (counts[drawn] ?? 0) + 1;
  }
  for (const count of counts) assert.ok(count > 640 && count < 1_440, String(counts));
});

test('a recorded list replays every answer of a seed', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.integer({ min: 0, max: 9 })), (seed, asked) => {
      const ask = (choices: ReturnType<typeof seededChoices>) =>
        asked.map((options) => (options === 0 ? choices.strike('x', accidents) : choices.pick(options)));
      const seeded = seededChoices(seed);
      const answers = ask(seeded);
      const replayed = replayedChoices(listOf(seeded.made));
      assert.deepEqual(ask(replayed), answers);
      assert.deepEqual(replayed.made, seeded.made);
    }),
  );
});

test('after the end of a list, and where an answer is impossible, the dull answer is given', () => {
  const choices = replayedChoices([5, 9]);
  assert.equal(choices.pick(3), 2);
  assert.equal(choices.strike('x', accidents), 0);
  assert.equal(choices.pick(10), 0);
  assert.deepEqual(choices.made, [2, 0, 0]);
});

test('a seed strikes with every kind it does not leave out, and a calm one never', () => {
  const struck = new Set<number>();
  for (let seed = 0; seed < 50; seed++) {
    const choices = seededChoices(seed, { effects: 100 });
    for (let i = 0; i < 500; i++) struck.add(choices.strike('x', accidents));
    const calm = seededChoices(seed, { calm: true });
    for (let i = 0; i < 500; i++) assert.equal(calm.strike('x', accidents), 0);
  }
  assert.deepEqual([...struck].sort(), [0, 1, 2, 3]);
});

test('one accident strikes once, at its time, and counts its chances', () => {
  const choices = oneAccident('crash', 2);
  const answers = [['delay'], ['delay', 'crash'], ['crash'], ['crash']].map((names) =>
    choices.strike('x', () => names),
  );
  assert.deepEqual(answers, [0, 0, 1, 0]);
  assert.equal(choices.chances, 3);
});

test('a seed with an accident of its own goes as without it until then', () => {
  const ask = (choices: Choices) =>
    Array.from({ length: 40 }, (_, index) => [
      choices.pick(9),
      choices.strike(index % 5 === 4 ? 'rare' : 'usual', () => (index < 9 ? ['a'] : ['a', 'wanted'])),
    ]);
  const alone = ask(seededChoices(7));
  const wanted = { accident: 'wanted', label: 'rare' };
  const struck = ask(seededWith([wanted], 7));
  assert.deepEqual(struck.slice(0, 9), alone.slice(0, 9));
  assert.equal(struck[9]?.[1], 2, 'the first rare effect at which it can come');
  const calm = ask(seededWith([wanted], 7, { calm: true })).flatMap(([, answer]) => answer || []);
  assert.deepEqual(calm, [2], 'once');
  const twice = ask(seededWith([wanted, { accident: 'a', label: 'rare' }], 7));
  assert.deepEqual(
    [4, 9].map((index) => twice[index]?.[1]),
    [1, 2],
    'each at its first chance, whatever their order',
  );
});

test('lists lose trailing zeros and survive the sparse form', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 })), (made) => {
      const list = listOf(made);
      assert.notEqual(list.at(-1), 0);
      assert.deepEqual(fromSparse(JSON.parse(JSON.stringify(toSparse(list))) as ReturnType<typeof toSparse>), list);
      assert.equal(toSparse(list).length, weightOf(made));
    }),
  );
});
