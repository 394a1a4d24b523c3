/** How a run was made, short enough to be its name: a run that came to something rare can be varied. */
import { type Addition, type Choices, seededWith, type Temper } from './choices.ts';

export interface Recipe {
  readonly seed: number;
  /** No accidents but the additions. */
  readonly calm?: boolean;
  readonly additions?: readonly Addition[];
}

const SEED = /^(calm )?seed (\d+)$/;
const ADDITION = /^(\S+) at (.+)$/;

/** `seed 17`, `calm seed 3 + kill-server at CLUSTER MEET`. */
export function recipeName({ seed, calm, additions = [] }: Recipe): string {
  return [`${calm ? 'calm ' : ''}seed ${seed}`, ...additions.map((each) => `${each.accident} at ${each.label}`)].join(
    ' + ',
  );
}

/** `undefined`: not the name of a recipe. */
export function parseRecipe(name: string): Recipe | undefined {
  const [first = '', ...rest] = name.split(' + ');
  const [, calm, seed] = SEED.exec(first) ?? [];
  const additions = rest.map((text) => ADDITION.exec(text));
  if (seed === undefined || additions.includes(null)) return undefined;
  return {
    seed: Number(seed),
    ...(calm === undefined ? {} : { calm: true }),
    additions: additions.map((match) => ({ accident: match?.[1] ?? '', label: match?.[2] ?? '' })),
  };
}

export function recipeChoices({ seed, calm, additions = [] }: Recipe, temper: Temper = {}): Choices {
  return seededWith(additions, seed, calm ? { ...temper, calm } : temper);
}
