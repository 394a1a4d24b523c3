import { addNodeVerb } from './add-node.ts';
import { checkVerb } from './check.ts';
import { createVerb } from './create.ts';
import { delNodeVerb } from './del-node.ts';
import { failoverVerb } from './failover.ts';
import { fixVerb } from './fix.ts';
import { rebalanceVerb } from './rebalance.ts';
import { reshardVerb } from './reshard.ts';
import { statusVerb } from './status.ts';
import type { Verb } from './verb.ts';
import { watchVerb } from './watch.ts';

/** In the order of the help. */
export const redisVerbs: readonly Verb[] = [
  createVerb,
  statusVerb,
  checkVerb,
  fixVerb,
  reshardVerb,
  rebalanceVerb,
  addNodeVerb,
  delNodeVerb,
  failoverVerb,
  watchVerb,
];
