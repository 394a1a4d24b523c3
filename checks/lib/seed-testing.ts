/**
 * Properties get the same inputs everywhere, so that a red run is about the change and not about luck. To look further:
 * REEVE_SEED=random npm run test:unit (or test:real, for the simulation), or a number to have a run again.
 */
import fc from 'fast-check';

const seed = process.env.REEVE_SEED ?? '20261115';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });
