/** How the API server reaches what runs on the nodes of this process. */
import type { PodAccess, PodContainer } from '@reeve/embedded';
import type { LocalNode } from '@reeve/local-node';

export function podAccess(nodeOf: (name: string) => LocalNode | undefined): PodAccess {
  const placeOf = ({ namespace, name, uid, container }: PodContainer) => ({ namespace, pod: name, uid, container });
  const nodeFor = ({ node }: PodContainer): LocalNode => {
    const found = nodeOf(node);
    if (!found) throw new Error(`node ${node} is none of this machine`);
    return found;
  };
  return {
    async logs(at, { follow, previous, tailLines }, signal) {
      const options = { follow, signal, ...(tailLines !== undefined && { tailLines }) };
      return nodeFor(at).logs({ ...placeOf(at), previous }, options);
    },
    async exec(at, command, { stdin, stdout, stderr }, signal) {
      const writers = { stdout, stderr };
      return nodeFor(at).execStream(placeOf(at), command, {
        signal,
        input: stdin,
        output: async (stream, chunk) => writers[stream]?.(chunk),
      });
    },
  };
}
