/** A real kube-apiserver that answers 429 to whatever is too much, and somebody who asks for too much. */
import { connect, isKubeError, systemKubePorts } from '@reeve/kube';
import { maps } from './kinds-testing.ts';
import type { Endings } from './real-testing.ts';

/** Flags: without fair queues a server refuses at once what is beyond its limit, for every client alike. */
export const BUSY = [
  '--enable-priority-and-fairness=false',
  '--max-requests-inflight=1',
  '--max-mutating-requests-inflight=1',
] as const;

/** Keeps the server's only place taken, as well as it can. */
export function storm(
  t: Endings,
  namespace: string,
  file: string,
): { readonly refused: () => number; end(): Promise<void> } {
  let isOver = false;
  let refused = 0;
  const running = (async () => {
    using connection = await connect(systemKubePorts(), { file, retries: 0, maxSockets: 8 });
    const all = connection.client.resource(maps, namespace);
    const worker = async () => {
      while (!isOver) {
        await all.list().catch((error: unknown) => {
          if (!isKubeError(error, 'KUBE_TOO_MANY_REQUESTS')) throw error;
          refused++;
        });
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  })();
  const end = async () => {
    isOver = true;
    await running;
  };
  t.after(end);
  return { refused: () => refused, end };
}
