/** Hooks and probes of a container: what they need to reach it. */
import { ReeveError } from '@reeve/runtime';
import type { EventWriter } from '@reeve/runtime/manager';
import type { PodContainer } from '../pod/progress.ts';
import { containerId } from '../pod/status.ts';
import { RunProbes } from '../probe/run-probes.ts';
import { askContainer, type Target } from '../probe/transport.ts';
import type { ContainerKeeper, Hook } from './container-keeper.ts';
import { execIn } from './exec.ts';
import type { NodeEnvironment } from './node-environment.ts';
import type { PodKeeper } from './pod-keeper.ts';

function targetOf(node: NodeEnvironment, pod: PodKeeper, container: PodContainer): Target {
  return {
    address: pod.address ?? node.facts.address,
    ports: container.ports,
    exec(command, signal) {
      const keeper = pod.containers.get(container.name);
      if (!keeper) throw new ReeveError('NODE_NOT_RUNNING', `${pod.key} has no container ${container.name}`);
      return execIn(node, pod, keeper, command, { signal });
    },
  };
}

/** Undefined: the container has no such hook. */
export function hookOf(
  node: NodeEnvironment,
  pod: PodKeeper,
  container: PodContainer,
  name: 'postStart' | 'preStop',
  events: EventWriter,
): Hook | undefined {
  const action = container.lifecycle?.[name];
  if (!action) return undefined;
  return async (signal) => {
    const answer = await askContainer(action, targetOf(node, pod, container), node.clock, signal);
    if (answer.isSuccess || signal.aborted) return;
    const reason = name === 'postStart' ? 'FailedPostStartHook' : 'FailedPreStopHook';
    const note = `${name} hook of container ${container.name} failed: ${answer.message}`;
    events.warning(reason, note, `Hook ${container.name}`);
    throw new ReeveError('NODE_HOOK', answer.message);
  };
}

/** Undefined: it has no probes. */
export function probesOf(
  node: NodeEnvironment,
  pod: PodKeeper,
  container: PodContainer,
  keeper: ContainerKeeper,
  isAdopted: boolean,
  events: EventWriter,
): (() => RunProbes) | undefined {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const { latest } = keeper;
  if ((!startupProbe && !readinessProbe && !livenessProbe) || !latest) return undefined;
  const id = containerId(pod.pod, container.name, latest.attempt);
  const { containerStatuses = [], initContainerStatuses = [] } = pod.pod.status ?? {};
  const told = [...containerStatuses, ...initContainerStatuses].find(({ containerID }) => containerID === id);
  return () =>
    new RunProbes({
      clock: node.clock,
      container,
      target: targetOf(node, pod, container),
      startedAt: latest.startedAt ?? node.clock.now(),
      known: { isStarted: isAdopted && told?.started === true, isReady: isAdopted && told?.ready === true },
      changed: () => node.wake(pod.key),
      unhealthy: (kind, message) => {
        const title = `${kind[0]?.toUpperCase()}${kind.slice(1)}`;
        // What a probe answers says nothing of who was asked.
        const note = `${title} probe failed for container ${container.name}: ${message}`;
        events.warning('Unhealthy', note, `${title}Probe ${container.name}`);
      },
    });
}
