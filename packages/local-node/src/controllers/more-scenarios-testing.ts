/** More of what happens to workloads: sizes, strategies, times, and the end of things. */
import { deployments } from '../kinds/deployment.ts';
import { isFinished, jobs } from '../kinds/job.ts';
import { namespaces } from '../kinds/namespace.ts';
import { pods } from '../kinds/pod.ts';
import { replicaSets } from '../kinds/replicaset.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims } from '../kinds/volumeclaim.ts';
import { ended, ready } from './kubelet-testing.ts';
import {
  configMaps,
  events,
  holding,
  images,
  makeSet,
  of,
  patch,
  podNames,
  selector,
  setReady,
  setTold,
  template,
  told,
  type World,
} from './scenarios-testing.ts';

async function makeDeployment(world: World, more: object = {}): Promise<void> {
  await of(world, deployments).create({
    metadata: { name: 'web' },
    spec: { replicas: 3, selector, template: template('v1'), ...more },
  });
}

const change = (world: World, spec: object) => of(world, deployments).patch('web', { type: 'merge', value: { spec } });

const isAvailable = (world: World, count: number) => async () => {
  const { status, metadata } = await of(world, deployments).get('web');
  const isSeen = status?.observedGeneration === metadata.generation;
  return (
    isSeen &&
    status?.availableReplicas === count &&
    status.replicas === count &&
    (await podNames(world)).length === count
  );
};

export const moreScenarios: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  async 'a replica set is scaled, and adopts'(world) {
    world.kubelet = ready;
    await of(world, pods).create({ ...template('v0'), metadata: { name: 'stray', labels: { app: 'web' } } });
    await of(world, replicaSets).create({
      metadata: { name: 'web' },
      spec: { replicas: 3, selector, template: template('v1') },
    });
    const isThere = (count: number) => async () => {
      const { status } = await of(world, replicaSets).get('web');
      return status?.readyReplicas === count && (await podNames(world)).length === count;
    };
    await world.until('three', isThere(3));
    const first = [await images(world), told((await of(world, replicaSets).get('web')).status)];
    await of(world, replicaSets).patch('web', { type: 'merge', value: { spec: { replicas: 1 } } });
    await world.until('one', isThere(1));
    await world.rest();
    return [first, told((await of(world, replicaSets).get('web')).status)];
  },
  async 'a deployment is made anew, all at once'(world) {
    world.kubelet = ready;
    await makeDeployment(world, { strategy: { type: 'Recreate' } });
    await world.until('up', isAvailable(world, 3));
    const [held = ''] = await podNames(world);
    world.stubborn.add(held);
    await change(world, { template: template('v2') });
    await world.until('one is left', async () => (await podNames(world)).length === 1);
    await world.rest();
    const middle = [await images(world), (await of(world, replicaSets).listAll()).items.length];
    world.stubborn.clear();
    await world.until('new', async () => (await images(world)) === 'v2,v2,v2' && (await isAvailable(world, 3)()));
    await world.rest();
    return [middle, told((await of(world, deployments).get('web')).status), await events(world)];
  },
  async 'a deployment is paused, scaled and resumed'(world) {
    world.kubelet = ready;
    await makeDeployment(world);
    await world.until('up', isAvailable(world, 3));
    await change(world, { paused: true, template: template('v2'), replicas: 5 });
    await world.until('five', isAvailable(world, 5));
    await world.rest();
    const paused = [await images(world), told((await of(world, deployments).get('web')).status)];
    await change(world, { paused: false });
    await world.until('new', async () => (await images(world)) === 'v2,v2,v2,v2,v2' && (await isAvailable(world, 5)()));
    await world.rest();
    return [paused, told((await of(world, deployments).get('web')).status)];
  },
  async 'a deployment is scaled in the middle of an update'(world) {
    world.kubelet = holding('bad');
    const rollingUpdate = { maxSurge: 2, maxUnavailable: 2 };
    await makeDeployment(world, { replicas: 10, strategy: { type: 'RollingUpdate', rollingUpdate } });
    await world.until('up', isAvailable(world, 10));
    await change(world, { template: template('bad') });
    await world.rest();
    const sizes = async () => {
      const all = (await of(world, replicaSets).listAll()).items;
      return all.map(({ spec }) => spec?.replicas ?? 0).toSorted((a, b) => a - b);
    };
    const first = await sizes();
    const results = [first];
    for (const replicas of [22, 7]) {
      await change(world, { replicas });
      await world.rest();
      results.push(await sizes());
    }
    return results;
  },
  async 'claims go with the pod that is scaled down'(world) {
    world.kubelet = ready;
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await makeSet(world, {
      replicas: 2,
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' },
    });
    await world.until('up', setReady(world, 2));
    await patch(world, { replicas: 1 });
    await world.until('one', setReady(world, 1));
    const claims = async () => (await of(world, volumeClaims).listAll()).items.map(({ metadata }) => metadata.name);
    await world.until('one claim', async () => (await claims()).length === 1);
    const middle = await claims();
    await patch(world, { replicas: 2 });
    await world.until('two', setReady(world, 2));
    await of(world, statefulSets).delete('web', { propagationPolicy: 'Foreground' });
    await world.until(
      'gone',
      async () => (await podNames(world)).length === 0 && (await of(world, statefulSets).find('web')) === undefined,
    );
    await world.rest();
    return [middle, await claims()];
  },
  async 'a set waits until pods have been ready for long enough'(world) {
    world.kubelet = ready;
    await makeSet(world, { replicas: 2, minReadySeconds: 4 });
    await world.until(
      'one is ready',
      async () => (await of(world, statefulSets).get('web')).status?.readyReplicas === 1,
    );
    const { status } = await of(world, statefulSets).get('web');
    const first = [status?.availableReplicas ?? 0, await podNames(world)];
    await world.until(
      'both are available',
      async () => (await of(world, statefulSets).get('web')).status?.availableReplicas === 2,
    );
    return [first, await setTold(world)];
  },
  async 'a pod of a set that ended is made anew'(world) {
    world.kubelet = ready;
    await makeSet(world, { replicas: 2 });
    await world.until('up', setReady(world, 2));
    const { uid } = (await of(world, pods).get('web-0')).metadata;
    world.kubelet = (pod, now) => (pod.metadata.uid === uid ? ended('Failed', 1)(pod, now) : ready(pod, now));
    await world.until(
      'another',
      async () => (await of(world, pods).find('web-0'))?.metadata.uid !== uid && (await setReady(world, 2)()),
    );
    return setTold(world);
  },
  async 'a job replaces a deleted pod at once, or when it has ended'(world) {
    const results: unknown[] = [];
    for (const podReplacementPolicy of ['TerminatingOrFailed', 'Failed'] as const) {
      world.kubelet = ready;
      await of(world, jobs).create({
        metadata: { name: 'w' },
        spec: { podReplacementPolicy, template: { spec: { ...template('x').spec, restartPolicy: 'Never' } } },
      });
      await world.until('it runs', async () => (await of(world, jobs).get('w')).status?.ready === 1);
      const [name = ''] = await podNames(world);
      world.stubborn.add(name);
      await of(world, pods).delete(name);
      await world.rest();
      const middle = [(await podNames(world)).length, told((await of(world, jobs).get('w')).status)];
      world.stubborn.clear();
      await world.until('the first is gone', async () => !(await podNames(world)).includes(name));
      world.kubelet = ended('Succeeded', 0);
      await world.until('it is over', async () => isFinished((await of(world, jobs).get('w')).status));
      results.push([podReplacementPolicy, middle, told((await of(world, jobs).get('w')).status)]);
      await of(world, jobs).delete('w', { propagationPolicy: 'Foreground' });
      await world.until('it is gone', async () => (await of(world, jobs).find('w')) === undefined);
    }
    return results;
  },
  async 'a job with fewer pods at once lets some go, and one that finished is forgotten'(world) {
    world.kubelet = ready;
    await of(world, jobs).create({
      metadata: { name: 'w' },
      spec: {
        parallelism: 3,
        completions: 3,
        ttlSecondsAfterFinished: 1,
        template: { spec: { ...template('x').spec, restartPolicy: 'Never' } },
      },
    });
    await world.until('three run', async () => (await of(world, jobs).get('w')).status?.ready === 3);
    await of(world, jobs).patch('w', { type: 'merge', value: { spec: { parallelism: 1 } } });
    await world.until('one runs', async () => (await podNames(world)).length === 1);
    await world.rest();
    const middle = told((await of(world, jobs).get('w')).status);
    world.kubelet = ended('Succeeded', 0);
    await world.until('it is forgotten', async () => (await of(world, jobs).find('w')) === undefined);
    await world.until('with its pods', async () => (await podNames(world)).length === 0);
    return middle;
  },
  async 'a namespace goes with everything in it'(world) {
    world.kubelet = ready;
    await makeSet(world, { replicas: 2 });
    await makeDeployment(world, { selector: { matchLabels: { app: 'w' } }, template: template('v1', 'w') });
    await world.until('up', async () => (await podNames(world)).length === 5);
    await of(world, configMaps).create({ metadata: { name: 'held', finalizers: ['test.dev/hold'] } });
    await of(world, namespaces).delete(world.namespace);
    const conditions = async () => (await of(world, namespaces).find(world.namespace))?.status;
    const text = async () => JSON.stringify(await conditions());
    await world.until('it says what holds it', async () => ((await text()) ?? '').includes('test.dev/hold'));
    await world.rest();
    const middle = told(await conditions());
    await of(world, configMaps).patch('held', { type: 'merge', value: { metadata: { finalizers: null } } });
    await world.until('it is gone', async () => (await conditions()) === undefined);
    return middle;
  },
};
