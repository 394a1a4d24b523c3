/** The operator's port to the model's servers, each call one effect of a simulated life. */
import type { Incarnation } from '@reeve/simulation';
import type { RedisClusterModel } from '@reeve/simulation/redis';
import type { RedisPort } from '../../src/api/port.ts';
import { modelPort } from '../model-port.ts';

/** Time on the wire and in the server. */
const LATENCY_MS = 1;

export function redisOf(life: Incarnation, model: RedisClusterModel): RedisPort {
  const port = modelPort(model, (call) =>
    life.effect(labelOf(call.label, call.detail), {
      detail: call.detail,
      channel: call.channel,
      latencyMs: LATENCY_MS,
      timeoutMs: call.timeoutMs,
      // A stopped process keeps its sockets: what was sent is done when it goes on, whoever still waits for it.
      when: () => call.canAnswer(),
      apply: () => call.apply(),
      failure: (kind) => call.failure(kind),
    }),
  );

  return {
    ...port,
    /**
     * A check counts keys in thousands of slots. As an effect each they would make the run long and tell nothing: they
     * go with the first of them, which stands for all.
     */
    async reads(endpoint, commands, options) {
      const [first] = commands;
      if (first?.[1] !== 'COUNTKEYSINSLOT') return port.reads(endpoint, commands, options);
      try {
        await port.call(endpoint, first, options);
      } catch {
        return commands.map(() => undefined);
      }
      const server = model.serverAt(endpoint);
      return commands.map(([, , slot]) => server.countKeysInSlot(Number(slot)));
    },
  };
}

/** SETSLOT is four commands in one. */
function labelOf(label: string, detail: string): string {
  if (label !== 'CLUSTER SETSLOT') return label;
  return `${label} ${/SETSLOT \d+ (\w+)/i.exec(detail)?.[1]?.toUpperCase() ?? ''}`;
}
