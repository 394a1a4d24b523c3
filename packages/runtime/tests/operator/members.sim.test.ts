import { test } from 'node:test';
import { holdsForSeeds } from './seeds-testing.ts';

test('the sample operator: 250 seeds, steps run through members', (t) => holdsForSeeds(t, 'members', 250));
