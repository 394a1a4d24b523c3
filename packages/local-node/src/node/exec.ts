/** A command in a running container: in its namespaces, with its environment, where its program was begun. */
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

const BEGIN_IN = 'cd "$0" && exec "$@"';
/** Nobody named this folder, and a mount may hide it: the program began somewhere else then. */
const BEGIN_NEAR = 'cd "$0" 2>/dev/null || cd /; exec "$@"';

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
  const asked = pod.containerOf(container.name);
  const user = asUser(runsAs(node, pod.pod, asked));
  const entrance = node.entranceOf(latest.driver);
  const mounts = entrance.hasMounts ? [] : await pod.mountsOf(container.name, env);
  const scratch = join(runs.containerFolder(container.keyOf(0)), 'scratch');
  // Runs of earlier versions have not written it down.
  const begun = begunIn(latest.workingDir ?? asked.workingDir, entrance.hasMounts ? scratch : undefined);
  const [program, ...args] = entrance.enter(main, [...begun, ...user, ...command], mounts);
  if (program === undefined) throw new ReeveError('NODE_NOT_RUNNING', `${where}: no command`, { subjects: [pod.key] });
  return {
    argv: [program, ...args],
    // The cookie stays: what is left of it ends with the run.
    env: { ...env, [COOKIE]: runs.cookieOf(container.keyOf(latest.attempt)) },
    folder: scratch,
  };
}

/**
 * In front of a command. Whoever enters a namespace is in its root at first, and the tool that enters it knows only of late how to go
 * elsewhere. `home`: where to go if the run names no folder; undefined: it is there already.
 */
function begunIn(workingDir: string | undefined, home: string | undefined): readonly string[] {
  if (workingDir !== undefined) return ['/bin/sh', '-c', BEGIN_IN, workingDir];
  return home === undefined ? [] : ['/bin/sh', '-c', BEGIN_NEAR, home];
}
