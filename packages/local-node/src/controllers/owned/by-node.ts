/** An index: pods by the node that they are bound to. */
import type { DeepReadonly } from '@reeve/runtime';
import type { Pod } from '../../kinds/pod.ts';

export const BY_NODE = 'reeve/node';

export function nodeIndex({ spec }: DeepReadonly<Pick<Pod, 'spec'>>): readonly string[] {
  return (spec?.nodeName ?? '') === '' ? [] : [spec?.nodeName as string];
}
