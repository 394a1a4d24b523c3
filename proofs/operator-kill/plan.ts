/** What is killed when, round by round. Pure: a proof must be repeatable by its seed, as far as a kill can be. */
export const OPERATIONS = ['create', 'scale', 'rolling', 'rebalance', 'failover', 'idle'] as const;
export type OperationName = (typeof OPERATIONS)[number];

export const VICTIMS = ['pods', 'plane', 'plane and pods', 'everything', 'agents'] as const;
export type VictimName = (typeof VICTIMS)[number];

export interface RoundPlan {
  readonly number: number;
  readonly operation: OperationName;
  readonly victim: VictimName;
  /** Of the time that the operation takes when nobody disturbs it. */
  readonly moment: number;
  /** How many pods or agents, of those that there are. */
  readonly pods: number;
  /** The program alone, or everything of the pod; of an agent, everything of its container. */
  readonly manner: 'program' | 'whole pod';
  /** How long the control plane stays away. */
  readonly downMs: number;
  /** Which pods, tasks' targets and the like. */
  readonly seed: number;
}

const MOST_PODS = 3;
const MOST_DOWN_MS = 6_000;
/** Some fall into what follows when the operation is over. */
const LATEST_MOMENT = 1.05;

/** Every operation meets every victim before any pair comes again. */
export function planRounds(rounds: number, random: () => number, hasAgents: boolean): readonly RoundPlan[] {
  const victims = VICTIMS.filter((victim) => hasAgents || victim !== 'agents');
  return Array.from({ length: rounds }, (_, number) => {
    const operation = OPERATIONS[number % OPERATIONS.length] as OperationName;
    const turn = Math.floor(number / OPERATIONS.length);
    const victim = victims[(number + turn) % victims.length] as VictimName;
    return {
      number,
      operation,
      victim,
      moment: random() * LATEST_MOMENT,
      pods: 1 + Math.floor(random() * MOST_PODS),
      manner: random() < 0.5 ? 'program' : 'whole pod',
      downMs: Math.round(random() * MOST_DOWN_MS),
      seed: Math.floor(random() * 2 ** 31),
    };
  });
}
