/** The objects of the benchmarks: custom resources of about 3 KB and Pods of about 9 KB, as the server tells them. */
export const NAMESPACE = 'bench';

export type ResourceName = 'widgets' | 'pods';

export const COLLECTIONS: Readonly<Record<ResourceName, string>> = {
  widgets: `/apis/bench.reeve.dev/v1/namespaces/${NAMESPACE}/widgets`,
  pods: `/api/v1/namespaces/${NAMESPACE}/pods`,
};

const FIRST_REVISION = 10_000_000;

/** Always as long: what is stored in binary has lengths before it. */
export function revisionText(revision: number): string {
  return String(FIRST_REVISION + revision);
}

/** What stands before the revision in a stored object: JSON, and protobuf's key, field and length. */
export const REVISION_MARK: Readonly<Record<ResourceName, string>> = {
  widgets: '"revision":',
  pods: `bench.reeve.dev/revision\u0012${String.fromCharCode(revisionText(0).length)}`,
};

export const namespaceObject = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const text = { type: 'string' };
const whole = { type: 'integer' };
const texts = { type: 'object', additionalProperties: text };

export const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.bench.reeve.dev' },
  spec: {
    group: 'bench.reeve.dev',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  revision: whole,
                  image: text,
                  settings: texts,
                  members: {
                    type: 'array',
                    items: {
                      type: 'object',
                      properties: { name: text, host: text, port: whole, ready: { type: 'boolean' }, labels: texts },
                    },
                  },
                },
              },
              status: { type: 'object', properties: { revision: whole, phase: text } },
            },
          },
        },
      },
    ],
  },
};

const numbered = <T>(count: number, make: (number: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, number) => make(number));

export const nameOf = (resource: ResourceName, number: number): string => `${resource.slice(0, -1)}-${number}`;

const labelsOf = (number: number) => ({
  'app.kubernetes.io/name': 'bench',
  'app.kubernetes.io/instance': `bench-${number % 100}`,
  'app.kubernetes.io/managed-by': 'bench',
});

function widget(number: number): object {
  return {
    apiVersion: 'bench.reeve.dev/v1',
    kind: 'Widget',
    metadata: { name: nameOf('widgets', number), labels: labelsOf(number) },
    spec: {
      revision: FIRST_REVISION,
      image: 'images.example.com/bench/widget:1.2.3',
      settings: Object.fromEntries(
        numbered(17, (i) => [`setting-${i}`, `the value of setting ${i} of object ${number}`]),
      ),
      members: numbered(7, (i) => ({
        name: `member-${number}-${i}`,
        host: `member-${i}.widget-${number}.bench.svc.cluster.local`,
        port: 7_000 + i,
        ready: i % 2 === 0,
        labels: { role: i < 3 ? 'primary' : 'replica', zone: `zone-${i % 3}` },
      })),
    },
  };
}

function pod(number: number): object {
  const container = (i: number) => ({
    name: `part-${i}`,
    image: `images.example.com/bench/part-${i}:1.2.3`,
    command: ['/bin/part', '--config=/etc/part/config.yaml', `--shard=${number}`, '--log-format=json'],
    ports: [{ name: 'metrics', containerPort: 9_000 + i, protocol: 'TCP' }],
    env: numbered(7, (e) => ({ name: `SETTING_${e}`, value: `the value of setting ${e} of pod ${number}` })),
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } },
    livenessProbe: { httpGet: { path: '/livez', port: 9_000 + i, scheme: 'HTTP' }, periodSeconds: 10 },
    volumeMounts: numbered(3, (v) => ({ name: `volume-${v}`, mountPath: `/var/lib/part/${v}` })),
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: nameOf('pods', number),
      labels: labelsOf(number),
      annotations: { 'bench.reeve.dev/revision': revisionText(0) },
    },
    spec: {
      automountServiceAccountToken: false,
      containers: numbered(3, container),
      volumes: numbered(3, (v) => ({ name: `volume-${v}`, configMap: { name: `config-${v}` } })),
      nodeSelector: { 'bench.reeve.dev/pool': 'none' },
    },
  };
}

export function objectOf(resource: ResourceName, number: number): object {
  return resource === 'widgets' ? widget(number) : pod(number);
}

/** What the bench of the servers creates: 3 KB, nothing to validate on either side but its form. */
export function configMapText(name: string): string {
  return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","labels":{"app":"bench"}},"data":{"text":"${DATA}"}}`;
}

const DATA = 'x'.repeat(3_000);

/** Creates that are counted by time, lists of a known length, and watches have a namespace each. */
export const ROOMS = ['bench-creates', 'bench-lists', 'bench-watches'] as const;
export type Room = (typeof ROOMS)[number];

export const configMapsIn = (room: Room): string => `/api/v1/namespaces/${room}/configmaps`;
