/** What the node knows of a pod and its containers when it decides. Plain data; whoever fills it has looked. */
import type { Pod } from '../kinds/pod.ts';
import type { Stored } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';
import type { Instance } from '../shim/instance.ts';

export type StoredPod = DeepReadonly<Stored<Pod>>;

/** Why something cannot be done yet, in the words of a waiting reason. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
  /** When it is worth trying again. */
  readonly retryAt: number;
  /** How long that was put off; it grows. */
  readonly waitMs?: number;
  /** Its image is on its way, since then. */
  readonly pullingSince?: number;
}

/** What a probe has found: not settled before its first threshold is reached. */
export type ProbeVerdict = 'unsettled' | 'success' | 'failure';

export interface ContainerView {
  /** The newest run, void ones left out. */
  readonly latest?: Instance;
  /** How the run before it ended. */
  readonly previous?: Instance;
  /** Of the newest run; undefined: there is no such probe. */
  readonly startup?: ProbeVerdict;
  readonly readiness?: ProbeVerdict;
  readonly liveness?: ProbeVerdict;
  /** Undefined: there is no such hook. A hook that failed ends the run. */
  readonly postStart?: 'running' | 'done' | 'failed';
  /** The run breaks a rule of the node and must end: reason and message of the event. */
  readonly offence?: { readonly reason: string; readonly message: string };
  readonly obstacle?: Obstacle;
}

/** The pod as a whole must end. Written down when it was first seen, so that its time does not begin anew. */
export interface PodStop {
  readonly at: number;
  readonly why: 'deleted' | 'vanished' | 'deadline';
  readonly graceMs: number;
}

export interface PodView {
  /** Address and volumes are there. */
  readonly isPrepared: boolean;
  readonly address?: string;
  readonly hostAddress: string;
  /** When this node first saw it. */
  readonly since: number;
  readonly obstacle?: Obstacle;
  readonly stop?: PodStop;
  readonly containers: Readonly<Record<string, ContainerView>>;
}

export type PodAction =
  | { readonly type: 'prepare' }
  | { readonly type: 'start'; readonly container: string; readonly attempt: number; readonly delayMs: number }
  /** Asks it to end: hook, then SIGTERM. */
  | {
      readonly type: 'stop';
      readonly container: string;
      readonly attempt: number;
      readonly graceMs: number;
      readonly why: string;
    }
  /** Ends it with all its processes. */
  | { readonly type: 'kill'; readonly container: string; readonly attempt: number }
  | { readonly type: 'record-stop'; readonly stop: PodStop }
  /** Nothing of it runs: its object may go, and what the node keeps of it. */
  | { readonly type: 'finish' };

/** For the commands of one decision; the status comes with it. */
export interface PodDecision {
  readonly actions: readonly PodAction[];
  readonly wakeAt?: number;
}

const NONE: ContainerView = {};

export function viewOf(view: PodView, container: string): ContainerView {
  return view.containers[container] ?? NONE;
}

export function isLive(container: ContainerView): boolean {
  return container.latest?.state === 'starting' || container.latest?.state === 'running';
}
