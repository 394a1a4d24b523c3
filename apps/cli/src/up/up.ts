/** `reeve up`: the control plane, until Ctrl-C. */
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { type Host, systemFacts, systemHost } from '@reeve/local-node';
import { asReeveError } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import { plural } from '../output/format.ts';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { defaultDataFolder } from './data-folder.ts';
import { downLine } from './down-line.ts';
import { FetchView } from './fetch-view.ts';
import { userCatalog } from './images.ts';
import type { upOptions } from './spec.ts';
import { version } from '../version.ts';
import { welcome } from './welcome.ts';
import { zonesOf } from './zones.ts';

const NODES = 3;

export async function run({ words, values, io, signal }: CommandLine<typeof upOptions>): Promise<ExitCode> {
  if (words.length > 0) throw usage(`reeve up takes no '${words[0]}'`);
  const { env, ports } = io;
  const zones = zonesOf(values.zones);
  const data = values.data === undefined ? undefined : resolve(values.data);
  // At once: whoever is in a hurry presses Ctrl-C again, and then nothing is said any more.
  const stopped = new Promise<'stop'>((stop) => {
    const onStop = () => {
      io.out(
        `Stopping. Pods go on: the next \`reeve up\` with the same folder takes them over; \`${downLine(data)}\` ends them.\n`,
      );
      stop('stop');
    };
    if (signal.aborted) onStop();
    else signal.addEventListener('abort', onStop, { once: true });
  });
  const host = systemHost(env.PATH);
  const hostPaths = await foldersOf(host, values['host-path']);
  const fetches = new FetchView({ write: io.err, isTerminal: io.errIsTerminal, columns: io.columns });
  await using images = userCatalog({ ...ports, host }, env, fetches.report);
  await using plane = await ControlPlane.open(
    { ...ports, host, connect: io.connect, newPassword: io.newPassword },
    {
      data: data ?? resolve(defaultDataFolder(env)),
      port: values.port,
      nodes: values.nodes ?? NODES,
      driver: values.driver as ControlPlaneOptions['driver'],
      zones,
      hostPaths,
      machine: { cores: availableParallelism(), memoryBytes: totalmem(), system: systemFacts(version) },
      images,
      onError: (error) => io.err(`reeve: ${asReeveError(error).message}\n`),
      log: (message, fields) => {
        if (values.verbose) io.err(`${message} ${JSON.stringify(fields)}\n`);
      },
    },
  );
  if (!signal.aborted) {
    const { url, folder, detected, registered, retired } = plane;
    const nodes = plane.nodes.length - retired.length;
    const [pods, down] = [podsOf(plane), downLine(data)];
    io.out(welcome({ url, folder, detected, registered, nodes, retired, zones, pods, down }));
  }
  const end = await Promise.race([stopped, plane.downAsked.then(() => 'down' as const)]);
  if (end === 'stop') return exit.ok;
  const count = podsOf(plane);
  io.out(`Asked to go down: ending ${plural(count, 'pod')}.\n`);
  try {
    await plane.endPods(signal);
  } catch (error) {
    if (signal.aborted) return exit.interrupted; // what goes on, and how to end it, was said
    throw error;
  }
  io.out('Stopped, and all pods have ended. The next `reeve up` with the same folder begins them anew.\n');
  return exit.ok;
}

/** A slip in one of them would show as a pod that waits, much later. */
async function foldersOf({ files }: Host, paths: readonly string[]): Promise<readonly string[]> {
  const folders = paths.map((path) => resolve(path));
  for (const folder of folders) {
    if ((await files.kindOf(folder)) !== 'folder') throw usage(`--host-path ${folder} is no folder`);
  }
  return folders;
}

const podsOf = ({ nodes }: ControlPlane): number => nodes.reduce((sum, node) => sum + node.podKeys.length, 0);
