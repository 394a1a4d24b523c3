/** What happens to workloads, told in a form that does not depend on names, times and versions. Run on any server with any controllers. */
import type { AnyObject, KubeClient, KubeObject, Resource, Stored } from '@reeve/kube';
import { resource } from '@reeve/kube';
import { deployments } from '../kinds/deployment.ts';
import { endpointSlices } from '../kinds/endpointslice.ts';
import { isFinished, type JobSpec, jobs } from '../kinds/job.ts';
import { pods } from '../kinds/pod.ts';
import { replicaSets } from '../kinds/replicaset.ts';
import { services } from '../kinds/service.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims } from '../kinds/volumeclaim.ts';
import { ended, ready, type Says } from './kubelet-testing.ts';

export interface World {
  readonly client: KubeClient;
  readonly namespace: string;
  kubelet: Says;
  readonly stubborn: Set<string>;
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Long enough for controllers to do what they would do. */
  rest(): Promise<void>;
}

const kubeEvents = resource<AnyObject>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});
export const configMaps = resource<AnyObject>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

export function of<T extends KubeObject>({ client, namespace }: World, kind: Resource<T>) {
  return client.resource(kind, namespace);
}

export const template = (image: string, app = 'web') => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image, ports: [{ name: 'http', containerPort: 8080 }] }] },
});
export const selector = { matchLabels: { app: 'web' } };
export const holding =
  (...held: readonly string[]): Says =>
  (pod, now) => {
    const { name } = pod.metadata;
    const image = pod.spec?.containers[0]?.image ?? '';
    const isHeld = held.includes(name) || held.includes(image);
    return isHeld
      ? { phase: 'Running', conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: now }] }
      : ready(pod, now);
  };

const plain = (text: string) =>
  text
    .replaceAll(/\b(web|w)-[a-z0-9]{6,10}-[a-z0-9]{5}\b/g, '$1-SET-POD')
    .replaceAll(/\b(web)-[a-f0-9]{10}\b|\bweb-[bcdf-hj-np-tv-z2456789]{6,10}\b/g, 'web-SET')
    .replaceAll(/\bw(-\d)?-[a-z0-9]{5}\b/g, 'w$1-POD')
    .replaceAll(/for pod [a-z0-9-]+\//g, 'for pod NS/');

/** Keys with times, versions and hashes are left out. */
export function told(status: object | undefined): unknown {
  const { conditions, ...rest } = (status ?? {}) as {
    readonly conditions?: readonly Readonly<Record<string, string>>[];
  };
  const left = Object.entries(rest).filter(
    ([key, value]) => !/Time$|Revision$|observedGeneration/.test(key) && value !== 0,
  );
  const said = (conditions ?? []).map(({ type, status: is, reason, message }) =>
    plain(`${type}=${is} ${reason}: ${message}`),
  );
  return { ...Object.fromEntries(left), conditions: said.toSorted() };
}

export async function events(world: World): Promise<readonly string[]> {
  const all = (await of(world, kubeEvents).listAll()).items as unknown as readonly {
    readonly type: string;
    readonly reason: string;
    readonly note: string;
    readonly regarding: { readonly kind: string };
  }[];
  const ours = all.filter(({ regarding }) =>
    ['StatefulSet', 'Job', 'Deployment', 'ReplicaSet'].includes(regarding.kind),
  );
  const texts = ours.map(({ type, reason, note, regarding }) => plain(`${regarding.kind} ${type} ${reason}: ${note}`));
  return [...new Set(texts)].toSorted();
}

export async function podNames(world: World): Promise<readonly string[]> {
  return (await of(world, pods).listAll()).items.map(({ metadata }) => metadata.name);
}

export async function images(world: World): Promise<string> {
  const all = (await of(world, pods).listAll()).items;
  return all
    .map(({ spec }) => spec?.containers[0]?.image)
    .toSorted()
    .join();
}

export async function runJob(world: World, spec: Partial<JobSpec>, says: Says): Promise<unknown> {
  world.kubelet = says;
  const { restartPolicy, ...rest } = { restartPolicy: 'Never' as const, ...template('x', 'w').spec };
  await of(world, jobs).create({
    metadata: { name: 'w' },
    spec: { template: { spec: { ...rest, restartPolicy } }, ...spec },
  });
  await world.until('the job is over', async () => isFinished((await of(world, jobs).get('w')).status));
  await world.rest();
  const left = (await of(world, pods).listAll()).items;
  return {
    status: told((await of(world, jobs).get('w')).status),
    // Their names are random, and so is their order.
    pods: left
      .map(({ status, metadata }) =>
        JSON.stringify([status?.phase, metadata.finalizers ?? [], metadata.annotations ?? {}]),
      )
      .toSorted(),
    events: await events(world),
  };
}

export async function makeSet(world: World, more: object = {}): Promise<void> {
  await of(world, statefulSets).create({
    metadata: { name: 'web' },
    spec: { replicas: 3, serviceName: 'web', selector, template: template('v1'), ...more },
  });
}

export const setReady = (world: World, count: number) => async () => {
  const { status, metadata } = await of(world, statefulSets).get('web');
  return (
    status?.observedGeneration === metadata.generation &&
    status?.readyReplicas === count &&
    (await podNames(world)).length === count
  );
};

export async function setTold(world: World): Promise<unknown> {
  await world.rest();
  const set = await of(world, statefulSets).get('web');
  const all = (await of(world, pods).listAll()).items;
  return {
    status: told(set.status),
    isSettled: set.status?.currentRevision === set.status?.updateRevision,
    pods: all.map(({ metadata, spec }) => {
      const { 'controller-revision-hash': hash = '', ...labels } = metadata.labels ?? {};
      const claims = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: from }) => (from ? [from.claimName] : []));
      return [
        metadata.name,
        spec?.hostname,
        spec?.subdomain,
        labels,
        hash.startsWith('web-'),
        spec?.containers[0]?.image,
        claims,
      ];
    }),
    events: await events(world),
  };
}

export const patch = (world: World, spec: object) =>
  of(world, statefulSets).patch('web', { type: 'merge', value: { spec } });

export const scenarios: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  async 'a set comes up in order and goes down in order'(world) {
    world.kubelet = holding('web-1');
    await makeSet(world);
    await world.until('two are there', async () => (await podNames(world)).length === 2);
    await world.rest();
    const held = await podNames(world);
    world.kubelet = ready;
    await world.until('ready', setReady(world, 3));
    const up = await setTold(world);
    await patch(world, { replicas: 1 });
    await world.until('one', setReady(world, 1));
    return [held, up, await setTold(world)];
  },
  async 'a set is updated down to its partition, then whole'(world) {
    world.kubelet = ready;
    await makeSet(world, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
    await world.until('ready', setReady(world, 3));
    await patch(world, { template: template('v2') });
    await world.until('one is new', async () => (await images(world)) === 'v1,v1,v2' && (await setReady(world, 3)()));
    const middle = await setTold(world);
    await patch(world, { updateStrategy: { rollingUpdate: { partition: 0 } } });
    await world.until('all are new', async () => (await images(world)) === 'v2,v2,v2' && (await setReady(world, 3)()));
    return [middle, await setTold(world)];
  },
  async 'a rollout is stopped by a failing pod'(world) {
    world.kubelet = holding('bad');
    await makeSet(world);
    await world.until('ready', setReady(world, 3));
    await patch(world, { template: template('bad') });
    await world.until('one is bad', async () => (await images(world)) === 'bad,v1,v1');
    await patch(world, { template: template('v3') });
    const stuck = await setTold(world);
    await of(world, pods).delete('web-2');
    await world.until('mended', async () => (await images(world)) === 'v3,v3,v3' && (await setReady(world, 3)()));
    return [stuck, await setTold(world)];
  },
  async 'a parallel set with OnDelete and ordinals'(world) {
    world.kubelet = ready;
    await makeSet(world, {
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      ordinals: { start: 3 },
    });
    await world.until('ready', setReady(world, 3));
    await patch(world, { template: template('v2') });
    await world.rest();
    await of(world, pods).delete('web-4');
    await world.until('it is back', async () => (await images(world)) === 'v1,v1,v2' && (await setReady(world, 3)()));
    return setTold(world);
  },
  async 'claims of a set are kept, and named after pods'(world) {
    world.kubelet = ready;
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await makeSet(world, {
      replicas: 2,
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    });
    await world.until('ready', setReady(world, 2));
    await patch(world, { replicas: 1 });
    await world.until('one', setReady(world, 1));
    await world.rest();
    const claims = (await of(world, volumeClaims).listAll()).items;
    return claims.map(({ metadata }) => [
      metadata.name,
      metadata.labels,
      (metadata.ownerReferences ?? []).map(({ kind, controller, blockOwnerDeletion }) => [
        kind,
        controller,
        blockOwnerDeletion,
      ]),
    ]);
  },
  async 'a pod is adopted, another let go'(world) {
    world.kubelet = ready;
    await makeSet(world);
    await world.until('ready', setReady(world, 3));
    await of(world, pods).patch('web-0', { type: 'merge', value: { metadata: { ownerReferences: [] } } });
    await world.until(
      'adopted',
      async () => ((await of(world, pods).get('web-0')).metadata.ownerReferences ?? []).length === 1,
    );
    const [owner] = (await of(world, pods).get('web-0')).metadata.ownerReferences ?? [];
    await of(world, pods).patch('web-2', { type: 'merge', value: { metadata: { labels: { app: 'other' } } } });
    await world.until(
      'let go',
      async () => ((await of(world, pods).get('web-2')).metadata.ownerReferences ?? []).length === 0,
    );
    return [owner?.kind, owner?.controller, owner?.blockOwnerDeletion];
  },
  'a job completes': (world) => runJob(world, { completions: 3, parallelism: 2 }, ended('Succeeded', 0)),
  'an indexed job completes': (world) =>
    runJob(world, { completions: 3, parallelism: 3, completionMode: 'Indexed' }, ended('Succeeded', 0)),
  'a job fails at its limit': (world) => runJob(world, { backoffLimit: 0 }, ended('Failed', 1)),
  'a job fails by a rule': (world) =>
    runJob(
      world,
      {
        podFailurePolicy: {
          rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }],
        },
      },
      ended('Failed', 42),
    ),
  'a job runs out of time': (world) => runJob(world, { activeDeadlineSeconds: 2 }, ready),
  async 'a job is suspended and resumed'(world) {
    world.kubelet = ready;
    await of(world, jobs).create({
      metadata: { name: 'w' },
      spec: { template: { spec: { ...template('x').spec, restartPolicy: 'Never' } } },
    });
    const ofJob = async () => (await of(world, jobs).get('w')).status;
    await world.until('it runs', async () => (await ofJob())?.ready === 1);
    await of(world, jobs).patch('w', { type: 'merge', value: { spec: { suspend: true } } });
    await world.until('it is suspended', async () => (await podNames(world)).length === 0);
    await world.rest();
    const suspended = [told(await ofJob()), (await ofJob())?.startTime === undefined];
    world.kubelet = ended('Succeeded', 0);
    await of(world, jobs).patch('w', { type: 'merge', value: { spec: { suspend: false } } });
    await world.until('it is over', async () => isFinished(await ofJob()));
    return [suspended, told(await ofJob()), await events(world)];
  },
  async 'a deployment is made, updated and rolled back'(world) {
    world.kubelet = ready;
    await of(world, deployments).create({
      metadata: { name: 'web', annotations: { note: 'x' } },
      spec: { replicas: 3, selector, template: template('v1') },
    });
    const isDone = (image: string) => async () => {
      const { status, metadata } = await of(world, deployments).get('web');
      const isSeen = status?.observedGeneration === metadata.generation && status?.updatedReplicas === 3;
      return isSeen && status?.availableReplicas === 3 && (await images(world)) === [image, image, image].join();
    };
    const tell = async () => {
      await world.rest();
      const deployment = await of(world, deployments).get('web');
      const sets = (await of(world, replicaSets).listAll()).items;
      return {
        status: told(deployment.status),
        annotations: deployment.metadata.annotations,
        sets: sets
          .map(({ spec, status, metadata }) => [
            spec?.template?.spec?.containers[0]?.image,
            spec?.replicas,
            told(status),
            metadata.annotations,
          ])
          .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      };
    };
    await world.until('up', isDone('v1'));
    const first = await tell();
    for (const image of ['v2', 'v1']) {
      await of(world, deployments).patch('web', { type: 'merge', value: { spec: { template: template(image) } } });
      await world.until(image, isDone(image));
    }
    return [first, await tell()];
  },
  async 'a deployment that cannot get ready says so'(world) {
    world.kubelet = holding('bad');
    await of(world, deployments).create({
      metadata: { name: 'web' },
      spec: { replicas: 2, selector, template: template('bad'), progressDeadlineSeconds: 2 },
    });
    await world.until('it says so', async () => {
      const { status } = await of(world, deployments).get('web');
      return status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded') ?? false;
    });
    return [told((await of(world, deployments).get('web')).status), await events(world)];
  },
  async 'a service has its slice'(world) {
    world.kubelet = (pod, now) => ({ ...ready(pod, now), podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }] });
    await of(world, services).create({
      metadata: { name: 'db', labels: { team: 'a' } },
      spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
    });
    await of(world, pods).create({ ...template('x'), metadata: { name: 'p', labels: { app: 'web' } } });
    const slices = async () => (await of(world, endpointSlices).listAll()).items;
    await world.until('it is in', async () => (await slices())[0]?.endpoints?.[0]?.conditions?.ready === true);
    return (await slices()).map(({ metadata, endpoints, ports, addressType }) => [
      metadata.labels,
      (metadata.ownerReferences ?? []).map(({ kind, controller }) => [kind, controller]),
      (endpoints ?? []).map(({ targetRef, ...one }) => ({ ...one, targetRef: [targetRef?.kind, targetRef?.name] })),
      ports,
      addressType,
    ]);
  },
  async 'owners: background, foreground with a stubborn pod, orphan'(world) {
    world.kubelet = ready;
    const results: unknown[] = [];
    for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'] as const) {
      await of(world, jobs).create({
        metadata: { name: 'w' },
        spec: { template: { spec: { ...template('x').spec, restartPolicy: 'Never' } } },
      });
      await world.until('it runs', async () => (await of(world, jobs).get('w')).status?.ready === 1);
      const [name = ''] = await podNames(world);
      if (propagationPolicy === 'Foreground') world.stubborn.add(name);
      await of(world, jobs).delete('w', { propagationPolicy });
      await world.rest();
      const held = (await of(world, jobs).find('w'))?.metadata.finalizers ?? 'gone';
      world.stubborn.clear();
      await world.until('it is gone', async () => (await of(world, jobs).find('w')) === undefined);
      await world.rest();
      const left = (await of(world, pods).listAll()).items;
      results.push([
        propagationPolicy,
        held,
        left.map(({ metadata }) => [metadata.finalizers ?? [], metadata.ownerReferences ?? []]),
      ]);
    }
    return results;
  },
  async 'an object with a wrong owner goes'(world) {
    const real = await of(world, configMaps).create({ metadata: { name: 'owner' } });
    const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid });
    const make = (name: string, uids: readonly string[]) =>
      of(world, configMaps).create({ metadata: { name, ownerReferences: uids.map(owner) } });
    await make('wrong', ['b2d7f0c0-0000-4000-8000-000000000000']);
    await make('right', [real.metadata.uid]);
    await world.until('it is gone', async () => (await of(world, configMaps).find('wrong')) === undefined);
    await world.rest();
    const names = (await of(world, configMaps).listAll()).items.map(({ metadata }: Stored<AnyObject>) => metadata.name);
    return names.filter((name) => name !== 'kube-root-ca.crt');
  },
};
