/** What happens to workloads at the edges: history, rules, several owners, what is in use. */
import { type AnyObject, resource } from '@reeve/kube';
import { deployments } from '../kinds/deployment.ts';
import { endpointSlices } from '../kinds/endpointslice.ts';
import { COMPLETION_INDEX, isFinished, jobs } from '../kinds/job.ts';
import { pods } from '../kinds/pod.ts';
import { replicaSets } from '../kinds/replicaset.ts';
import { revisions } from '../kinds/revision.ts';
import { services } from '../kinds/service.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims } from '../kinds/volumeclaim.ts';
import { ended, ready, type Says } from './kubelet-testing.ts';
import {
  configMaps,
  events,
  holding,
  images,
  makeSet,
  of,
  patch,
  podNames,
  runJob,
  selector,
  setReady,
  setTold,
  template,
  told,
  type World,
} from './scenarios-testing.ts';

const secrets = resource<AnyObject>({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });

/** Each pod by the order in which it was first seen. */
function inTurn(...says: readonly Says[]): Says {
  const seen = new Map<string, Says>();
  return (pod, now) => {
    const say = seen.get(pod.metadata.uid) ?? says[Math.min(seen.size, says.length - 1)];
    if (!say) return undefined;
    seen.set(pod.metadata.uid, say);
    return say(pod, now);
  };
}

export const edgeScenarios: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  async 'a set forgets old revisions and numbers them on'(world) {
    world.kubelet = ready;
    await makeSet(world, { replicas: 1, revisionHistoryLimit: 1 });
    await world.until('up', setReady(world, 1));
    for (const image of ['v2', 'v3', 'v2', 'v4']) {
      await patch(world, { template: template(image) });
      await world.until(image, async () => (await images(world)) === image && (await setReady(world, 1)()));
      await world.rest();
    }
    const all = (await of(world, revisions).listAll()).items;
    const kept = all.map(({ revision, data, metadata }) => [
      revision,
      (data as { spec: { template: { $patch: string } } }).spec.template.$patch,
      Object.keys(metadata.labels ?? {}).toSorted(),
      metadata.ownerReferences?.[0]?.kind,
    ]);
    return kept.toSorted((a, b) => Number(a[0]) - Number(b[0]));
  },
  async 'a parallel set is scaled down and updated with a broken pod'(world) {
    world.kubelet = holding('web-0');
    await makeSet(world, { podManagementPolicy: 'Parallel' });
    await world.until(
      'two are ready',
      async () => (await of(world, statefulSets).get('web')).status?.readyReplicas === 2,
    );
    await patch(world, { template: template('v2') });
    await world.until(
      'two are new',
      async () => (await images(world)) === 'v1,v2,v2' || (await images(world)) === 'v2,v2,v2',
    );
    await world.rest();
    const updated = [await images(world), told((await of(world, statefulSets).get('web')).status)];
    await patch(world, { replicas: 1 });
    await world.until('one', async () => (await podNames(world)).length === 1);
    return [updated, await setTold(world)];
  },
  async 'the set of a pod is deleted and leaves it; another takes it over'(world) {
    world.kubelet = ready;
    await makeSet(world, { replicas: 2 });
    await world.until('up', setReady(world, 2));
    const before = (await of(world, pods).listAll()).items.map(({ metadata }) => metadata.uid);
    await of(world, statefulSets).delete('web', { propagationPolicy: 'Orphan' });
    await world.until('gone', async () => (await of(world, statefulSets).find('web')) === undefined);
    await world.rest();
    const orphans = (await of(world, pods).listAll()).items.map(
      ({ metadata }) => (metadata.ownerReferences ?? []).length,
    );
    await makeSet(world, { replicas: 2 });
    await world.until('adopted', setReady(world, 2));
    await world.rest();
    const after = (await of(world, pods).listAll()).items;
    return [orphans, after.map(({ metadata }) => [before.includes(metadata.uid), metadata.ownerReferences?.length])];
  },
  async 'a deployment keeps so many old sets, and takes an orphan over'(world) {
    world.kubelet = ready;
    await of(world, deployments).create({
      metadata: { name: 'web' },
      spec: { replicas: 1, revisionHistoryLimit: 1, selector, template: template('v1') },
    });
    for (const image of ['v1', 'v2', 'v3', 'v4']) {
      await of(world, deployments).patch('web', { type: 'merge', value: { spec: { template: template(image) } } });
      await world.until(image, async () => {
        const { status, metadata } = await of(world, deployments).get('web');
        return (
          status?.observedGeneration === metadata.generation &&
          status?.updatedReplicas === 1 &&
          (await images(world)) === image
        );
      });
      await world.rest();
    }
    const sets = async () => (await of(world, replicaSets).listAll()).items;
    const kept = (await sets()).map(({ spec, metadata }) => [
      spec?.template?.spec?.containers[0]?.image,
      spec?.replicas,
      metadata.annotations?.['deployment.kubernetes.io/revision'],
    ]);
    const [one] = (await sets()).filter(({ spec }) => spec?.replicas === 1);
    const name = one?.metadata.name ?? '';
    await of(world, replicaSets).patch(name, { type: 'merge', value: { metadata: { ownerReferences: [] } } });
    await world.until(
      'adopted',
      async () => ((await of(world, replicaSets).get(name)).metadata.ownerReferences ?? []).length === 1,
    );
    return kept.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  },
  'a job without a number of completions ends with the first success': (world) =>
    runJob(world, { parallelism: 2 }, inTurn(ended('Succeeded', 0), ended('Succeeded', 0))),
  'a failure that a rule ignores does not count': (world) =>
    runJob(
      world,
      {
        backoffLimit: 0,
        podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [7] } }] },
      },
      inTurn(ended('Failed', 7), ended('Succeeded', 0)),
    ),
  'an indexed job has succeeded by a rule': (world) =>
    runJob(
      world,
      {
        completionMode: 'Indexed',
        completions: 4,
        parallelism: 4,
        successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] },
      },
      (pod, now) =>
        pod.metadata.annotations?.[COMPLETION_INDEX] === '1' ? ended('Succeeded', 0)(pod, now) : ready(pod, now),
    ),
  async 'containers that restart too often fail the job'(world) {
    world.kubelet = (pod, now) => {
      const restarted = { name: 'main', ready: true, restartCount: 3, image: 'x', imageID: 'x' };
      return { ...ready(pod, now), containerStatuses: [restarted] };
    };
    await of(world, jobs).create({
      metadata: { name: 'w' },
      spec: { backoffLimit: 3, template: { spec: { ...template('x').spec, restartPolicy: 'OnFailure' } } },
    });
    await world.until('it is over', async () => isFinished((await of(world, jobs).get('w')).status));
    await world.rest();
    return [told((await of(world, jobs).get('w')).status), await events(world)];
  },
  async 'an object with two owners goes with the last'(world) {
    const owner = async (name: string) => (await of(world, configMaps).create({ metadata: { name } })).metadata.uid;
    const uids = { a: await owner('a'), b: await owner('b') };
    const reference = (name: 'a' | 'b') => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: uids[name] });
    await of(world, secrets).create({ metadata: { name: 'child', ownerReferences: [reference('a'), reference('b')] } });
    await of(world, configMaps).delete('a');
    const owners = async () =>
      (await of(world, secrets).find('child'))?.metadata.ownerReferences?.map(({ name }) => name);
    await world.until('one is left', async () => (await owners())?.length === 1);
    const middle = await owners();
    await of(world, configMaps).delete('b');
    await world.until('gone', async () => (await owners()) === undefined);
    return middle;
  },
  async 'in foreground only those that block are waited for'(world) {
    const { uid } = (await of(world, configMaps).create({ metadata: { name: 'owner' } })).metadata;
    const child = (name: string, blockOwnerDeletion: boolean) =>
      of(world, secrets).create({
        metadata: {
          name,
          finalizers: ['test.dev/hold'],
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion }],
        },
      });
    await child('blocks', true);
    await child('loose', false);
    await world.rest();
    await of(world, configMaps).delete('owner', { propagationPolicy: 'Foreground' });
    const going = async (name: string) => (await of(world, secrets).get(name)).metadata.deletionTimestamp !== undefined;
    await world.until('both are going', async () => (await going('blocks')) && (await going('loose')));
    await world.rest();
    const held = (await of(world, configMaps).find('owner'))?.metadata.finalizers;
    const release = (name: string) =>
      of(world, secrets).patch(name, { type: 'merge', value: { metadata: { finalizers: null } } });
    await release('blocks');
    await world.until('gone', async () => (await of(world, configMaps).find('owner')) === undefined);
    const left = (await of(world, secrets).find('loose')) !== undefined;
    await release('loose');
    return [held, left];
  },
  async 'a claim that a pod uses waits for it'(world) {
    world.kubelet = ready;
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await of(world, volumeClaims).create({ metadata: { name: 'data' }, spec });
    await of(world, pods).create({
      metadata: { name: 'p' },
      spec: { ...template('x').spec, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
    });
    await world.until('it runs', async () => (await of(world, pods).get('p')).status?.phase === 'Running');
    const { finalizers } = (await of(world, volumeClaims).get('data')).metadata;
    await of(world, volumeClaims).delete('data');
    await world.rest();
    const held = (await of(world, volumeClaims).find('data'))?.metadata.finalizers;
    await of(world, pods).delete('p');
    await world.until('gone', async () => (await of(world, volumeClaims).find('data')) === undefined);
    return [finalizers, held];
  },
  async 'endpoints that are not ready, or on their way out'(world) {
    const addresses: Readonly<Record<string, string>> = { held: '10.1.0.1', leaving: '10.1.0.2' };
    world.kubelet = (pod, now) => {
      const podIP = addresses[pod.metadata.name] ?? '10.1.0.9';
      return { ...holding('held')(pod, now), podIP, podIPs: [{ ip: podIP }] };
    };
    await of(world, services).create({
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    });
    for (const name of ['held', 'leaving']) {
      await of(world, pods).create({ ...template('x'), metadata: { name, labels: { app: 'web' } } });
    }
    const endpoints = async () =>
      (await of(world, endpointSlices).listAll()).items.flatMap((one) => one.endpoints ?? []);
    await world.until('both are in', async () => (await endpoints()).length === 2);
    world.stubborn.add('leaving');
    await of(world, pods).delete('leaving');
    await world.until('one is leaving', async () =>
      (await endpoints()).some(({ conditions }) => conditions?.terminating === true),
    );
    await world.rest();
    const middle = (await endpoints()).map(({ addresses: at, conditions }) => [at, conditions]);
    await of(world, services).patch('web', { type: 'merge', value: { spec: { publishNotReadyAddresses: true } } });
    await world.until('all count', async () =>
      (await endpoints()).every(({ conditions }) => conditions?.ready === true),
    );
    world.stubborn.clear();
    const byAddress = ([a]: readonly unknown[], [b]: readonly unknown[]) => (String(a) < String(b) ? -1 : 1);
    return middle.toSorted(byAddress);
  },
};
