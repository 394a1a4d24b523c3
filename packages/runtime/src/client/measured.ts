/** A transport that tells what goes through it, under the names of client-go. */
import type { Transport, TransportRequest } from '@reeve/kube';
import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import type { Clock } from '../ports/ports.ts';

export function measured(transport: Transport, metrics: RuntimeMetrics, clock: Clock): Transport {
  // The client sends the very same request again when the server was busy.
  const sent = new WeakSet<TransportRequest>();
  return async (request) => {
    const { method } = request;
    if (sent.has(request)) metrics.requestRetries.add({ method });
    sent.add(request);
    const began = clock.now();
    let code = '<error>';
    try {
      const response = await transport(request);
      code = String(response.status);
      return response;
    } finally {
      metrics.requests.add({ code, method });
      metrics.requestSeconds.observe({ verb: method }, (clock.now() - began) / 1_000);
    }
  };
}
