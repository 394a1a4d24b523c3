import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disruptionBudgetOf, serverConfig, servicesOf, statefulSetOf } from './children.ts';
import { desiredOf, specProblems } from './desired.ts';

const set = (spec: object = {}) =>
  statefulSetOf('c', desiredOf({ primaries: 3, ...spec }), { replicas: 6, configDigest: 'v1-0' });

test('pods are replaced by nobody but the operator, and volumes are kept unless a person said otherwise', () => {
  const { spec } = set({ storage: { size: '1Gi', storageClassName: 'fast' } });
  assert.equal(spec?.updateStrategy?.type, 'OnDelete');
  assert.deepEqual(spec?.persistentVolumeClaimRetentionPolicy, { whenDeleted: 'Retain', whenScaled: 'Retain' });
  assert.match(JSON.stringify(spec?.volumeClaimTemplates), /"storage":"1Gi".*"storageClassName":"fast"/);
  assert.doesNotMatch(JSON.stringify(spec?.template), /emptyDir/);
  assert.equal(set({ deletionPolicy: 'Delete' }).spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted, 'Delete');
  assert.match(JSON.stringify(set().spec?.template), /"emptyDir"/);
});

test('shards are spread over zones and hosts, as a wish or as a must', () => {
  const text = JSON.stringify(set().spec?.template);
  assert.match(text, /"topologyKey":"topology.kubernetes.io\/zone","maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway"/);
  assert.match(text, /"topologyKey":"kubernetes.io\/hostname"/);
  const must = JSON.stringify(set({ placement: { required: true, spreadBy: ['example.com/rack'] } }).spec?.template);
  assert.match(must, /"topologyKey":"example.com\/rack","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"/);
});

test('what a person says of the server’s container, its place and its volume reaches the pods', () => {
  const resources = { requests: { memory: '2Gi' }, limits: { memory: '3Gi' } };
  const tolerations = [{ key: 'dedicated', operator: 'Equal', value: 'redis', effect: 'NoSchedule' }];
  const placement = { nodeSelector: { disk: 'fast' }, tolerations };
  interface Pods {
    readonly nodeSelector?: object;
    readonly tolerations?: readonly object[];
    readonly containers: readonly { readonly name: string; readonly resources?: object }[];
  }
  const podsOf = (spec: object) => set(spec).spec?.template.spec as unknown as Pods;
  const asked = podsOf({ resources, placement, agents: 'sidecar' });
  assert.deepEqual([asked.nodeSelector, asked.tolerations], [placement.nodeSelector, tolerations]);
  assert.deepEqual(
    asked.containers.map((one) => [one.name, one.resources]),
    [
      ['server', resources],
      ['agent', undefined],
    ],
  );
  const plain = podsOf({});
  assert.deepEqual([plain.nodeSelector, plain.tolerations, plain.containers[0]?.resources], Array(3).fill(undefined));
  const claims = set({ storage: { size: '2Gi', storageClassName: 'fast' } }).spec?.volumeClaimTemplates ?? [];
  const [claim] = claims as readonly { readonly spec: object }[];
  assert.deepEqual(claim?.spec, {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '2Gi' } },
    storageClassName: 'fast',
  });
  assert.doesNotMatch(JSON.stringify(set({ storage: { size: '2Gi' } })), /storageClassName/);
});

test('an agent, if one is asked for, has an account and the passwords, and its server has no account', () => {
  interface Template {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
    readonly spec: {
      readonly serviceAccountName?: string;
      readonly automountServiceAccountToken: boolean;
      readonly containers: readonly { readonly name: string; readonly volumeMounts: readonly { name: string }[] }[];
    };
  }
  const templateOf = (spec: object) => set(spec).spec?.template as unknown as Template;
  const { metadata, spec } = templateOf({ agents: 'sidecar' });
  assert.deepEqual([spec.serviceAccountName, spec.automountServiceAccountToken], ['reeve-agent', false]);
  const mounts = spec.containers.map(({ name, volumeMounts }) => [name, volumeMounts.map((mount) => mount.name)]);
  assert.deepEqual(mounts, [
    ['server', ['data', 'config', 'auth']],
    ['agent', ['auth', 'agent-account']],
  ]);
  assert.equal(metadata.annotations['reeve.dev/relocatable'], 'true');
  assert.doesNotMatch(JSON.stringify(templateOf({})), /agent/);
  assert.equal(templateOf({}).metadata.annotations['reeve.dev/relocatable'], 'true');
});

test('servers run as the user of the official images, who can read files of Secrets and write its data; or as a person says', () => {
  interface Spec {
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly volumes: readonly { readonly name: string; readonly secret?: { readonly defaultMode: number } }[];
  }
  const specOf = (spec: object) => (set(spec).spec?.template.spec ?? {}) as Spec;
  const { securityContext, volumes } = specOf({ tls: { mode: 'selfSigned' } });
  const { runAsUser, runAsGroup, runAsNonRoot, fsGroup } = securityContext;
  assert.deepEqual([runAsUser, runAsGroup, runAsNonRoot, fsGroup], [999, 999, true, 999]);
  const modes = volumes.flatMap(({ name, secret }) => (secret ? [[name, secret.defaultMode.toString(8)]] : []));
  assert.deepEqual(modes, [
    ['auth', '440'],
    ['tls', '440'],
  ]);
  const own = { runAsUser: 1001, fsGroup: 1001 };
  assert.deepEqual(specOf({ securityContext: own }).securityContext, own);
});

test('only official images, and copies of them elsewhere, are run as their user; of others only the group of volumes is set', () => {
  const userOf = (spec: object) => {
    const { securityContext } = (set(spec).spec?.template.spec ?? {}) as { securityContext: Record<string, unknown> };
    return [securityContext.runAsUser, securityContext.runAsNonRoot, securityContext.fsGroup];
  };
  const official = ['valkey', 'redis:7.0.15', 'library/redis', 'valkey/valkey:9.1', 'redis@sha256:0'];
  const copies = [
    'mirror.example/library/redis:8-alpine',
    'mirror.example/valkey/valkey:9',
    'mirror.example:5000/library/valkey',
    'mirror.example/hub/valkey/valkey@sha256:0',
  ];
  for (const image of [...official, ...copies]) assert.deepEqual(userOf({ image }), [999, true, 999], image);
  assert.deepEqual(userOf({ product: 'redis', version: '7.2' }), [999, true, 999]);
  const others = [
    'own/valkey:9.1',
    'bitnami/redis',
    'redis-stack',
    'mirror.example/redis:8',
    'mirror.example/mylibrary/redis',
    'mirror.example/library/redis-stack',
    'mirror.example/valkey/valkey/exporter:9',
  ];
  for (const image of others) {
    assert.deepEqual(userOf({ image }), [undefined, undefined, 999], image);
  }
});

test('a node without images is told to leave the user of an image; one that a person names counts there, too', () => {
  const runAs = (spec: object) => {
    const template = set(spec).spec?.template as { metadata: { annotations: Readonly<Record<string, string>> } };
    return template.metadata.annotations['reeve.dev/run-as'];
  };
  assert.equal(runAs({}), 'node');
  assert.equal(runAs({ image: 'valkey:9.1' }), 'node');
  assert.equal(runAs({ securityContext: { runAsUser: 1001, fsGroup: 1001 } }), undefined);
  assert.equal(runAs({ image: 'own/valkey' }), undefined);
});

test('what the operator needs wins over the configuration; names that would be several lines are refused', () => {
  const config = serverConfig({ config: { maxmemory: '1gb', 'cluster-enabled': 'no', save: '' } });
  assert.match(config, /^maxmemory 1gb$/m);
  assert.match(config, /^cluster-enabled yes$/m);
  assert.match(config, /^save ""$/m);
  assert.deepEqual(specProblems({ primaries: 3, config: { maxmemory: '1gb' } }), []);
  const [problem] = specProblems({ primaries: 3, config: { 'a\nrequirepass': 'x' } });
  assert.equal(problem?.code, 'CONFIG_INVALID');
});

test('an agent beside a server with TLS has its certificates, and knows the name in them', () => {
  interface Template {
    readonly spec: { readonly containers: readonly { readonly name: string; readonly args: readonly string[] }[] };
  }
  const agentOf = (spec: object) => {
    const template = set({ agents: 'sidecar', ...spec }).spec?.template as unknown as Template;
    return template.spec.containers.find(({ name }) => name === 'agent');
  };
  const text = JSON.stringify(agentOf({ tls: { mode: 'selfSigned' } }));
  assert.match(text, /"--cacert","\/srv\/reeve\/tls\/ca\.crt","--cert",".*tls\.crt","--key",".*tls\.key"/);
  assert.match(text, /"--servername","c\.\$\(POD_NAMESPACE\)\.svc"/);
  assert.match(text, /"name":"tls","mountPath":"\/srv\/reeve\/tls","readOnly":true/);
  const named = agentOf({ tls: { mode: 'secret', secretName: 'own', serverName: 'cache.example.com' } });
  assert.equal(named?.args.at(-1), 'cache.example.com');
  assert.doesNotMatch(JSON.stringify(agentOf({})), /tls|cacert/);
});

test('with TLS servers speak nothing else, also among each other; the authority’s key is in no pod', () => {
  const text = JSON.stringify(set({ tls: { mode: 'selfSigned' } }).spec?.template);
  assert.match(text, /"--port","0","--tls-port","6379"/);
  assert.match(text, /"--tls-cluster","yes","--tls-replication","yes"/);
  assert.match(text, /"secretName":"c-tls"/);
  assert.doesNotMatch(text, /c-ca/);
  assert.match(
    JSON.stringify(set({ tls: { mode: 'secret', secretName: 'own' } }).spec?.template),
    /"secretName":"c-tls-taken"/,
  );
  assert.doesNotMatch(JSON.stringify(set({ tls: { mode: 'off' } }).spec?.template), /tls/);
  assert.match(serverConfig(desiredOf({ primaries: 3, tls: { mode: 'selfSigned' } })), /^tls-auth-clients optional$/m);
});

test('the nodes have names before they are ready; clients have a service of their own', () => {
  const [nodes, clients] = servicesOf('c');
  assert.equal(nodes?.metadata.name, 'c-nodes');
  assert.equal(nodes?.spec?.clusterIP, 'None');
  assert.equal(nodes?.spec?.publishNotReadyAddresses, true);
  assert.equal(clients?.metadata.name, 'c');
});

test('of the pods of a cluster one at a time may be evicted', () => {
  const { spec } = disruptionBudgetOf('c');
  assert.deepEqual(spec, { maxUnavailable: 1, selector: set().spec?.selector });
});
