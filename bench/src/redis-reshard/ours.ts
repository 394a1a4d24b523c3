/**
 * Our side of the race, in a process of its own for each run, as the command line would have: everything is loaded,
 * nothing connected and no code warm when the clock starts.
 */
import {
  connectRedis,
  createOperation,
  type Endpoint,
  type Environment,
  type Operation,
  type Pace,
  redisContext,
  redisHandlers,
  reshardOperation,
  runOperation,
} from '@reeve/redis';
import { giveWay, localExecutor, systemPorts } from '@reeve/runtime';

export type OurOrder =
  | {
      readonly order: 'reshard';
      readonly seeds: readonly Endpoint[];
      readonly to: string;
      readonly slots: number;
      readonly pace: Pace;
    }
  | { readonly order: 'create'; readonly endpoints: readonly Endpoint[]; readonly replicas: number };

export interface OurAnswer {
  readonly ms: number;
  readonly status: string;
  readonly detail: string;
}

async function timed<Request, Goal>(
  operation: Operation<Request, Goal>,
  request: Request,
  seeds: readonly Endpoint[],
): Promise<OurAnswer> {
  const began = performance.now();
  const redis = connectRedis({}, systemPorts);
  const notes: string[] = [];
  const environment: Environment = {
    redis,
    ports: systemPorts,
    executor: localExecutor(redisHandlers, redisContext(redis, systemPorts)),
    seeds,
    signal: new AbortController().signal,
    report: (event) => {
      const at = `${Math.round(performance.now() - began)} ms`;
      if (event.event === 'ended') notes.push(`${at}: ${event.command.type} ${event.status} ${event.message ?? ''}`);
      else if (event.event !== 'progress') notes.push(`${at}: ${event.event}`);
    },
  };
  const result = await runOperation(operation, request, environment, {
    approve: async (proposal) => proposal.digest,
    anyPlan: true, // as `--yes`, and as the opponents are told
    begin: async () => undefined,
  });
  const ms = performance.now() - began;
  await redis.close();
  return { ms, status: result.status, detail: [JSON.stringify({ ...result, view: undefined }), ...notes].join(' | ') };
}

function obey(order: OurOrder): Promise<OurAnswer> {
  if (order.order === 'create') {
    const request = { endpoints: order.endpoints, replicasPerPrimary: order.replicas, spreadBy: [] };
    return timed(createOperation, request, order.endpoints);
  }
  const { to, slots, pace, seeds } = order;
  if (pace === 'gentle') giveWay(); // as the command line does
  return timed(reshardOperation, { slots, to, from: 'all' as const, engine: 'auto' as const, pace }, seeds);
}

process.on('message', (order: OurOrder) => {
  void obey(order).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
