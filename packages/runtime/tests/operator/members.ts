/** A member for each pod, and an agent for each member. */
import { Agent, listWatchOf, localExecutor, type Member, type ResourceCache, written } from '@reeve/runtime';
import type { Process } from '@reeve/simulation';
import { clientOf, NAMESPACE, type SampleClient } from './api.ts';
import { type Context, handlers } from './handlers.ts';
import type { SeenPod } from './plan.ts';
import type { Sample } from './scenario.ts';

/** Members follow the pods that were seen. Orders for a pod that is gone are void. */
export async function adjustMembers(
  client: SampleClient['members'],
  cache: ResourceCache<Member>,
  pods: readonly SeenPod[],
  signal: AbortSignal,
): Promise<void> {
  for (const pod of pods) {
    const member = cache.get(`${NAMESPACE}/${pod.name}`) as Member | undefined;
    if (member?.spec.pod?.uid === pod.uid) continue;
    const spec: Member['spec'] = { system: 'sample', endpoint: { host: '127.0.0.1', port: 1 }, pod };
    const metadata = { name: pod.name };
    const result = member
      ? await written(client.update({ ...member, spec: { ...spec, orders: [] } } as never, { signal }))
      : await written(client.create({ metadata, spec }, { signal }));
    if (result.written) cache.wrote(result.object as Member);
  }
  for (const member of cache.values()) {
    const { name, uid = '' } = member.metadata;
    if (!pods.some((pod) => pod.name === name)) await written(client.delete(name, { uid, signal }));
  }
}

/** The agent beside one pod: it lives as long as its machine does, whatever becomes of the operator. */
export function agentProcess(sample: Sample, pod: string): Process {
  return {
    name: `agent-${pod}`,
    background: true,
    async run(life) {
      const client = clientOf(life, sample.api);
      const fieldSelector = `metadata.name=${pod}`;
      const context: Context = {
        world: sample.world,
        speaker: { life, epoch: life.life },
        onResize: () => undefined,
      };
      const agent = new Agent(life.ports, {
        namespace: NAMESPACE,
        name: pod,
        version: '1.0.0',
        place: 'machine',
        source: listWatchOf(client.members, { fieldSelector }),
        members: client.members,
        leases: client.leases,
        executor: localExecutor(handlers, context),
        everyMs: 5_000,
        observe: () =>
          life.effect('node.observe', {
            latencyMs: 1,
            apply: () => ({ facts: { finished: sample.world.pods.get(pod)?.finished.size ?? 0 } }),
          }),
        failed: (error) => life.say(`${pod}: ${String(error)}`),
      });
      await agent.run(new AbortController().signal);
    },
  };
}
