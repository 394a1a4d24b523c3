/** The operator's port to the model's servers, each call one effect of a simulated life. */
import type { Incarnation } from '@reeve/simulation';
import type { RedisClusterModel } from '@reeve/simulation/redis';
import type { Arg, RedisPort, Reply } from '../../src/api/port.ts';
import { type Endpoint, formatEndpoint } from '../../src/api/view.ts';
import { modelPort } from '../model-port.ts';

/** Time on the wire and in the server. */
const LATENCY_MS = 1;

/** Counts of keys that go out in one write. */
interface Counts {
  readonly slots: number[];
  readonly replies: Promise<readonly Reply[]>;
  isSent: boolean;
}

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
  const counting = new Map<string, Counts>();

  /**
   * A fix counts keys in thousands of slots. As an effect each they would make the run long and tell nothing: they go
   * with the first of them, which stands for all.
   */
  function countKeys(endpoint: Endpoint, args: readonly Arg[], timeoutMs: number): Promise<Reply> {
    const name = formatEndpoint(endpoint);
    let counts = counting.get(name);
    if (!counts || counts.isSent) {
      const slots: number[] = [];
      const replies = port
        .call(endpoint, args, { timeoutMs })
        .then(() => slots.map((slot) => model.serverAt(endpoint).countKeysInSlot(slot)));
      const started: Counts = { slots, replies, isSent: false };
      const sent = () => {
        started.isSent = true;
      };
      replies.then(sent, sent);
      counts = started;
      counting.set(name, counts);
    }
    const index = counts.slots.push(Number(args[2])) - 1;
    return counts.replies.then((replies) => replies[index] ?? null);
  }

  return {
    ...port,
    call(endpoint, args, options = {}) {
      const isCount = args[1] === 'COUNTKEYSINSLOT' && options.lane !== 'bulk';
      if (isCount) return countKeys(endpoint, args, options.timeoutMs ?? 5_000);
      counting.delete(formatEndpoint(endpoint));
      return port.call(endpoint, args, options);
    },
  };
}

/** SETSLOT is four commands in one. */
function labelOf(label: string, detail: string): string {
  if (label !== 'CLUSTER SETSLOT') return label;
  return `${label} ${/SETSLOT \d+ (\w+)/i.exec(detail)?.[1]?.toUpperCase() ?? ''}`;
}
