/** `reeve down`: ends all pods of a data folder, and the control plane that looks after them. */
import { join, resolve } from 'node:path';
import type { FileJournal } from '@reeve/embedded';
import { KubeError, type Transport } from '@reeve/kube';
import {
  AddressPool,
  detectDrivers,
  hostImages,
  LocalNode,
  type LocalNodeOptions,
  type NodeFacts,
  type NodePorts,
  systemHost,
} from '@reeve/local-node';
import { asReeveError } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { plural } from '../output/format.ts';
import { type DataFolder, defaultDataFolder } from './data-folder.ts';
import { DOWN_PATH } from './own-paths.ts';
import { askPlane, existingFolder } from './running-plane.ts';
import type { downOptions } from './spec.ts';
import { takeStore } from './system-store-file.ts';

const LOOK_AGAIN_MS = 250;
/** It is asked more than once: another one may have been started meanwhile. */
const ASK_AGAIN_MS = 5_000;
/** Who has the store and does not answer for so long is not asked any more. */
const PATIENCE_MS = 30_000;

export async function run({ words, values, io, signal }: CommandLine<typeof downOptions>): Promise<ExitCode> {
  if (words.length > 0) throw usage(`reeve down takes no '${words[0]}'`);
  const folder = await existingFolder(io, resolve(values.data ?? defaultDataFolder(io.env)));
  const { journal, wasAsked } = await takeFolder(io, folder, signal);
  try {
    // Also after somebody else did it: if he died over it, this finds what is left.
    const ended = await endPods(io, folder, signal);
    const plane = wasAsked ? 'The control plane has stopped, and' : 'No control plane was running;';
    const rest =
      ended === 0 ? (wasAsked ? 'all its pods have ended' : 'no pods either') : `${plural(ended, 'pod')} ended`;
    io.out(`${plane} ${rest}. Nothing was deleted: the next \`reeve up\` begins the pods anew.\n`);
  } finally {
    await journal.close();
  }
  return exit.ok;
}

/** Whoever holds the store is the one control plane of the folder; as long as we do, none begins. */
async function takeFolder(
  io: Io,
  folder: DataFolder,
  signal: AbortSignal,
): Promise<{ readonly journal: FileJournal; readonly wasAsked: boolean }> {
  const { clock } = io.ports;
  const began = clock.now();
  let askedAt: number | undefined;
  let wasAsked = false;
  for (;;) {
    const journal = await takeStore(folder.store);
    if (journal) return { journal, wasAsked };
    const now = clock.now();
    if (askedAt === undefined || now - askedAt >= ASK_AGAIN_MS || !wasAsked) {
      askedAt = now;
      const isHeard = await askPlane(io, folder, DOWN_PATH, { method: 'POST', signal }, () => Promise.resolve(true));
      if (isHeard && !wasAsked) io.out('Asked the control plane to end its pods and itself; waiting.\n');
      wasAsked ||= isHeard === true;
    }
    if (!wasAsked && now - began > PATIENCE_MS) {
      throw cliError('PLANE_SILENT', `${folder.path} is in use, and nobody answers`, [folder.path]);
    }
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/** The server is away, and what ends does not need it. */
const nowhere: Transport = () => Promise.reject(new KubeError('KUBE_UNREACHABLE', 'the control plane has stopped'));

/** How many there were. */
async function endPods(io: Io, folder: DataFolder, signal: AbortSignal): Promise<number> {
  const host = systemHost(io.env.PATH);
  const entries = (await host.files.list(folder.nodes)) ?? [];
  const names = entries.flatMap(({ name, kind }) => (kind === 'folder' ? [name] : []));
  if (names.length === 0) return 0;
  const { clock, random } = io.ports;
  const { drivers, remedy } = await detectDrivers({ clock, host }, join(folder.path, 'drivers'));
  const addresses = new AddressPool(host.files, random, folder.addresses);
  const nodes: LocalNode[] = [];
  for (const name of names) {
    const options = { transport: nowhere, addresses, images: hostImages, drivers, sandboxRemedy: remedy };
    const own = { ...options, facts: factsOf(name), folder: join(folder.nodes, name) };
    nodes.push(await openNode({ ...io.ports, host }, own, signal));
  }
  const count = nodes.reduce((sum, node) => sum + node.podKeys.length, 0);
  if (count > 0) io.out(`Ending ${plural(count, 'pod')}.\n`);
  await Promise.all(nodes.map((node) => node.endPods(signal)));
  return count;
}

/** Whoever has just given up the store may still be on his way out. */
async function openNode(ports: NodePorts, options: LocalNodeOptions, signal: AbortSignal): Promise<LocalNode> {
  const endsAt = ports.clock.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await LocalNode.open(ports, options);
    } catch (error) {
      if (asReeveError(error).code !== 'NODE_FOLDER_IN_USE' || ports.clock.now() >= endsAt) throw error;
      await ports.clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }
}

/** No more than a node must be told that takes no pods. */
const factsOf = (name: string): NodeFacts => ({
  name,
  labels: {},
  taints: [],
  capacity: {},
  address: '127.0.0.1',
  apiServer: undefined,
  hostPathRoots: [],
});
