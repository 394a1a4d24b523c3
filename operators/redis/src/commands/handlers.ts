import type { AnyHandler } from '@reeve/runtime';
import { assignSlotsHandler } from './assign-slots.ts';
import { bumpEpochHandler } from './bump-epoch.ts';
import { claimSlotsHandler } from './claim-slots.ts';
import { closeSlotsHandler } from './close-slots.ts';
import { collectKeysHandler } from './collect-keys.ts';
import type { RedisContext } from './context.ts';
import { copyFunctionsHandler } from './copy-functions.ts';
import { failoverHandler } from './failover.ts';
import { forgetNodeHandler } from './forget-node.ts';
import { meetHandler } from './meet.ts';
import { migrateHandler } from './migrate/handler.ts';
import { replicateHandler } from './replicate.ts';
import { setEpochsHandler } from './set-epochs.ts';

/** Exactly one handler for each command type. */
export const redisHandlers: readonly AnyHandler<RedisContext>[] = [
  assignSlotsHandler,
  bumpEpochHandler,
  claimSlotsHandler,
  closeSlotsHandler,
  collectKeysHandler,
  copyFunctionsHandler,
  failoverHandler,
  forgetNodeHandler,
  meetHandler,
  migrateHandler,
  replicateHandler,
  setEpochsHandler,
];
