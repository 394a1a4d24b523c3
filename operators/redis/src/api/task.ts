/** `RedisTask`: one thing to be done to a cluster, once. Deleting it cancels it. */
import { type KindObject, kind, schema } from '@reeve/runtime';
import { condition, GROUP, VERSION } from './cluster.ts';

const { bool, integer, list, map, object, oneOf, optional, text } = schema;

const name = { minLength: 1, maxLength: 253 };
const word = { minLength: 1, maxLength: 63 };
const label = { ...name, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' };
/** A pod of the cluster, or the id of a node. */
const member = text({ ...name, description: 'A pod or member of the cluster, or the id of a node.' });

/** Exactly one of them. */
const WHAT = [
  'check',
  'fix',
  'reshard',
  'rebalance',
  'failover',
  'upgrade',
  'backup',
  'restore',
  'addNode',
  'deleteNode',
] as const;

const spec = object(
  {
    cluster: text({ ...name, description: 'A RedisCluster of this namespace.' }),
    check: optional(
      object({ strayKeys: optional(bool({ description: 'Also count keys outside the slots of their node.' })) }),
    ),
    fix: optional(
      object({
        takeover: optional(
          bool({ description: 'The majority is lost for good: replicas may take over without a vote.' }),
        ),
        allowUnreachable: optional(bool({ description: 'Give up primaries that cannot be read, with their keys.' })),
      }),
    ),
    reshard: optional(
      object({
        slots: integer({ minimum: 1, maximum: 16_384 }),
        to: member,
        from: optional(list(member, { maxItems: 500, description: 'Default: all other primaries.' })),
      }),
    ),
    rebalance: optional(
      object({
        by: optional(oneOf(['slots', 'keys', 'bytes', 'load'])),
        threshold: optional(integer({ minimum: 0, maximum: 100 })),
        weights: optional(map(integer({ minimum: 0, maximum: 1_000 }), { maxProperties: 500 })),
      }),
    ),
    failover: optional(object({ to: member, force: optional(bool()) })),
    addNode: optional(
      object(
        {
          member: text({ ...name, description: 'An enrolled Member that names this cluster. Its server is empty.' }),
          as: optional(oneOf(['primary', 'replica'], { description: 'Default: replica.' })),
          of: optional(member),
        },
        {
          description: 'Of clusters with external members.',
          rules: [
            {
              rule: "!has(self.of) || !has(self.as) || self.as == 'replica'",
              message: 'only a replica follows somebody: leave out `of`',
            },
          ],
        },
      ),
    ),
    deleteNode: optional(
      object(
        { node: member },
        { description: 'Of clusters with external members: its slots move to others, then all forget it.' },
      ),
    ),
    upgrade: optional(
      object(
        {
          version: optional(text({ ...word, pattern: '^[0-9][0-9.]*$', description: 'As the tag of the image.' })),
          image: optional(text({ ...name, description: 'Instead of product and version.' })),
        },
        {
          description: 'Sets version or image of the cluster, and ends when every pod runs it.',
          rules: [{ rule: 'has(self.version) != has(self.image)', message: 'give one of version and image' }],
        },
      ),
    ),
    backup: optional(
      object({ name: optional(text({ ...label, description: 'Of the backup. Default: the name of this task.' })) }),
    ),
    restore: optional(
      object({
        cluster: text({
          ...label,
          description: 'Whose backup it is: a RedisCluster of this namespace, or one that was.',
        }),
        name: text({ ...label, description: 'Of the backup.' }),
      }),
    ),
  },
  {
    rules: [
      {
        rule: `[${WHAT.map((one) => `has(self.${one})`).join(', ')}].filter(x, x).size() == 1`,
        message: `a task is exactly one of ${WHAT.join(', ')}`,
      },
      { rule: 'self == oldSelf', message: 'a task is not changed: delete it and make another' },
    ],
  },
);

const status = object({
  phase: optional(oneOf(['Waiting', 'Running', 'Succeeded', 'Failed'])),
  operation: optional(text({ maxLength: 320 })),
  startedAt: optional(text({ format: 'date-time' })),
  endedAt: optional(text({ format: 'date-time' })),
  code: optional(text({ maxLength: 63 })),
  message: optional(text({ maxLength: 2_048 })),
  progress: optional(text({ maxLength: 512 })),
  waitingFor: optional(text({ maxLength: 2_048, description: 'Why nothing is happening just now.' })),
  conditions: optional(
    list(condition, {
      maxItems: 8,
      key: 'type',
      description:
        'Succeeded or Failed when it has ended; Waiting while there is no cluster, or nothing is done for it. The reason is the code.',
    }),
  ),
  findings: optional(
    list(
      object({ code: text({ maxLength: 63 }), severity: text({ maxLength: 16 }), message: text({ maxLength: 1_024 }) }),
      {
        maxItems: 64,
      },
    ),
  ),
});

export const redisTaskKind = kind({
  group: GROUP,
  version: VERSION,
  kind: 'RedisTask',
  plural: 'redistasks',
  namespaced: true,
  description: 'One thing to be done to a RedisCluster.',
  spec,
  status,
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.cluster' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Message', type: 'string', jsonPath: '.status.message' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export type RedisTask = KindObject<typeof redisTaskKind>;
export type RedisTaskStatus = NonNullable<RedisTask['status']>;
