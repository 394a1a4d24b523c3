/** Pods and what is known of them, for tables of decisions. */
import type { Pod, PodSpec } from '../kinds/pod.ts';
import type { Instance } from '../shim/instance.ts';
import type { PodView, StoredPod } from './view.ts';

export const T0 = Date.UTC(2026, 0, 1);
export const SECOND = 1_000;

export function podOf(
  spec: Partial<PodSpec> = {},
  more: { metadata?: object; status?: Pod['status'] } = {},
): StoredPod {
  return {
    metadata: {
      name: 'p',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      ...more.metadata,
    },
    spec: { ...spec, containers: spec.containers ?? [{ name: 'main', image: 'host' }] },
    ...(more.status && { status: more.status }),
  } as StoredPod;
}

export function viewWith(containers: PodView['containers'] = {}, more: Partial<PodView> = {}): PodView {
  return { isPrepared: true, address: '127.1.0.1', hostAddress: '127.0.0.1', since: T0, containers, ...more };
}

export function running(more: Partial<Instance> = {}): Instance {
  return {
    attempt: 0,
    delayMs: 0,
    driver: 'plain',
    image: 'host',
    state: 'running',
    main: { pid: 10, startTime: '1' },
    shim: { pid: 9, startTime: '1' },
    startedAt: T0,
    stop: undefined,
    end: undefined,
    ...more,
  };
}

export function ended(code: number, more: Partial<Instance> = {}, after = SECOND): Instance {
  return { ...running(more), state: 'ended', end: { code, at: T0 + after, ...more.end } };
}
