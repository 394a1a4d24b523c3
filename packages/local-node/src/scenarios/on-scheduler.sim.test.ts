/** The part of the suite about placement: our scheduler and controllers, in memory. */
import { suite, test } from 'node:test';
import { controlPlane } from '../controllers/control-plane-testing.ts';
import { playPlacement } from '../scheduler/placement-scenarios-testing.ts';
import { onScheduler } from './suite-testing.ts';

suite('placement', () => {
  for (const name of Object.keys(onScheduler)) {
    test(name, async (t) => {
      const { cluster } = controlPlane();
      await cluster.open();
      t.after(() => cluster.end());
      await playPlacement(cluster, name);
    });
  }
});
