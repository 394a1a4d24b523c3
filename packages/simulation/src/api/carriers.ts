/** Ways to the model: at once, for unit tests; as effects of a life, with everything that can happen to them. */
import type { Incarnation } from '../incarnation.ts';
import type { ApiModel } from './model.ts';
import type { Carrier } from './transport.ts';

/** Every contact is made at once; a stream waits for news. */
export function immediately(model: ApiModel): Carrier {
  return async ({ apply, when }) => {
    if (when) {
      while (!when()) {
        await new Promise<void>((resolve) => {
          const forget = model.listen(() => {
            forget();
            resolve();
          });
        });
      }
    }
    return apply();
  };
}

/** How long a caller waits for an answer; the effect may still happen afterwards. */
const TIMEOUT_MS = 10_000;

/** Every contact is an effect: late, lost, answered with an error although it happened, or the end of the process. */
export function simulated(life: Incarnation): Carrier {
  return ({ label, detail, apply, when }) =>
    life.effect(label, {
      detail,
      apply,
      latencyMs: 1,
      failure: (kind) => lost(kind, label),
      ...(when ? { when } : { timeoutMs: TIMEOUT_MS }),
    });
}

/** Refused connections and time-outs as the client tells them; half of the labels get a 500 instead, which may have happened or not. */
function lost(kind: 'fail-before' | 'fail-after' | 'timeout', label: string): Error {
  const message = `${kind} at ${label}`;
  if (kind !== 'timeout' && label.length % 2 === 0) {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500, reason: 'InternalError', message };
    return Object.assign(new Error(message), { code: 'KUBE_SERVER_ERROR', subjects: [label], status });
  }
  const code =
    kind === 'fail-before' ? 'KUBE_UNREACHABLE' : kind === 'timeout' ? 'KUBE_TIMEOUT' : 'KUBE_CONNECTION_LOST';
  return Object.assign(new Error(message), { code, subjects: [label] });
}
