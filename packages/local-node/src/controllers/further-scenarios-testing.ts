/** Still more of what happens to workloads: indexes that fail each for itself, nodes that expel, claims that wait or lose their volume. */
import { type AnyObject, resource } from '@reeve/kube';
import { deployments } from '../kinds/deployment.ts';
import { COMPLETION_INDEX, INDEX_FAILURES, isFinished, jobCondition, jobs } from '../kinds/job.ts';
import { namespaces } from '../kinds/namespace.ts';
import { nodes } from '../kinds/node.ts';
import { type Pod, pods } from '../kinds/pod.ts';
import { replicaSets } from '../kinds/replicaset.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims, volumes } from '../kinds/volumeclaim.ts';
import { ended, ready, type Says } from './kubelet-testing.ts';
import {
  configMaps,
  holding,
  images,
  makeSet,
  of,
  podNames,
  runJob,
  selector,
  setReady,
  template,
  told,
  type World,
} from './scenarios-testing.ts';

const kubeEvents = resource<AnyObject>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

const indexOf = ({ metadata }: Pod) => metadata.annotations?.[COMPLETION_INDEX];

/** By index; the others succeed. */
const byIndex =
  (says: Readonly<Record<string, Says>>): Says =>
  (pod, now) =>
    (says[indexOf(pod) ?? ''] ?? ended('Succeeded', 0))(pod, now);

const indexed = (completions: number) =>
  ({ completionMode: 'Indexed', completions, parallelism: completions }) as const;

const size = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** What was said of claims. */
async function claimEvents(world: World): Promise<readonly string[]> {
  const all = (await of(world, kubeEvents).listAll()).items as unknown as readonly {
    readonly type: string;
    readonly reason: string;
    readonly note: string;
    readonly regarding: { readonly kind: string; readonly name: string };
  }[];
  const ours = all.filter(({ regarding }) => regarding.kind === 'PersistentVolumeClaim');
  const texts = ours.map(({ type, reason, note, regarding }) => `${regarding.name} ${type} ${reason}: ${note}`);
  return [...new Set(texts)].toSorted();
}

export const furtherScenarios: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  'an index that fails for good fails the job when the others are over': (world) =>
    runJob(world, { ...indexed(3), backoffLimitPerIndex: 0 }, byIndex({ '1': ended('Failed', 1) })),
  'a job ends at once when too many of its indexes failed': (world) =>
    runJob(
      world,
      { ...indexed(4), backoffLimitPerIndex: 0, maxFailedIndexes: 1 },
      byIndex({ '0': ended('Failed', 1), '1': ended('Failed', 1), '2': ready, '3': ready }),
    ),
  'a rule fails an index however often it might try': (world) =>
    runJob(
      world,
      {
        ...indexed(2),
        backoffLimitPerIndex: 3,
        podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [42] } }] },
      },
      byIndex({ '0': ended('Failed', 42) }),
    ),
  'an index is tried again, and its pod knows how often': (world) =>
    runJob(
      world,
      { ...indexed(2), backoffLimitPerIndex: 1 },
      byIndex({
        '0': (pod, now) =>
          pod.metadata.annotations?.[INDEX_FAILURES] === '0'
            ? ended('Failed', 1)(pod, now)
            : ended('Succeeded', 0)(pod, now),
      }),
    ),
  async 'an indexed job is made larger while it runs'(world) {
    world.kubelet = ready;
    const spec = { ...template('x', 'w').spec, restartPolicy: 'Never' as const };
    await of(world, jobs).create({ metadata: { name: 'w' }, spec: { ...indexed(2), template: { spec } } });
    const status = async () => (await of(world, jobs).get('w')).status;
    await world.until('two run', async () => (await status())?.ready === 2);
    const { completions, parallelism } = indexed(3);
    await of(world, jobs).patch('w', { type: 'merge', value: { spec: { completions, parallelism } } });
    await world.until('three run', async () => (await status())?.ready === 3);
    world.kubelet = ended('Succeeded', 0);
    await world.until('it is over', async () => isFinished(await status()));
    return told(await status());
  },
  async 'a job that begins suspended is changed before it runs'(world) {
    world.kubelet = ended('Succeeded', 0);
    const spec = { ...template('x', 'w').spec, restartPolicy: 'Never' as const };
    await of(world, jobs).create({ metadata: { name: 'w' }, spec: { suspend: true, template: { spec } } });
    const status = async () => (await of(world, jobs).get('w')).status;
    await world.until('it says so', async () => jobCondition(await status(), 'Suspended') !== undefined);
    await world.rest();
    const before = [told(await status()), await podNames(world)];
    const value = { spec: { suspend: false, template: { metadata: { annotations: { note: 'later' } } } } };
    await of(world, jobs).patch('w', { type: 'merge', value });
    await world.until('it is over', async () => isFinished(await status()));
    const all = (await of(world, pods).listAll()).items;
    return [before, told(await status()), all.map(({ metadata }) => metadata.annotations?.note)];
  },
  async 'a node expels pods: at once, after a while, or not at all'(world) {
    // Of the one that goes nothing else is said, which could hide why.
    world.kubelet = (pod, now) => (pod.metadata.name === 'goes' ? undefined : ready(pod, now));
    const node = `expels-${world.namespace}`;
    const taints = [{ key: 'test.dev/maintenance', effect: 'NoExecute' as const }];
    await world.client.resource(nodes).create({ metadata: { name: node }, spec: { taints } });
    const toleration = { key: 'test.dev/maintenance', operator: 'Exists', effect: 'NoExecute' };
    const make = (name: string, tolerations: readonly object[]) =>
      of(world, pods).create({
        metadata: { name },
        spec: { ...template('x').spec, nodeName: node, tolerations },
      });
    world.stubborn.add('goes');
    await make('stays', [toleration]);
    await make('late', [{ ...toleration, tolerationSeconds: 4 }]);
    await make('goes', []);
    const going = async () => of(world, pods).get('goes');
    await world.until('it is going', async () => (await going()).metadata.deletionTimestamp !== undefined);
    const middle = await podNames(world);
    const why = (await going()).status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    await world.until('another is gone', async () => !(await podNames(world)).includes('late'));
    world.stubborn.clear();
    await world.until('both are gone', async () => (await podNames(world)).length === 1);
    await world.rest();
    const left = await podNames(world);
    await world.client.resource(nodes).delete(node);
    return [middle.toSorted(), why?.status, why?.reason, why?.message, left];
  },
  async 'a claim whose volume is taken away is lost'(world) {
    const name = `v-${world.namespace}`;
    const hostPath = { path: '/srv/no-such-folder' };
    const spec = { ...size, storageClassName: 'by-hand', volumeName: name };
    await world.client.resource(volumes).create({
      metadata: { name },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'by-hand', hostPath },
    });
    await of(world, volumeClaims).create({ metadata: { name: 'data' }, spec });
    const status = async () => (await of(world, volumeClaims).get('data')).status;
    await world.until('it is bound', async () => (await status())?.phase === 'Bound');
    const bound = told(await status());
    await world.client.resource(volumes).delete(name);
    await world.rest();
    const held = (await world.client.resource(volumes).find(name))?.metadata.finalizers;
    await world.client.resource(volumes).patch(name, { type: 'merge', value: { metadata: { finalizers: null } } });
    await world.until('it is lost', async () => (await status())?.phase === 'Lost');
    return [bound, held, told(await status()), await claimEvents(world)];
  },
  async 'claims wait, and say what for'(world) {
    await of(world, volumeClaims).create({
      metadata: { name: 'classless' },
      spec: { ...size, storageClassName: '' },
    });
    await of(world, volumeClaims).create({
      metadata: { name: 'unknown-class' },
      spec: { ...size, storageClassName: 'no-such-class' },
    });
    await world.until('both say so', async () => (await claimEvents(world)).length >= 2);
    const all = (await of(world, volumeClaims).listAll()).items;
    return [all.map(({ metadata, status }) => [metadata.name, status?.phase]), await claimEvents(world)];
  },
  async 'claims go with their set'(world) {
    world.kubelet = ready;
    await makeSet(world, {
      replicas: 2,
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: size }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    });
    await world.until('up', setReady(world, 2));
    await of(world, statefulSets).delete('web');
    const claims = async () => (await of(world, volumeClaims).listAll()).items.length;
    await world.until('all is gone', async () => (await podNames(world)).length === 0 && (await claims()) === 0);
    return (await of(world, statefulSets).find('web')) === undefined;
  },
  async 'a deployment that was stuck goes on with a better template'(world) {
    world.kubelet = holding('bad');
    await of(world, deployments).create({
      metadata: { name: 'web' },
      spec: { replicas: 2, selector, template: template('v1'), progressDeadlineSeconds: 2 },
    });
    const status = async () => (await of(world, deployments).get('web')).status;
    await world.until('up', async () => (await status())?.availableReplicas === 2);
    const change = (image: string) =>
      of(world, deployments).patch('web', { type: 'merge', value: { spec: { template: template(image) } } });
    await change('bad');
    const isStuck = async () => (await status())?.conditions?.some((one) => one.reason === 'ProgressDeadlineExceeded');
    await world.until('it is stuck', async () => (await isStuck()) ?? false);
    const stuck = told(await status());
    await change('v2');
    await world.until(
      'it went on',
      async () => (await images(world)) === 'v2,v2' && (await status())?.availableReplicas === 2,
    );
    await world.rest();
    return [stuck, told(await status())];
  },
  async 'a deployment goes, and all below it follows'(world) {
    world.kubelet = ready;
    await of(world, deployments).create({
      metadata: { name: 'web' },
      spec: { replicas: 2, selector, template: template('v1') },
    });
    await world.until('up', async () => (await podNames(world)).length === 2);
    await of(world, deployments).delete('web', { propagationPolicy: 'Background' });
    const isGone = (await of(world, deployments).find('web')) === undefined;
    const sets = async () => (await of(world, replicaSets).listAll()).items.length;
    await world.until('all is gone', async () => (await sets()) === 0 && (await podNames(world)).length === 0);
    return isGone;
  },
  async 'what pods use stays in a namespace until they have ended'(world) {
    world.kubelet = ready;
    await of(world, configMaps).create({ metadata: { name: 'used' } });
    await of(world, pods).create({ ...template('x'), metadata: { name: 'p' } });
    await world.until('it runs', async () => (await of(world, pods).get('p')).status?.phase === 'Running');
    world.stubborn.add('p');
    await of(world, namespaces).delete(world.namespace);
    await world.until(
      'the pod is going',
      async () => (await of(world, pods).get('p')).metadata.deletionTimestamp !== undefined,
    );
    await world.rest();
    const isKept = (await of(world, configMaps).find('used')) !== undefined;
    world.stubborn.clear();
    await world.until('it is gone', async () => (await of(world, namespaces).find(world.namespace)) === undefined);
    return isKept;
  },
};
