/** What goes to an API server and comes from it: paths and bodies in both directions, watches included; headers are not. */
import type { Transport, TransportResponse } from '@reeve/kube';

export interface Counted {
  requests: number;
  sentBytes: number;
  receivedBytes: number;
}

export function counting(transport: Transport, counted: Counted): Transport {
  return async (request) => {
    counted.requests++;
    counted.sentBytes += request.path.length + Buffer.byteLength(request.body ?? '');
    const response = await transport(request);
    return { ...response, body: countedBody(response.body, counted) };
  };
}

function countedBody(body: TransportResponse['body'], counted: Counted): TransportResponse['body'] {
  if (body instanceof Uint8Array) {
    counted.receivedBytes += body.length;
    return body;
  }
  return (async function* count() {
    for await (const bytes of body) {
      counted.receivedBytes += bytes.length;
      yield bytes;
    }
  })();
}
