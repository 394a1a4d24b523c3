/**
 * @packageDocumentation
 * Deterministic simulation of asynchronous programs whose contacts with the outside go through ports.
 *
 * A {@link Scenario} builds a {@link World}: processes (functions of their ports), what may go wrong, what must hold.
 * {@link simulate} runs it once, by a seed or by a list of choices; {@link runSeeds} runs many seeds, checks that they
 * are deterministic, shrinks what fails and records it; {@link enumerateCrashes} crashes at every single effect.
 * `example.test.ts` beside this file is a complete example.
 */
export {
  type CampaignFailure,
  type CampaignOptions,
  type CampaignResult,
  type EachOptions,
  type EnumerateOptions,
  enumerateCrashes,
  type RecordedFailure,
  replay,
  runEach,
  runSeeds,
  type SeedsOptions,
} from './campaign.ts';
export {
  type Addition,
  type Choices,
  oneAccident,
  replayedChoices,
  seededChoices,
  seededWith,
  weightOf,
} from './choices.ts';
export { EPOCH_MS } from './clock.ts';
export { type Cell, Coverage, type CoverageData } from './coverage.ts';
export type { Disk } from './files.ts';
export type { Incarnation } from './incarnation.ts';
export { type Prng, prng } from './random.ts';
export { parseRecipe, type Recipe, recipeChoices, recipeName } from './recipe.ts';
export { type Failure, type RunOptions, type RunResult, simulate } from './run.ts';
export { type ShrinkOptions, shrink } from './shrink.ts';
export type { Simulation } from './simulation.ts';
export {
  allFaults,
  type EffectOptions,
  type FaultKind,
  type FaultLimits,
  type Process,
  type Scenario,
  SimulatedFault,
  Violation,
  type World,
  type WorldEvent,
} from './world.ts';
