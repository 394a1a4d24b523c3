/** A kubelet that runs nothing: it only says of pods what the test wants it to say. */
import type { KubeClient, Stored } from '@reeve/kube';
import { type Pod, pods, type PodStatus } from '../kinds/pod.ts';

export type Says = (pod: Stored<Pod>, now: string) => PodStatus | undefined;

export function ready(pod: Stored<Pod>, now: string): PodStatus {
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'];
  return {
    phase: 'Running',
    startTime: pod.status?.startTime ?? now,
    conditions: conditions.map((type) => ({ type, status: 'True', lastTransitionTime: now })),
  };
}

export function ended(phase: 'Succeeded' | 'Failed', exitCode: number, container = 'main') {
  return (_pod: Stored<Pod>, now: string): PodStatus => ({
    phase,
    startTime: now,
    conditions: [{ type: 'Ready', status: 'False', reason: 'PodCompleted', lastTransitionTime: now }],
    containerStatuses: [
      {
        name: container,
        ready: false,
        restartCount: 0,
        image: 'x',
        imageID: 'x',
        state: { terminated: { exitCode, startedAt: now, finishedAt: now } },
      },
    ],
  });
}

export interface KubeletOptions {
  readonly says: Says;
  /** Names of pods that ignore that they are being deleted. */
  readonly stubborn: ReadonlySet<string>;
  /** How a pod without a node gets one; undefined: somebody else does that. */
  readonly place: ((client: KubeClient, pod: Stored<Pod>) => Promise<unknown>) | undefined;
}

/** One turn over all pods of a namespace, or of all. */
export async function kubeletTurn(client: KubeClient, now: string, options: KubeletOptions, namespace?: string) {
  for (const pod of (await client.resource(pods, namespace).listAll()).items) {
    const { name, namespace: home = '', deletionTimestamp } = pod.metadata;
    const of = client.resource(pods, home);
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    const say = (status: PodStatus) => of.patch(name, { type: 'merge', value: { status } }, { subresource: 'status' });
    if (deletionTimestamp !== undefined) {
      if (options.stubborn.has(name)) continue;
      // It says how it ended before it lets go of it.
      const isHeld = (pod.metadata.finalizers?.length ?? 0) > 0 && (pod.spec?.nodeName ?? '') !== '';
      if (isHeld && !isOver) await say(ended('Failed', 143)(pod, now));
      await of.delete(name, { gracePeriodSeconds: 0, uid: pod.metadata.uid });
      continue;
    }
    if ((pod.spec?.nodeName ?? '') === '') {
      if (!options.place) continue;
      await options.place(client, pod);
    }
    const status = isOver ? undefined : options.says(pod, now);
    if (status && isNews(pod.status, status)) await say(status);
  }
}

function isNews(before: PodStatus | undefined, after: PodStatus): boolean {
  const said = (status: PodStatus | undefined) =>
    JSON.stringify([status?.phase, (status?.conditions ?? []).map(({ type, status: is }) => [type, is])]);
  return said(before) !== said(after);
}
