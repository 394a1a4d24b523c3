/** The operator's port to the model's servers, each call one effect of a simulated life. */
import type { Incarnation } from '@reeve/simulation';
import type { RedisClusterModel } from '@reeve/simulation/redis';
import type { RedisPort } from '../../src/api/port.ts';
import { modelPort } from '../model-port.ts';

/** Time on the wire and in the server. */
const LATENCY_MS = 1;

export function redisOf(life: Incarnation, model: RedisClusterModel): RedisPort {
  return modelPort(model, (call) => {
    const [endpoint = ''] = call.channel.split(' ', 1);
    return life.effect(labelOf(call.label, call.detail), {
      detail: call.detail,
      channel: call.channel,
      latencyMs: LATENCY_MS,
      timeoutMs: call.timeoutMs,
      // A stopped process keeps its sockets: what was sent is done when it goes on, whoever still waits for it.
      when: () => model.network.atEndpoint(endpoint)?.process !== 'paused',
      apply: () => call.apply(),
      failure: (kind) => call.failure(kind),
    });
  });
}

/** SETSLOT is four commands in one. */
function labelOf(label: string, detail: string): string {
  if (label !== 'CLUSTER SETSLOT') return label;
  return `${label} ${/SETSLOT \d+ (\w+)/i.exec(detail)?.[1]?.toUpperCase() ?? ''}`;
}
