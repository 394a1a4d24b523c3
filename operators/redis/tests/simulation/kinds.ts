/** The operations that are simulated, each in a world of its own. `fix-nodes`: what is wrong is not the slots. */
export const allKinds = [
  'create',
  'reshard',
  'rebalance',
  'delete',
  'add',
  'fix',
  'fix-nodes',
  'failover',
  'spread',
] as const;

export type Kind = (typeof allKinds)[number];
