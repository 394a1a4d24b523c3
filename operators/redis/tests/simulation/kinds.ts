/** The operations that are simulated, each in a world of its own. */
export type Kind = 'create' | 'reshard' | 'rebalance' | 'delete' | 'add' | 'fix';

export const allKinds: readonly Kind[] = ['create', 'reshard', 'rebalance', 'delete', 'add', 'fix'];
