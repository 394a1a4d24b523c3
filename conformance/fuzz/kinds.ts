/**
 * The kinds that sequences are about, and random content for them. A custom kind has every sort of field that ownership
 * knows; built-in kinds get values that are right, most often. Nothing that sequences could take from each other: they
 * run at once, and not in the same order on both servers.
 */
import type { Fields, Random } from './random.ts';

export interface FuzzKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly collection: string;
  readonly custom: boolean;
  /** How often, compared with the others. */
  readonly weight: number;
  /** Everything of an object but its name: what may be given anew, in any combination. */
  content(random: Random): Fields;
  /** What must be there in every object, and does not change. */
  base(): Fields;
  /** A part of it, for patches: maps with null for what shall go. */
  status?(random: Random): Fields;
}

const metadata = (random: Random): Fields =>
  random.fields(
    {
      labels: () => random.map(() => random.word(), 1),
      annotations: () => random.map(() => random.word(), 1),
      finalizers: () => random.words(1).map((word) => `e.com/${word}`),
      ownerReferences: () =>
        random.keyed(
          () => ({ apiVersion: 'v1', kind: 'ConfigMap', name: random.word(), uid: `u-${random.word()}` }),
          ({ uid }) => uid as string,
          1,
        ),
    },
    0.15,
  );

const text = (random: Random) => () => random.word();
const number = (random: Random) => () => random.below(3);

function thingSpec(random: Random): Fields {
  const word = text(random);
  const digit = number(random);
  const port = (): Fields => ({
    port: 80 + random.below(2),
    ...random.fields({ protocol: () => random.pick(['TCP', 'UDP']), name: word, target: digit }, 0.5),
  });
  const sub = (): Fields => ({ id: random.word(), ...random.fields({ v: word }, 0.5) });
  const item = (): Fields => ({
    name: random.word(),
    ...random.fields(
      {
        value: word,
        other: word,
        sub: () => random.keyed(sub, ({ id }) => id as string),
        extra: () => random.map(word),
      },
      0.5,
    ),
  });
  return random.fields(
    {
      text: word,
      number: digit,
      flag: () => random.chance(0.5),
      either: () => random.pick<string | number>([1, '50%']),
      settings: () => random.map(word),
      frozen: () => random.map(word),
      point: () => random.fields({ x: digit, y: digit }, 0.6),
      nested: () => random.fields({ inner: () => random.fields({ a: word, b: word }, 0.6), c: word }, 0.6),
      tags: () => random.words(),
      numbers: () => [...new Set(random.some(digit))],
      words: () => random.some(word),
      shapes: () => random.some(() => random.fields({ kind: word, size: digit }, 0.6)),
      ports: () => random.keyed(port, ({ port: one, protocol = 'TCP' }) => `${one as number}/${protocol as string}`),
      items: () => random.keyed(item, ({ name }) => name as string),
      groups: () => random.map(() => random.words()),
      rows: () => random.map(() => random.fields({ left: word, right: word }, 0.6)),
      loose: () => random.map(() => random.pick([random.word(), random.some(word), random.map(word), 3])),
    },
    0.3,
  );
}

const container = (random: Random, name: string): Fields => ({
  name,
  image: `image-${random.word()}`,
  ...random.fields(
    {
      env: () =>
        random.keyed(
          () => ({ name: random.word(), value: random.word() }),
          ({ name: one }) => one as string,
        ),
      args: () => random.some(text(random)),
      ports: () =>
        random.keyed(
          () => ({
            containerPort: 80 + random.below(2),
            ...random.fields({ protocol: () => 'TCP', name: () => random.pick(['web', 'web', 'No Name']) }, 0.3),
          }),
          ({ containerPort }) => `${containerPort as number}`,
        ),
      resources: () =>
        random.fields(
          {
            requests: () => ({ cpu: random.pick(['1', '1000m', '500m']) }),
            limits: () => ({ memory: random.pick(['1Gi', '1024Mi', '1500m']), cpu: random.pick(['1', '2']) }),
          },
          0.7,
        ),
    },
    0.3,
  ),
  ...random.fields(
    {
      volumeMounts: () => [{ name: random.word(), mountPath: '/x' }],
      imagePullPolicy: () => random.pick(['Always', 'Never', 'Rarely']),
      livenessProbe: () => ({ tcpSocket: { port: random.pick([80, 0]) } }),
    },
    0.05,
  ),
});

const labels = { app: 'x' };

export const kinds: readonly FuzzKind[] = [
  {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    collection: '/apis/example.com/v1/namespaces/<ns>/things',
    custom: true,
    weight: 10,
    base: () => ({}),
    content: (random) => ({ metadata: metadata(random), ...random.fields({ spec: () => thingSpec(random) }, 0.95) }),
    status: (random) =>
      random.fields(
        {
          phase: text(random),
          count: number(random),
          conditions: () =>
            random.keyed(
              () => ({ type: random.word(), ...random.fields({ status: text(random) }, 0.7) }),
              ({ type }) => type as string,
            ),
        },
        0.6,
      ),
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    collection: '/api/v1/namespaces/<ns>/configmaps',
    custom: false,
    weight: 3,
    base: () => ({}),
    content: (random) => ({
      metadata: metadata(random),
      ...random.fields(
        {
          data: () => random.map(text(random)),
          binaryData: () => ({ [`b-${random.word()}`]: random.pick(['aGk=', 'eA==']) }),
        },
        0.6,
      ),
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    collection: '/api/v1/namespaces/<ns>/services',
    custom: false,
    weight: 2,
    base: () => ({ spec: { clusterIP: 'None', selector: { app: 'x' }, ports: [{ name: 'base', port: 1 }] } }),
    content: (random) => ({
      metadata: metadata(random),
      spec: random.fields(
        {
          selector: () => random.map(text(random), 1),
          publishNotReadyAddresses: () => random.chance(0.5),
          ports: () =>
            random.keyed(
              () => {
                const port = 80 + random.below(3);
                return { name: `p-${port}`, port, ...random.fields({ targetPort: () => 8080 + random.below(2) }, 0.5) };
              },
              ({ name }) => name as string,
              1,
            ),
        },
        0.5,
      ),
    }),
    status: () => ({ loadBalancer: {} }),
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    collection: '/api/v1/namespaces/<ns>/services',
    custom: false,
    weight: 2,
    base: () => ({ spec: { selector: { app: 'x' }, ports: [{ name: 'base', port: 1 }] } }),
    content: (random) => ({
      metadata: metadata(random),
      spec: random.fields(
        {
          type: () => random.pick(['ClusterIP', 'NodePort', 'NodePort', 'LoadBalancer', 'ExternalName']),
          externalName: () => random.pick(['a.example', 'b.example']),
          clusterIP: () => random.pick(['None', '10.1.1.1', '']),
          ipFamilyPolicy: () => random.pick(['SingleStack', 'PreferDualStack', 'RequireDualStack']),
          ipFamilies: () => random.pick([['IPv4'], ['IPv4'], ['IPv6']]),
          externalTrafficPolicy: () => random.pick(['Local', 'Cluster']),
          sessionAffinity: () => random.pick(['None', 'ClientIP']),
          ports: () =>
            random.keyed(
              () => ({
                name: random.word(),
                port: 80 + random.below(3),
                ...random.fields({ protocol: () => 'UDP' }, 0.3),
              }),
              ({ name }) => name as string,
              1,
            ),
        },
        0.25,
      ),
    }),
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    collection: '/apis/apps/v1/namespaces/<ns>/statefulsets',
    custom: false,
    weight: 2,
    base: () => ({
      spec: {
        serviceName: 's',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'image-x' }] } },
      },
    }),
    content: (random) => ({
      metadata: metadata(random),
      spec: random.fields(
        {
          replicas: number(random),
          minReadySeconds: number(random),
          template: () => ({
            metadata: { labels: { ...labels, ...random.map(text(random)) } },
            spec: { containers: ['main', ...random.words()].map((name) => container(random, name)) },
          }),
        },
        0.5,
      ),
    }),
    status: (random) => ({ replicas: random.below(3), availableReplicas: 0 }),
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    collection: '/api/v1/namespaces/<ns>/pods',
    custom: false,
    weight: 2,
    base: () => ({ spec: { containers: [{ name: 'main', image: 'image-x' }] } }),
    content: (random) => ({
      metadata: metadata(random),
      spec: random.fields({ containers: () => [{ name: 'main', image: `image-${random.word()}` }] }, 0.5),
    }),
    status: (random) =>
      random.fields(
        {
          message: text(random),
          conditions: () =>
            random.keyed(
              () => ({ type: `e.com/${random.word()}`, status: random.pick(['True', 'False']) }),
              ({ type }) => type as string,
            ),
        },
        0.7,
      ),
  },
];

export function pickKind(random: Random, wanted?: string): FuzzKind {
  const known = kinds.filter(({ kind }) => wanted === undefined || kind === wanted);
  return random.pick(known.flatMap((kind) => Array.from({ length: kind.weight }, () => kind)));
}
