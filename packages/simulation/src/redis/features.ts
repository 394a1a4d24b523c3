/** What tells the products apart, by name of the ability. */
export type Flavour = 'valkey9' | 'redis7' | 'redis8';

export interface Features {
  /** SETSLOT runs on the replicas first, full syncs carry open slots, and gossip keeps them in step with failovers. */
  readonly replicatedSlotState: boolean;
  /** The ban of FORGET travels with gossip, and FORGET of a banned node is no error. */
  readonly gossipsBans: boolean;
  /** At start, keys of slots that others own are deleted; elsewhere the slot is marked as importing. */
  readonly dropsStrayKeys: boolean;
  /** What a primary drops with a slot that it lost reaches its replicas and its append-only file. */
  readonly logsDroppedKeys: boolean;
  /** A candidate that is refused a vote because it knows an old epoch of its primary is sent the new one. */
  readonly tellsCandidates: boolean;
  readonly shardIds: boolean;
  readonly slotStats: boolean;
  /** CLUSTER MIGRATESLOTS. */
  readonly pushesSlots: boolean;
  /** CLUSTER MIGRATION IMPORT. */
  readonly pullsSlots: boolean;
  /** SELECT of other databases than 0. */
  readonly databases: boolean;
}

const valkey9: Features = {
  replicatedSlotState: true,
  dropsStrayKeys: true,
  logsDroppedKeys: true,
  gossipsBans: true,
  tellsCandidates: true,
  shardIds: true,
  slotStats: true,
  pushesSlots: true,
  pullsSlots: false,
  databases: true,
};

const redis7: Features = {
  replicatedSlotState: false,
  dropsStrayKeys: false,
  logsDroppedKeys: false,
  gossipsBans: false,
  tellsCandidates: false,
  shardIds: false,
  slotStats: false,
  pushesSlots: false,
  pullsSlots: false,
  databases: false,
};

/** From its documentation: no such server was at hand, so this one is tested as a model only. */
const redis8: Features = {
  ...redis7,
  gossipsBans: true,
  logsDroppedKeys: true,
  shardIds: true,
  slotStats: true,
  pullsSlots: true,
};

export const featuresOf: Readonly<Record<Flavour, Features>> = { valkey9, redis7, redis8 };
