/** How the usual kinds are shown where the server makes no tables. */
import type { AnyObject, Resource } from '@reeve/kube';
import { ageText, durationText } from './age.ts';
import { valueAt } from './jsonpath.ts';
import { podSummary } from './pod-summary.ts';
import { cellText, type Column } from './table.ts';

const NONE = '<none>';

const name: Column = { title: 'NAME', of: ({ metadata }) => metadata.name ?? '' };
const age: Column = { title: 'AGE', of: ({ metadata }, now) => ageText(metadata.creationTimestamp, now) };
const fallback: readonly Column[] = [name, age];

const at = (title: string, path: string, missing = ''): Column => ({
  title,
  of: (object) => cellText(valueAt(object, path) ?? missing),
});
const wide = (column: Column): Column => ({ ...column, wide: true });
const count = (object: AnyObject, path: string): number => Number(valueAt(object, path) ?? 0);
const fraction = (title: string, some: string, all: string): Column => ({
  title,
  of: (object) => `${count(object, some)}/${count(object, all)}`,
});
const number = (title: string, path: string): Column => ({ title, of: (object) => String(count(object, path)) });
const images = wide({ title: 'IMAGES', of: (object) => imagesOf(object).join(',') });

function imagesOf(object: AnyObject): readonly string[] {
  const containers = valueAt(object, '.spec.template.spec.containers') as readonly { image?: string }[] | undefined;
  return (containers ?? []).map(({ image = '' }) => image);
}

const pods: readonly Column[] = [
  name,
  { title: 'READY', of: (pod, now) => podSummary(pod, now).ready },
  { title: 'STATUS', of: (pod, now) => podSummary(pod, now).status },
  { title: 'RESTARTS', of: (pod, now) => podSummary(pod, now).restarts },
  age,
  wide({ title: 'IP', of: (pod, now) => podSummary(pod, now).ip }),
  wide({ title: 'NODE', of: (pod, now) => podSummary(pod, now).node }),
];

const nodes: readonly Column[] = [
  name,
  { title: 'STATUS', of: nodeStatus },
  { title: 'ROLES', of: nodeRoles },
  age,
  at('VERSION', '.status.nodeInfo.kubeletVersion', NONE),
  wide(at('INTERNAL-IP', '.status.addresses[?(@.type=="InternalIP")].address', NONE)),
  wide(at('ZONE', '.metadata.labels.topology\\.kubernetes\\.io/zone', NONE)),
];

function nodeStatus(node: AnyObject): string {
  const ready = valueAt(node, '.status.conditions[?(@.type=="Ready")].status');
  const word = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady';
  return valueAt(node, '.spec.unschedulable') === true ? `${word},SchedulingDisabled` : word;
}

function nodeRoles({ metadata }: AnyObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(metadata.labels ?? {}).flatMap((label) =>
    label.startsWith(prefix) ? [label.slice(prefix.length)] : [],
  );
  return roles.length === 0 ? NONE : roles.sort().join(',');
}

interface ServicePort {
  readonly port: number;
  readonly nodePort?: number;
  readonly protocol?: string;
}

const services: readonly Column[] = [
  name,
  at('TYPE', '.spec.type'),
  at('CLUSTER-IP', '.spec.clusterIP', NONE),
  at('EXTERNAL-IP', '.status.loadBalancer.ingress[0].ip', NONE),
  {
    title: 'PORT(S)',
    of(service) {
      const ports = (valueAt(service, '.spec.ports') as readonly ServicePort[] | undefined) ?? [];
      const texts = ports.map(({ port, nodePort, protocol = 'TCP' }) =>
        nodePort === undefined ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`,
      );
      return texts.length === 0 ? NONE : texts.join(',');
    },
  },
  age,
  wide({
    title: 'SELECTOR',
    of(service) {
      const selector = (valueAt(service, '.spec.selector') as Readonly<Record<string, string>> | undefined) ?? {};
      const pairs = Object.entries(selector).map(([label, value]) => `${label}=${value}`);
      return pairs.length === 0 ? NONE : pairs.join(',');
    },
  }),
];

const jobs: readonly Column[] = [
  name,
  { title: 'STATUS', of: jobStatus },
  {
    title: 'COMPLETIONS',
    of: (job) => `${count(job, '.status.succeeded')}/${cellText(valueAt(job, '.spec.completions') ?? 1)}`,
  },
  {
    title: 'DURATION',
    of(job, now) {
      const start = valueAt(job, '.status.startTime');
      if (typeof start !== 'string') return '';
      const end = valueAt(job, '.status.completionTime');
      return durationText((typeof end === 'string' ? Date.parse(end) : now) - Date.parse(start));
    },
  },
  age,
  images,
];

function jobStatus(job: AnyObject): string {
  const isTrue = (type: string): boolean => valueAt(job, `.status.conditions[?(@.type=="${type}")].status`) === 'True';
  if (isTrue('Complete')) return 'Complete';
  if (isTrue('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (isTrue('Suspended')) return 'Suspended';
  return isTrue('FailureTarget') ? 'FailureTarget' : isTrue('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

/** When it was last seen: what writes events says it in one of these places. */
export function eventTime(event: AnyObject): string | undefined {
  const places = ['.series.lastObservedTime', '.lastTimestamp', '.deprecatedLastTimestamp', '.eventTime'];
  const time = places.map((path) => valueAt(event, path)).find((value) => typeof value === 'string');
  return (time as string | undefined) ?? event.metadata.creationTimestamp ?? undefined;
}

export const eventColumns: readonly Column[] = [
  { title: 'LAST SEEN', of: (event, now) => ageText(eventTime(event), now) },
  at('TYPE', '.type'),
  at('REASON', '.reason'),
  {
    title: 'OBJECT',
    of(event) {
      const about = valueAt(event, '.involvedObject') ?? valueAt(event, '.regarding');
      return `${cellText(valueAt(about, '.kind')).toLowerCase()}/${cellText(valueAt(about, '.name'))}`;
    },
  },
  {
    title: 'MESSAGE',
    of: (event) => cellText(valueAt(event, '.message') ?? valueAt(event, '.note')).trim(),
  },
];

const claims: readonly Column[] = [
  name,
  at('STATUS', '.status.phase'),
  at('VOLUME', '.spec.volumeName'),
  at('CAPACITY', '.status.capacity.storage'),
  { title: 'ACCESS MODES', of: (claim) => accessModes(valueAt(claim, '.spec.accessModes')) },
  at('STORAGECLASS', '.spec.storageClassName'),
  age,
];

const volumes: readonly Column[] = [
  name,
  at('CAPACITY', '.spec.capacity.storage'),
  { title: 'ACCESS MODES', of: (volume) => accessModes(valueAt(volume, '.spec.accessModes')) },
  at('RECLAIM POLICY', '.spec.persistentVolumeReclaimPolicy'),
  at('STATUS', '.status.phase'),
  {
    title: 'CLAIM',
    of(volume) {
      const claim = valueAt(volume, '.spec.claimRef');
      return claim === undefined
        ? ''
        : `${cellText(valueAt(claim, '.namespace'))}/${cellText(valueAt(claim, '.name'))}`;
    },
  },
  at('STORAGECLASS', '.spec.storageClassName'),
  age,
];

const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

const accessModes = (modes: unknown): string =>
  ((modes as readonly string[] | undefined) ?? []).map((mode) => SHORT_MODES[mode] ?? mode).join(',');

const keysOf = (object: AnyObject, ...paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + Object.keys((valueAt(object, path) as object | undefined) ?? {}).length, 0);

const known: Readonly<Record<string, readonly Column[]>> = {
  pods,
  nodes,
  services,
  events: eventColumns,
  persistentvolumeclaims: claims,
  persistentvolumes: volumes,
  namespaces: [name, at('STATUS', '.status.phase'), age],
  configmaps: [name, { title: 'DATA', of: (map) => String(keysOf(map, '.data', '.binaryData')) }, age],
  secrets: [name, at('TYPE', '.type'), { title: 'DATA', of: (secret) => String(keysOf(secret, '.data')) }, age],
  'events.events.k8s.io': eventColumns,
  'statefulsets.apps': [name, fraction('READY', '.status.readyReplicas', '.spec.replicas'), age, images],
  'deployments.apps': [
    name,
    fraction('READY', '.status.readyReplicas', '.spec.replicas'),
    number('UP-TO-DATE', '.status.updatedReplicas'),
    number('AVAILABLE', '.status.availableReplicas'),
    age,
    images,
  ],
  'replicasets.apps': [
    name,
    number('DESIRED', '.spec.replicas'),
    number('CURRENT', '.status.replicas'),
    number('READY', '.status.readyReplicas'),
    age,
    images,
  ],
  'jobs.batch': jobs,
  'leases.coordination.k8s.io': [name, at('HOLDER', '.spec.holderIdentity'), age],
  'customresourcedefinitions.apiextensions.k8s.io': [
    name,
    { title: 'CREATED AT', of: ({ metadata }) => metadata.creationTimestamp ?? '' },
  ],
};

/** Undefined: nothing is known of this kind but what all objects have. */
export function knownColumns({ plural, group }: Resource): readonly Column[] | undefined {
  const key = group === '' ? plural : `${plural}.${group}`;
  return Object.hasOwn(known, key) ? known[key] : undefined;
}

interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

/** As the definition of a custom kind wants it shown; the usual two columns if it says nothing, or there is none. */
export function customColumns(definition: AnyObject | undefined, version: string): readonly Column[] {
  const path = `.spec.versions[?(@.name=="${version}")].additionalPrinterColumns`;
  const columns = definition && (valueAt(definition, path) as readonly PrinterColumn[] | undefined);
  if (!columns || columns.length === 0) return fallback;
  return [
    name,
    ...columns.map(
      ({ name: title, type, jsonPath, priority = 0 }): Column => ({
        title: title.toUpperCase(),
        wide: priority > 0,
        of(object, now) {
          const value = valueAt(object, jsonPath);
          if (type !== 'date' || value === undefined) return cellText(value);
          return ageText(value, now);
        },
      }),
    ),
  ];
}
