/** A command in a running container: in its namespaces, with its environment. */
import { join } from 'node:path';
import { ReeveError } from '@reeve/runtime';
import type { LaunchRequest, RunResult, StreamRequest } from '../host/host.ts';
import { asUser } from '../pod/user.ts';
import { COOKIE } from '../shim/runs.ts';
import type { ContainerKeeper } from './container-keeper.ts';
import type { NodeEnvironment } from './node-environment.ts';
import type { PodKeeper } from './pod-keeper.ts';
import { runsAs } from './run-as.ts';

export interface ExecOptions {
  readonly signal: AbortSignal;
  readonly input?: string;
}

/** What it reads and writes while it runs. */
export type StreamOptions = Pick<StreamRequest, 'input' | 'output' | 'signal'>;

/** Runs a command to its end. */
export async function execIn(
  node: NodeEnvironment,
  pod: PodKeeper,
  container: ContainerKeeper,
  command: readonly string[],
  options: ExecOptions,
): Promise<RunResult> {
  return node.host.processes.run({ ...(await launchIn(node, pod, container, command)), ...options });
}

/** The same with streams: the exit code. */
export async function execWith(
  node: NodeEnvironment,
  pod: PodKeeper,
  container: ContainerKeeper,
  command: readonly string[],
  options: StreamOptions,
): Promise<number> {
  return node.host.processes.stream({ ...(await launchIn(node, pod, container, command)), ...options });
}

async function launchIn(
  node: NodeEnvironment,
  pod: PodKeeper,
  container: ContainerKeeper,
  command: readonly string[],
): Promise<LaunchRequest> {
  const { host, runs } = node;
  const main = container.main();
  const latest = container.latest;
  const where = `${pod.key} (${container.name})`;
  if (!main || !latest) throw new ReeveError('NODE_NOT_RUNNING', `${where} is not running`, { subjects: [pod.key] });
  const env = runs.environmentOf(latest) ?? host.processes.environment(main.pid);
  if (!env) throw new ReeveError('NODE_NOT_RUNNING', `${where} has just ended`, { subjects: [pod.key] });
  const user = asUser(runsAs(node, pod.pod, pod.containerOf(container.name)));
  const entrance = node.entranceOf(latest.driver);
  const mounts = entrance.hasMounts ? [] : await pod.mountsOf(container.name, env);
  const [program, ...args] = entrance.enter(main, [...user, ...command], mounts);
  if (program === undefined) throw new ReeveError('NODE_NOT_RUNNING', `${where}: no command`, { subjects: [pod.key] });
  return {
    argv: [program, ...args],
    // The cookie stays: what is left of it ends with the run.
    env: { ...env, [COOKIE]: runs.cookieOf(container.keyOf(latest.attempt)) },
    folder: join(runs.containerFolder(container.keyOf(0)), 'scratch'),
  };
}
