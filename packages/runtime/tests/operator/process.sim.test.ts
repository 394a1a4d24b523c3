import { test } from 'node:test';
import { holdsForSeeds } from './seeds-testing.ts';

// With the seeds of members.sim.test.ts a thousand; two files, because files run side by side.
test('the sample operator: 750 seeds, steps run in its own process', (t) => holdsForSeeds(t, 'process', 750));
