/** Every scenario that a real cluster must survive, each for both products. `npm run proof -- redis-scenarios` plays all of them. */
import { damageScenarios } from './scenarios/damage.ts';
import { type Scenario, topologyScenarios } from './scenarios/topology.ts';

export type { Scenario } from './scenarios/topology.ts';
export type { Figures } from './scenarios/world.ts';

export const scenarios: readonly Scenario[] = [...topologyScenarios, ...damageScenarios];
