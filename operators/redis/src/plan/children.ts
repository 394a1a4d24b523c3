/**
 * What a cluster is made of in Kubernetes, as manifests: one StatefulSet for all its nodes, because roles change and pods do not. Pods are
 * never replaced by the StatefulSet itself (`OnDelete`): only the operator knows which one may go. Pure.
 */
import { ADMINISTRATOR, CLUSTER_LABEL } from '../api/cluster.ts';
import type { ConfigMap, DisruptionBudget, Service, StatefulSet } from '../api/kinds.ts';
import { agentParts, POD_NAMESPACE } from './agent-container.ts';
import type { Desired } from './desired.ts';

export const CLIENT_PORT = 6379;
/** Where servers tell each other things. */
export const BUS_PORT = 16_379;
/** User and group `redis` or `valkey` of the official images. */
const IMAGE_USER = 999;
/**
 * By the names that they have without `spec.image`, or under which they are published, wherever somebody keeps a copy. Who is who in other
 * images, nobody here knows.
 */
const OFFICIAL_IMAGE = /^(?:redis|valkey|(?:.+\/)?(?:library\/(?:redis|valkey)|valkey\/valkey))(?:[:@]|$)/;
/** Files of Secrets belong to root and to the group of the pod's volumes: whoever is in it reads them. */
const SECRET_MODE = 0o440;
/** The container of the server. */
export const SERVER_CONTAINER = 'server';
/** All mounts lie below one folder that exists nowhere: where there are no containers, that makes them cheap. */
const ROOT = '/srv/reeve';
/** Which label of a worker node says what is meant by a key of `spreadBy`. Others are labels themselves. */
const TOPOLOGY: Readonly<Record<string, string>> = {
  zone: 'topology.kubernetes.io/zone',
  host: 'kubernetes.io/hostname',
};

/** By TLS only, among each other too. Paths are arguments, not in the configuration file: without containers they are others. */
const TLS_ARGUMENTS: readonly string[] = [
  ...['--port', '0'],
  ...['--tls-port', String(CLIENT_PORT)],
  ...['--tls-cert-file', `${ROOT}/tls/tls.crt`],
  ...['--tls-key-file', `${ROOT}/tls/tls.key`],
  ...['--tls-ca-cert-file', `${ROOT}/tls/ca.crt`],
  ...['--tls-cluster', 'yes'],
  ...['--tls-replication', 'yes'],
];

type Named<T> = T & { readonly metadata: { readonly name: string } };

export interface ChildNames {
  readonly statefulSet: string;
  readonly nodes: string;
  readonly clients: string;
  readonly config: string;
  readonly secret: string;
  /** Certificate and key of the servers. */
  readonly tls: string;
  /** What servers were given of the Secret that somebody else keeps. */
  readonly tlsTaken: string;
  /** Certificate and key of the authority that signs them: in no pod. */
  readonly authority: string;
}

export function namesOf(cluster: string): ChildNames {
  return {
    statefulSet: cluster,
    nodes: `${cluster}-nodes`,
    clients: cluster,
    config: `${cluster}-config`,
    secret: `${cluster}-auth`,
    tls: `${cluster}-tls`,
    tlsTaken: `${cluster}-tls-taken`,
    authority: `${cluster}-ca`,
  };
}

/** The Secret that servers mount; undefined: they speak without TLS. Never one that others write: it would reach servers unseen. */
export function tlsSecretOf(cluster: string, { tls }: Pick<Desired, 'tls'>): string | undefined {
  if (!tls || tls.mode === 'off') return undefined;
  const { tlsTaken, tls: own } = namesOf(cluster);
  return tls.mode === 'secret' ? tlsTaken : own;
}

/** By this name servers with TLS are known, wherever they are: addresses come and go with pods. */
export function serverNameOf(cluster: string, namespace: string, tls: Desired['tls']): string {
  return tls?.serverName ?? `${cluster}.${namespace}.svc`;
}

export function labelsOf(cluster: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'redis-cluster',
    'app.kubernetes.io/instance': cluster,
    'app.kubernetes.io/managed-by': 'reeve',
    [CLUSTER_LABEL]: cluster,
  };
}

export function topologyKey(key: string): string {
  return TOPOLOGY[key] ?? key;
}

/** The configuration file: what the operator needs cannot be set otherwise, everything else can. */
export function serverConfig({ config, tls }: Pick<Desired, 'config'> & Partial<Pick<Desired, 'tls'>>): string {
  const lines = {
    'cluster-node-timeout': '5000',
    appendonly: 'yes',
    'protected-mode': 'no',
    // Clients have passwords; one that shows a certificate must show a good one. Servers always must.
    ...(tls && tls.mode !== 'off' && { 'tls-auth-clients': 'optional' }),
    ...config,
    'cluster-enabled': 'yes',
    'cluster-config-file': 'nodes.conf',
    // Replicas are placed by the operator; a server that wanders off by itself takes zones out of balance.
    'cluster-allow-replica-migration': 'no',
  };
  return Object.entries(lines)
    .map(([directive, value]) => `${directive} ${value === '' ? '""' : value}\n`)
    .join('');
}

export function configMapOf(cluster: string, desired: Desired): Named<ConfigMap> {
  const metadata = { name: namesOf(cluster).config, labels: labelsOf(cluster) };
  return { metadata, data: { 'server.conf': serverConfig(desired) } };
}

/** One for the nodes, by name and also before they are ready; one for clients. */
export function servicesOf(cluster: string): readonly Named<Service>[] {
  const names = namesOf(cluster);
  const selector = { [CLUSTER_LABEL]: cluster };
  const client = { name: 'client', port: CLIENT_PORT, targetPort: CLIENT_PORT };
  return [
    {
      metadata: { name: names.nodes, labels: labelsOf(cluster) },
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector,
        ports: [client, { name: 'bus', port: BUS_PORT, targetPort: BUS_PORT }],
      },
    },
    { metadata: { name: names.clients, labels: labelsOf(cluster) }, spec: { selector, ports: [client] } },
  ];
}

/** Whoever empties worker nodes takes one pod at a time, and the next when it is back. */
export function disruptionBudgetOf(cluster: string): Named<DisruptionBudget> {
  return {
    metadata: { name: namesOf(cluster).statefulSet, labels: labelsOf(cluster) },
    spec: { maxUnavailable: 1, selector: { matchLabels: { [CLUSTER_LABEL]: cluster } } },
  };
}

export interface SetOptions {
  readonly replicas: number;
  /** Of what servers read at their start only: another one makes pods outdated. */
  readonly configDigest: string;
}

export function statefulSetOf(cluster: string, desired: Desired, options: SetOptions): Named<StatefulSet> {
  const names = namesOf(cluster);
  const labels = labelsOf(cluster);
  const { storage, deletionPolicy } = desired;
  return {
    metadata: { name: names.statefulSet, labels },
    spec: {
      replicas: options.replicas,
      serviceName: names.nodes,
      selector: { matchLabels: { [CLUSTER_LABEL]: cluster } },
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: deletionPolicy, whenScaled: 'Retain' },
      template: {
        metadata: {
          labels,
          annotations: {
            'redis.reeve.dev/config': options.configDigest,
            // Where there are no images there are no users of theirs. Whom a person names is meant everywhere.
            ...(isImageUser(desired) && { 'reeve.dev/run-as': 'node' }),
            // Every path is told to servers and agents; where an account lies, by the node.
            'reeve.dev/relocatable': 'true',
          },
        },
        spec: podSpec(cluster, desired),
      },
      ...(storage && {
        volumeClaimTemplates: [
          {
            metadata: { name: 'data', labels: { [CLUSTER_LABEL]: cluster } },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: storage.size } },
              ...(storage.storageClassName !== undefined && { storageClassName: storage.storageClassName }),
            },
          },
        ],
      }),
    },
  };
}

/** Whether servers run as the user that official images have, because nobody said otherwise. */
function isImageUser({ image, securityContext }: Desired): boolean {
  return securityContext === undefined && OFFICIAL_IMAGE.test(image);
}

/**
 * As the user of the image from the beginning: an entrypoint that begins as root gives away only the folder that the image itself has for
 * data. Of an image whose user is not known only the group of volumes is set: whoever it is then is in that group, too.
 */
function securityContextOf(desired: Desired): Readonly<Record<string, unknown>> {
  if (desired.securityContext) return desired.securityContext;
  return {
    ...(isImageUser(desired) && { runAsUser: IMAGE_USER, runAsGroup: IMAGE_USER, runAsNonRoot: true }),
    fsGroup: IMAGE_USER,
    fsGroupChangePolicy: 'OnRootMismatch',
  };
}

function podSpec(cluster: string, desired: Desired): Readonly<Record<string, unknown>> {
  const names = namesOf(cluster);
  const { placement, spreadBy, resources } = desired;
  const tlsSecret = tlsSecretOf(cluster, desired);
  const servername = serverNameOf(cluster, POD_NAMESPACE, desired.tls);
  const tls = tlsSecret === undefined ? undefined : { volume: 'tls', path: `${ROOT}/tls`, servername };
  const agent = desired.hasAgents
    ? agentParts(cluster, { port: CLIENT_PORT, auth: `${ROOT}/auth`, user: ADMINISTRATOR, tls })
    : undefined;
  return {
    terminationGracePeriodSeconds: 30,
    securityContext: securityContextOf(desired),
    automountServiceAccountToken: false,
    ...(agent && { serviceAccountName: agent.serviceAccountName }),
    topologySpreadConstraints: spreadBy.map((key) => ({
      topologyKey: topologyKey(key),
      maxSkew: 1,
      whenUnsatisfiable: placement?.required ? 'DoNotSchedule' : 'ScheduleAnyway',
      labelSelector: { matchLabels: { [CLUSTER_LABEL]: cluster } },
    })),
    ...(placement?.nodeSelector && { nodeSelector: placement.nodeSelector }),
    ...(placement?.tolerations && { tolerations: placement.tolerations }),
    containers: [
      {
        name: SERVER_CONTAINER,
        image: desired.image,
        // No command: the image's own entrypoint starts the server, and on a machine without containers tells it its address.
        args: [
          `${ROOT}/config/server.conf`,
          '--include',
          `${ROOT}/auth/auth.conf`,
          '--aclfile',
          `${ROOT}/auth/users.acl`,
          '--dir',
          `${ROOT}/data`,
          ...(tlsSecret === undefined ? ['--port', String(CLIENT_PORT)] : TLS_ARGUMENTS),
          '--cluster-announce-ip',
          '$(POD_IP)',
        ],
        env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        ports: [
          { name: 'client', containerPort: CLIENT_PORT },
          { name: 'bus', containerPort: BUS_PORT },
        ],
        ...(resources && { resources }),
        // Whether it can be talked to; never whether it is to be killed: a server that loads a big file is slow, not dead.
        readinessProbe: { tcpSocket: { port: CLIENT_PORT }, periodSeconds: 5, failureThreshold: 2 },
        volumeMounts: [
          { name: 'data', mountPath: `${ROOT}/data` },
          { name: 'config', mountPath: `${ROOT}/config`, readOnly: true },
          { name: 'auth', mountPath: `${ROOT}/auth`, readOnly: true },
          ...(tls ? [{ name: tls.volume, mountPath: tls.path, readOnly: true }] : []),
        ],
      },
      ...(agent ? [agent.container] : []),
    ],
    volumes: [
      { name: 'config', configMap: { name: names.config } },
      { name: 'auth', secret: { secretName: names.secret, defaultMode: SECRET_MODE } },
      ...(tlsSecret === undefined
        ? []
        : [{ name: 'tls', secret: { secretName: tlsSecret, defaultMode: SECRET_MODE } }]),
      ...(desired.storage ? [] : [{ name: 'data', emptyDir: {} }]),
      ...(agent ? [agent.volume] : []),
    ],
  };
}
