/**
 * `Member`: one per data node. The spec is what the node should do and is written by the manager; the status is what it is and what
 * it did, and is written by its agent. No secret is ever in a Member: members of one namespace can read each other.
 */
import { type Infer, anything, bool, integer, list, map, object, oneOf, optional, text } from '../schema/schema.ts';
import { type KindObject, kind } from '../schema/kind.ts';

/** How many orders may be open at once. Orders are coarse: a migration, a repair. */
export const MOST_ORDERS = 8;
/** How large facts and digest of a report may be together, in bytes of JSON. */
export const MOST_REPORT_BYTES = 2_048;
export const MOST_DIGEST = 128;

const name = { minLength: 1, maxLength: 253 };

const order = object({
  id: text({ minLength: 1, maxLength: 320, description: 'Unique; the result carries it, too.' }),
  attempt: integer({ minimum: 1, description: 'An order is started at most once per attempt.' }),
  verb: text({ minLength: 1, maxLength: 63, description: 'The type of the command.' }),
  arguments: anything({ description: 'What the command says beside its type. Never a secret.' }),
  deadlineSeconds: integer({ minimum: 1, description: 'From its start, by the clock of the agent.' }),
  lease: integer({
    minimum: 0,
    description:
      'The transition number of the manager’s lease. An agent refuses one lower than the highest it has seen.',
  }),
  cancel: optional(bool({ description: 'Do not begin it; if it is under way, stop it.' })),
});

const progress = object({
  done: integer(),
  total: integer(),
  unit: text({ maxLength: 32 }),
  note: optional(text({ maxLength: 256 })),
});

const result = object({
  id: text({ minLength: 1, maxLength: 320 }),
  attempt: integer({ minimum: 1 }),
  phase: oneOf(['Started', 'Done', 'Stale', 'Failed', 'Cancelled', 'NotDone', 'Unknown'], {
    description:
      'Started is written before anything is done. NotDone and Unknown: the agent crashed in between, and asked the world.',
  }),
  by: text({ maxLength: 63, description: 'Which life of the agent started it.' }),
  code: optional(text({ maxLength: 63 })),
  message: optional(text({ maxLength: 512 })),
  progress: optional(progress),
});

const spec = object(
  {
    system: text({ ...name, description: 'What runs there: redis, cassandra.' }),
    endpoint: object({ host: text(name), port: integer({ minimum: 1, maximum: 65_535 }) }),
    pod: optional(object({ name: text(name), uid: text({ minLength: 1, maxLength: 63 }) })),
    host: optional(text({ ...name, description: 'For a node that is no pod.' })),
    annotations: optional(
      map(text({ maxLength: 253 }), {
        maxProperties: 8,
        description:
          'Where a pod lives, by the labels of its worker node: no pod is told these. Its agent reports them.',
      }),
    ),
    orders: optional(list(order, { maxItems: MOST_ORDERS, key: 'id' })),
    fence: optional(
      integer({ minimum: 0, description: 'Counted up to make writes that are still on their way too late.' }),
    ),
  },
  {
    rules: [
      { rule: 'has(self.pod) != has(self.host)', message: 'a member is a pod or on a host, not both' },
      {
        rule: '!has(self.orders) || !has(oldSelf.orders) || self.orders.all(o, oldSelf.orders.all(p, p.id != o.id || p.attempt <= o.attempt))',
        message: 'the attempt of an order does not go back',
      },
      {
        rule: '!has(self.orders) || !has(oldSelf.orders) || self.orders.all(o, oldSelf.orders.all(p, p.id != o.id || p.attempt != o.attempt || (p.verb == o.verb && p.lease == o.lease)))',
        message: 'an order is not changed under the same attempt',
      },
    ],
  },
);

const status = object({
  observedGeneration: optional(
    integer({ description: 'The newest spec that the agent had seen when it looked at its node.' }),
  ),
  agent: optional(
    object({
      version: text({ maxLength: 63 }),
      capabilities: list(text({ maxLength: 63 }), { maxItems: 256, description: 'The verbs it can carry out.' }),
    }),
  ),
  report: optional(
    object({
      facts: optional(anything({ description: 'The node’s own facts.' })),
      digest: optional(
        text({ maxLength: MOST_DIGEST, description: 'Of its view of the others: fetched when digests disagree.' }),
      ),
      unknown: optional(
        text({ maxLength: 512, description: 'Why the node could not be read; facts are then old or absent.' }),
      ),
    }),
  ),
  highestLease: optional(integer({ minimum: 0 })),
  results: optional(list(result, { maxItems: MOST_ORDERS, key: 'id' })),
});

export const memberKind = kind({
  group: 'agents.reeve.dev',
  version: 'v1alpha1',
  kind: 'Member',
  plural: 'members',
  namespaced: true,
  description: 'One data node: what it is to do, what it is, and what it did.',
  spec,
  status,
  rules: [
    {
      // Rights to write end at the own member: the admission policy compares names.
      rule: '!has(self.spec.pod) || self.spec.pod.name == self.metadata.name',
      message: 'the member of a pod has the name of the pod',
    },
  ],
  columns: [
    { name: 'System', type: 'string', jsonPath: '.spec.system' },
    { name: 'Host', type: 'string', jsonPath: '.spec.endpoint.host' },
    { name: 'Agent', type: 'string', jsonPath: '.status.agent.version' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export type Member = KindObject<typeof memberKind>;
export type MemberStatus = Infer<typeof status>;
export type Order = Infer<typeof order>;
export type OrderResult = Infer<typeof result>;
export type OrderPhase = OrderResult['phase'];

export function isEndedResult({ phase }: OrderResult): boolean {
  return phase !== 'Started';
}

/**
 * Whether what the agent reports was seen after the last order: the generation stamp of an observation. What began before must not
 * be judged as the effect of what came after.
 */
export function isReportCurrent({ metadata, status }: Member): boolean {
  return status?.observedGeneration !== undefined && status.observedGeneration >= (metadata.generation ?? 0);
}
