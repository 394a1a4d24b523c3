/** `reeve down`: ends all pods of a data folder, and the control plane that looks after them. */
import { join, resolve } from 'node:path';
import { KubeError, type Transport } from '@reeve/kube';
import { AddressPool, detectDrivers, type Host, LocalNode, type NodeFacts, systemHost } from '@reeve/local-node';
import { deadline } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { plural } from '../output/format.ts';
import { type DataFolder, defaultDataFolder, nodeFolders } from './data-folder.ts';
import { downLine } from './down-line.ts';
import { holderOf, tellHolder } from './holder.ts';
import { userCatalog } from './images.ts';
import { DOWN_PATH } from './own-paths.ts';
import { askPlane, existingFolder } from './running-plane.ts';
import type { downOptions } from './spec.ts';
import { takeStore } from './system-store-file.ts';
import { type Taken, waitForNode, waitForStore, type Waiting } from './wait-for-folder.ts';

/** A process that stands still takes connections, too. */
const ANSWER_MS = 5_000;

export async function run({ words, values, io, signal }: CommandLine<typeof downOptions>): Promise<ExitCode> {
  if (words.length > 0) throw usage(`reeve down takes no '${words[0]}'`);
  const data = values.data === undefined ? undefined : resolve(values.data);
  const folder = await existingFolder(io, data ?? resolve(defaultDataFolder(io.env)));
  const again = downLine(data);
  signal.addEventListener('abort', () => io.out(`Stopping. Pods may go on: \`${again}\` ends them.\n`), { once: true });
  const say = (line: string) => io.out(`${line}\n`);
  try {
    await endAll(io, folder, { clock: io.ports.clock, signal, path: folder.path, again, say });
    return exit.ok;
  } catch (error) {
    if (signal.aborted) return exit.interrupted;
    throw error;
  }
}

async function endAll(io: Io, folder: DataFolder, waiting: Waiting): Promise<void> {
  const host = systemHost(io.env.PATH);
  const { store, ...taken } = await waitForStore({
    ...waiting,
    take: () => takeStore(folder.store),
    holder: () => holderOf(host, folder),
    ask: () => ask(io, folder, waiting.signal),
  });
  try {
    await tellHolder(host, folder, 'down');
    // Also after somebody else did it: if he died over it, this finds what is left.
    const ended = await endPods(io, { host, folder }, waiting);
    waiting.say(`${summary(taken, ended)} Nothing was deleted: the next \`reeve up\` begins the pods anew.`);
  } finally {
    await store.close();
  }
}

function summary({ before, wasAsked }: Omit<Taken<unknown>, 'store'>, ended: number): string {
  const pods = ended > 0 ? `${plural(ended, 'pod')} ended` : undefined;
  if (before === 'plane')
    return `The control plane has stopped, and ${pods ?? (wasAsked ? 'all its pods have ended' : 'it had no pods')}.`;
  if (before === 'other down')
    return `The other \`reeve down\` has ended${pods === undefined ? ', and all pods' : `; ${pods} here`}.`;
  return `No control plane was running; ${pods ?? 'no pods either'}.`;
}

async function ask(io: Io, folder: DataFolder, signal: AbortSignal): Promise<boolean> {
  using limit = deadline(io.ports.clock, ANSWER_MS, () => cliError('PLANE_SILENT', 'no answer'), signal);
  try {
    const options = { method: 'POST' as const, signal: limit.signal };
    return (await askPlane(io, folder, DOWN_PATH, options, () => Promise.resolve(true))) === true;
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) return false;
    throw error;
  }
}

/** The server is away, and what ends does not need it. */
const nowhere: Transport = () => Promise.reject(new KubeError('KUBE_UNREACHABLE', 'the control plane has stopped'));

/** How many there were. */
async function endPods(
  io: Io,
  { host, folder }: { readonly host: Host; readonly folder: DataFolder },
  waiting: Waiting,
): Promise<number> {
  const names = await nodeFolders(host.files, folder);
  if (names.length === 0) return 0;
  const { clock, random } = io.ports;
  const { drivers, remedy } = await detectDrivers({ clock, host }, join(folder.path, 'drivers'));
  const addresses = new AddressPool(host.files, random, folder.addresses);
  // Nothing is started, but hooks run as whom their containers do.
  await using images = userCatalog({ ...io.ports, host }, io.env);
  const nodes: LocalNode[] = [];
  for (const name of names) {
    const options = { transport: nowhere, addresses, images, drivers, sandboxRemedy: remedy };
    const own = { ...options, facts: factsOf(name), folder: join(folder.nodes, name) };
    nodes.push(await waitForNode(waiting, () => LocalNode.open({ ...io.ports, host }, own)));
  }
  const count = nodes.reduce((sum, node) => sum + node.podKeys.length, 0);
  if (count > 0) io.out(`Ending ${plural(count, 'pod')}.\n`);
  await Promise.all(nodes.map((node) => node.endPods(waiting.signal)));
  return count;
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
