/** `RedisCluster`: a Redis or Valkey cluster as it should be. Only what a person decides is in the spec; defaults are in `desired.ts`. */
import { type KindObject, kind, schema } from '@reeve/runtime';

const { anything, bool, integer, list, map, object, oneOf, optional, text } = schema;

export const GROUP = 'redis.reeve.dev';
export const VERSION = 'v1alpha1';
export const MOST_MEMBERS = 1_000;

const name = { minLength: 1, maxLength: 253 };
const word = { minLength: 1, maxLength: 63 };

/** What the operator sets itself: a person who set it, too, would fight with it, or cut it off. */
const OURS = [
  'port',
  'tls-port',
  'tls-cert-file',
  'tls-key-file',
  'tls-ca-cert-file',
  'tls-cluster',
  'tls-replication',
  'bind',
  'dir',
  'include',
  'aclfile',
  'user',
  'requirepass',
  'masterauth',
  'masteruser',
  'cluster-enabled',
  'cluster-config-file',
  'cluster-announce-ip',
  'cluster-allow-replica-migration',
] as const;

const placement = object({
  spreadBy: optional(
    list(text(word), {
      maxItems: 4,
      description: 'What the nodes of one shard must not share, most important first. Default: zone, host.',
    }),
  ),
  required: optional(
    bool({ description: 'A pod that cannot be spread waits. Default: it runs, and the check says so.' }),
  ),
  nodeSelector: optional(map(text({ maxLength: 63 }), { maxProperties: 16 })),
  tolerations: optional(list(anything(), { maxItems: 16 })),
});

const user = object(
  {
    name: text({ ...word, pattern: '^[A-Za-z0-9_.-]+$' }),
    rules: text({
      maxLength: 1_024,
      pattern: '^[^\\n\\r#>]*$',
      description: 'ACL rules without passwords: ~app:* +@all.',
    }),
    passwordSecret: object({ name: text(name), key: text(name) }),
  },
  {
    rules: [{ rule: "!(self.name in ['default', 'reeve'])", message: 'default and reeve are users of every cluster' }],
  },
);

const tls = object(
  {
    mode: oneOf(['off', 'selfSigned', 'secret'], {
      description: 'selfSigned: by an authority of the cluster’s own, in the Secret NAME-ca; renewed by itself.',
    }),
    secretName: optional(
      text({ ...name, description: 'With tls.crt, tls.key and ca.crt, as cert-manager writes them. For mode secret.' }),
    ),
    serverName: optional(
      text({ ...name, description: 'The name that certificates carry. Default: NAME.NAMESPACE.svc.' }),
    ),
  },
  {
    description: 'Servers speak TLS only. Default: off.',
    rules: [{ rule: "(self.mode == 'secret') == has(self.secretName)", message: 'secretName belongs to mode secret' }],
  },
);

/** How the manager is let in by servers that it did not make. */
const access = object(
  {
    username: optional(text(word)),
    passwordSecret: optional(object({ name: text(name), key: text(name) })),
    tls: optional(
      object(
        {
          secretName: text({
            ...name,
            description: 'With ca.crt; with tls.crt and tls.key, too, if servers ask for a certificate.',
          }),
          serverName: optional(
            text({ ...name, description: 'The name that certificates carry. Default: each server’s own address.' }),
          ),
        },
        { description: 'Of servers that speak TLS. The Secret is read in every turn: what is renewed in it is seen.' },
      ),
    ),
  },
  {
    rules: [
      {
        rule: '!has(self.username) || has(self.passwordSecret)',
        message: 'a username without a passwordSecret lets nobody in: give both, or neither',
      },
    ],
  },
);

/** What is made of pods, and says nothing of servers that somebody runs. */
const NOT_OURS = [
  'product',
  'version',
  'image',
  'config',
  'resources',
  'securityContext',
  'storage',
  'auth',
  'tls',
  'agents',
  'deletionPolicy',
] as const;
const NOT_OURS_TO_PLACE = ['required', 'nodeSelector', 'tolerations'] as const;

const EXTERNAL = "(has(self.members) && self.members == 'external')";

const spec = object(
  {
    members: optional(
      oneOf(['managed', 'external'], {
        description:
          'managed (the default): pods that are made for it. external: servers that somebody runs, each with an agent, enrolled as Members that name this cluster.',
      }),
    ),
    access: optional(access),
    agents: optional(
      oneOf(['none', 'sidecar'], {
        description: 'Of pods: an agent beside each server, which carries commands out. Default: none.',
      }),
    ),
    product: optional(
      oneOf(['valkey', 'redis'], {
        description: 'Default: valkey. Beside an image: what is in it, where its name does not say.',
      }),
    ),
    version: optional(text({ ...word, pattern: '^[0-9][0-9.]*$', description: 'As the tag of the image.' })),
    image: optional(text({ ...name, description: 'Instead of the one that product and version name.' })),
    primaries: integer({ minimum: 3, maximum: 500, description: 'With fewer, the loss of one leaves no majority.' }),
    replicasPerPrimary: optional(integer({ minimum: 0, maximum: 5, description: 'Default: 1.' })),
    config: optional(
      map(text({ maxLength: 1_024, pattern: '^[^\\n\\r]*$' }), {
        maxProperties: 64,
        description: 'Directives of the server’s configuration file.',
        rules: [
          {
            rule: `self.all(key, !(key in [${OURS.map((one) => `'${one}'`).join(', ')}]))`,
            message: `these are set by the operator: ${OURS.join(', ')}`,
          },
        ],
      }),
    ),
    resources: optional(anything({ description: 'Of the server’s container, as in a pod.' })),
    securityContext: optional(
      anything({
        description:
          'Of pods, instead of user and group 999 of the official images (of other images: as their own user, with volumes of group 999). Whoever servers run as must be able to read files of Secrets: set fsGroup.',
      }),
    ),
    storage: optional(
      object({
        size: text({ ...word, description: 'Of each node’s volume claim: 10Gi.' }),
        storageClassName: optional(text(name)),
      }),
    ),
    placement: optional(placement),
    tls: optional(tls),
    auth: optional(
      object(
        { users: optional(list(user, { maxItems: 32, key: 'name' })) },
        { description: 'Beside `default` and `reeve`, which have generated passwords.' },
      ),
    ),
    rebalance: optional(
      object({
        mode: optional(oneOf(['automatic', 'off'], { description: 'Default: automatic.' })),
        threshold: optional(
          integer({ minimum: 1, maximum: 100, description: 'Percent from the fair share. Default: 5.' }),
        ),
      }),
    ),
    migration: optional(
      object({
        engine: optional(
          oneOf(['auto', 'atomic', 'windowed'], {
            description: 'Default: auto. What a fix finds open it finishes as it was begun: windowed.',
          }),
        ),
        pace: optional(oneOf(['gentle', 'fast'], { description: 'Default: gentle.' })),
      }),
    ),
    fix: optional(oneOf(['automatic', 'approve', 'off'], { description: 'Default: automatic.' })),
    creation: optional(oneOf(['automatic', 'manual'], { description: 'Default: automatic.' })),
    paused: optional(bool({ description: 'Nothing is begun, and what runs stops before its next command.' })),
    deletionPolicy: optional(
      oneOf(['Retain', 'Delete'], {
        description: 'What becomes of the data when this resource is deleted. Default: Retain.',
      }),
    ),
  },
  {
    rules: [
      { rule: '!(has(self.image) && has(self.version))', message: 'an image has its version: give one of the two' },
      {
        rule: `self.primaries * (1 + (has(self.replicasPerPrimary) ? self.replicasPerPrimary : 1)) <= ${MOST_MEMBERS}`,
        message: `at most ${MOST_MEMBERS} nodes`,
      },
      {
        rule: 'has(self.storage) == has(oldSelf.storage) && (!has(self.storage) || self.storage == oldSelf.storage)',
        message: 'storage cannot be changed: a StatefulSet does not change its claims. Make a new cluster',
      },
      {
        rule: `${EXTERNAL} == ${EXTERNAL.replaceAll('self', 'oldSelf')}`,
        message: 'whose servers they are cannot be changed: make a new cluster',
      },
      {
        rule: `!${EXTERNAL} || !(${NOT_OURS.map((field) => `has(self.${field})`).join(' || ')})`,
        message: `external members are somebody’s servers: these are not ours to set: ${NOT_OURS.join(', ')}`,
      },
      {
        rule: `!${EXTERNAL} || !has(self.placement) || !(${NOT_OURS_TO_PLACE.map((field) => `has(self.placement.${field})`).join(' || ')})`,
        message: `external members live where somebody put them: of placement only spreadBy is for them, not ${NOT_OURS_TO_PLACE.join(', ')}`,
      },
      {
        rule: "!has(self.image) || !has(self.product) || !self.image.matches(self.product == 'redis' ? '(^|/)valkey([:@]|$)' : '(^|/)redis([:@]|$)')",
        message: 'the image is of another product than product says: give one of the two',
      },
      { rule: `${EXTERNAL} || !has(self.access)`, message: 'access is for external members' },
      {
        rule: "(has(self.tls) ? self.tls.mode : 'off') == (has(oldSelf.tls) ? oldSelf.tls.mode : 'off')",
        message:
          'tls.mode cannot be changed: servers with TLS and without do not understand each other. Restore a backup into a new cluster',
      },
      {
        rule: "!has(self.tls) || !has(oldSelf.tls) || ((has(self.tls.serverName) ? self.tls.serverName : '') == (has(oldSelf.tls.serverName) ? oldSelf.tls.serverName : '') && (has(self.tls.secretName) ? self.tls.secretName : '') == (has(oldSelf.tls.secretName) ? oldSelf.tls.secretName : ''))",
        message:
          'tls.serverName and tls.secretName cannot be changed: servers are known by what they show. Change what is in the Secret',
      },
    ],
  },
);

export const condition = object({
  type: text({ maxLength: 316 }),
  status: oneOf(['True', 'False', 'Unknown']),
  reason: text({ maxLength: 1_024 }),
  message: text({ maxLength: 32_768 }),
  lastTransitionTime: text({ format: 'date-time' }),
  observedGeneration: optional(integer()),
});

const waiting = object({
  reason: text({ maxLength: 63 }),
  message: text({ maxLength: 2_048 }),
  subjects: list(text({ maxLength: 320 }), { maxItems: 64 }),
});

const operation = {
  id: text({ maxLength: 320 }),
  kind: text(word),
  why: text({ maxLength: 2_048 }),
  trigger: object({ kind: text(word), name: text(name), uid: text({ maxLength: 63 }) }),
  startedAt: text({ format: 'date-time' }),
  approval: optional(text({ maxLength: 128, description: 'The digest that a person approved, where one had to.' })),
};

export const memberFields = {
  pod: text({ ...name, description: 'The pod, or the member of an external cluster.' }),
  id: text({ maxLength: 40, description: 'The node’s own id. Its only identity.' }),
  role: oneOf(['primary', 'replica']),
  of: optional(text({ ...name, description: 'Of a replica: the pod of its primary, or its id.' })),
  slots: optional(text({ maxLength: 512, description: 'Ranges; only their number when there are many.' })),
  silent: optional(bool({ description: 'It did not answer: this is what it said last.' })),
  collectedAt: optional(text({ format: 'date-time', description: 'When it said so. Default: observedAt.' })),
  by: optional(oneOf(['agent'], { description: 'Who told it, if the manager could not ask the node itself.' })),
} as const;

const status = object({
  observedGeneration: optional(integer()),
  phase: optional(
    oneOf(['Invalid', 'Paused', 'Creating', 'Pending', 'Broken', 'Changing', 'Degraded', 'Running'], {
      description: 'The first of these that is true; see docs/redis-cluster.md for when each begins and ends.',
    }),
  ),
  configured: optional(
    bool({ description: 'The cluster was created. From then on nothing is ever created anew by itself.' }),
  ),
  observedAt: optional(
    text({
      format: 'date-time',
      description: 'When the states below were collected; up to a minute old if unchanged.',
    }),
  ),
  primaries: optional(integer()),
  replicas: optional(integer()),
  slots: optional(integer({ description: 'Served, of 16384.' })),
  server: optional(text({ maxLength: 63, description: 'What runs, as the nodes say: valkey 9.1.2.' })),
  // Written as a whole by one writer: as a list by keys, who owns which field of which member would be half of a large object.
  members: optional(list(object(memberFields), { maxItems: MOST_MEMBERS })),
  chosenPrimaries: optional(
    list(text({ maxLength: 40 }), {
      maxItems: 500,
      description: 'Ids of primaries that failover tasks made so: spreading leaves them until members come or go.',
    }),
  ),
  tls: optional(
    object({
      taken: text({
        maxLength: 128,
        description: 'Digest of what servers were given of the Secret tls.secretName: certificate and authorities.',
      }),
    }),
  ),
  conditions: optional(list(condition, { maxItems: 64, key: 'type' })),
  waitingFor: optional(list(waiting, { maxItems: 16 })),
  progress: optional(text({ maxLength: 512 })),
  proposal: optional(
    object({
      kind: text(word),
      digest: text({ maxLength: 128, description: 'Annotate the cluster with redis.reeve.dev/approve: DIGEST.' }),
      steps: list(text({ maxLength: 512 }), { maxItems: 32 }),
    }),
  ),
  approvals: optional(
    integer({
      description: 'How many approvals were used up. Each counts once: the digests of later plans rest on this.',
    }),
  ),
  setbacks: optional(
    list(
      object({
        kind: text(word),
        stage: oneOf(['proposal', 'run'], { description: 'Whether it was refused before it began, or failed.' }),
        code: text({ maxLength: 63 }),
        message: text({ maxLength: 512 }),
      }),
      {
        maxItems: 16,
        description:
          'What operations that the cluster wishes for refused, and failed with: until they are done, or not wished for any more.',
      },
    ),
  ),
  currentOperation: optional(
    object({ ...operation, goal: anything({ description: 'What must be true at its end. Each turn plans anew.' }) }),
  ),
  operations: optional(
    list(
      object({
        ...operation,
        endedAt: text({ format: 'date-time' }),
        outcome: oneOf(['done', 'failed', 'refused', 'cancelled']),
        message: optional(text({ maxLength: 2_048 })),
      }),
      { maxItems: 10, description: 'The last ones, newest first.' },
    ),
  ),
});

export const redisClusterKind = kind({
  group: GROUP,
  version: VERSION,
  kind: 'RedisCluster',
  plural: 'redisclusters',
  shortNames: ['rdc'],
  namespaced: true,
  description: 'A Redis or Valkey cluster.',
  spec,
  status,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Primaries', type: 'integer', jsonPath: '.status.primaries' },
    { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'Slots', type: 'integer', jsonPath: '.status.slots' },
    { name: 'Operation', type: 'string', jsonPath: '.status.currentOperation.kind' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export type RedisCluster = KindObject<typeof redisClusterKind>;
export type RedisClusterSpec = RedisCluster['spec'];
export type RedisClusterStatus = NonNullable<RedisCluster['status']>;
export type MemberStatus = NonNullable<RedisClusterStatus['members']>[number];
export type CurrentOperation = NonNullable<RedisClusterStatus['currentOperation']>;
export type PastOperation = NonNullable<RedisClusterStatus['operations']>[number];

/** A person's word for one plan: its digest. */
export const APPROVE = `${GROUP}/approve`;
/** On everything that belongs to a cluster: its name. */
export const CLUSTER_LABEL = `${GROUP}/cluster`;
/** Who the operator, its agents and replication are at servers of pods. */
export const ADMINISTRATOR = 'reeve';
