import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRecipe, type Recipe, recipeChoices, recipeName } from './recipe.ts';

const recipes: readonly (readonly [name: string, recipe: Recipe])[] = [
  ['seed 17', { seed: 17, additions: [] }],
  ['calm seed 0', { seed: 0, calm: true, additions: [] }],
  [
    'seed 3 + kill-server at CLUSTER MEET + crash-before at a at b',
    {
      seed: 3,
      additions: [
        { accident: 'kill-server', label: 'CLUSTER MEET' },
        { accident: 'crash-before', label: 'a at b' },
      ],
    },
  ],
];

test('the name of a recipe gives the recipe back', () => {
  for (const [name, recipe] of recipes) {
    assert.equal(recipeName(recipe), name);
    assert.deepEqual(parseRecipe(name), recipe);
  }
  for (const other of ['crash-before 3', 'seed x', 'seed 1 + nothing']) assert.equal(parseRecipe(other), undefined);
});

test('a calm recipe has its additions and no other accident', () => {
  const choices = recipeChoices({ seed: 5, calm: true, additions: [{ accident: 'b', label: 'x' }] }, { effects: 1 });
  const answers = Array.from({ length: 200 }, (_, index) => choices.strike(index < 5 ? 'y' : 'x', () => ['a', 'b']));
  assert.deepEqual(
    answers.flatMap((answer, index) => (answer === 0 ? [] : [[index, answer]])),
    [[5, 2]],
  );
});
