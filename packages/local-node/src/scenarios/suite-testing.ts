/** The scenario suite of the local node: every table of it, and where its scenarios run. `README.md` beside it lists them by name. */
import assert from 'node:assert/strict';
import { edgeScenarios } from '../controllers/edge-scenarios-testing.ts';
import { furtherScenarios } from '../controllers/further-scenarios-testing.ts';
import { moreScenarios } from '../controllers/more-scenarios-testing.ts';
import { scenarios, type World } from '../controllers/scenarios-testing.ts';
import { adoptionScenarios } from '../node/adoption-scenarios-testing.ts';
import { containerScenarios } from '../node/container-scenarios-testing.ts';
import { lifecycleScenarios } from '../node/lifecycle-scenarios-testing.ts';
import { nodeScenarios } from '../node/node-scenarios-testing.ts';
import type { NodeScenarios } from '../node/node-testing.ts';
import { workloadScenarios } from '../node/workload-scenarios-testing.ts';
import { placementScenarios } from '../scheduler/placement-scenarios-testing.ts';
import { moreVolumeScenarios } from '../volumes/more-volume-scenarios-testing.ts';
import { volumeScenarios } from '../volumes/volume-scenarios-testing.ts';

/** With our controllers on the embedded server and with kube-controller-manager on a real one: the same outcome. */
export const onBoth: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  ...scenarios,
  ...moreScenarios,
  ...edgeScenarios,
  ...furtherScenarios,
};

/** With real processes, on our node. */
export const onNode: NodeScenarios = {
  ...nodeScenarios,
  ...lifecycleScenarios,
  ...containerScenarios,
  ...volumeScenarios,
  ...moreVolumeScenarios,
  ...adoptionScenarios,
  ...workloadScenarios,
};

/** With our scheduler and controllers, without a node. */
export { placementScenarios as onScheduler };

/** Each ran; unless somebody asked for some of them only. */
export function assertAll(ran: ReadonlySet<string>, table: Readonly<Record<string, unknown>>): void {
  if (process.execArgv.some((one) => one.startsWith('--test-name-pattern'))) return;
  assert.deepEqual([...ran].toSorted(), Object.keys(table).toSorted());
}

/** By the heading of the list. A name may be there once only, or one table would hide what is in another. */
export const tables: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  'On Kubernetes, too': [scenarios, moreScenarios, edgeScenarios, furtherScenarios],
  'On the scheduler': [placementScenarios],
  'On the node': [
    nodeScenarios,
    lifecycleScenarios,
    containerScenarios,
    volumeScenarios,
    moreVolumeScenarios,
    adoptionScenarios,
    workloadScenarios,
  ],
};
