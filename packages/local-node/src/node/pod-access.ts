/** What people want of the containers of a node: their logs, and a command in them. */
import { ReeveError } from '@reeve/runtime';
import type { RunResult } from '../host/host.ts';
import type { ContainerKeeper } from './container-keeper.ts';
import { type ExecOptions, execIn, execWith, type StreamOptions } from './exec.ts';
import { type LogOptions, readLog } from './logs.ts';
import type { NodeEnvironment } from './node-environment.ts';
import type { PodKeeper } from './pod-keeper.ts';

export interface ContainerPlace {
  readonly namespace: string;
  readonly pod: string;
  /** Default: whichever has the name by now. */
  readonly uid?: string;
  /** Default: the first one. */
  readonly container?: string;
}

export async function execAt(
  node: NodeEnvironment,
  keepers: readonly PodKeeper[],
  at: ContainerPlace,
  command: readonly string[],
  options: ExecOptions,
): Promise<RunResult> {
  const { keeper, container } = find(node, keepers, at);
  return execIn(node, keeper, container, command, options);
}

/** With its streams as they come; its exit code. */
export async function streamAt(
  node: NodeEnvironment,
  keepers: readonly PodKeeper[],
  at: ContainerPlace,
  command: readonly string[],
  options: StreamOptions,
): Promise<number> {
  const { keeper, container } = find(node, keepers, at);
  return execWith(node, keeper, container, command, options);
}

/** Throws at once if there is no such run. */
export function logsAt(
  node: NodeEnvironment,
  keepers: readonly PodKeeper[],
  at: ContainerPlace & { readonly previous?: boolean },
  options: LogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { keeper, container } = find(node, keepers, at);
  const run = at.previous ? container.previous : container.latest;
  if (!run) throw noSuch(`container ${container.name} of ${keeper.key} has no ${at.previous ? 'earlier ' : ''}run`);
  const { clock, host, runs } = node;
  const key = container.keyOf(run.attempt);
  // Gone with its pod, or never to begin: nothing will be written any more.
  const isOver = async () => ['ended', 'void'].includes((await runs.read(key))?.state ?? 'ended');
  return readLog({ clock, files: host.files }, runs.logPath(key), options, isOver);
}

function find(
  { facts }: NodeEnvironment,
  keepers: readonly PodKeeper[],
  { namespace, pod, uid, container: wanted }: ContainerPlace,
): { readonly keeper: PodKeeper; readonly container: ContainerKeeper } {
  // Of two with one name the later one: the other is on its way out.
  const keeper = keepers.findLast((one) => one.key === `${namespace}/${pod}` && (uid ?? one.uid) === one.uid);
  if (!keeper) throw noSuch(`there is no pod ${namespace}/${pod} on node ${facts.name}`);
  const name = wanted ?? keeper.pod.spec?.containers[0]?.name ?? '';
  const container = keeper.containers.get(name);
  if (!container) throw noSuch(`${keeper.key} has no container ${name}`);
  return { keeper, container };
}

function noSuch(message: string): ReeveError {
  return new ReeveError('NODE_NO_SUCH', message);
}
