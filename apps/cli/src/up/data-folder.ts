/** The folder that a control plane keeps everything in: its store, keys, the state of its nodes, volumes. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Host, HostFiles } from '@reeve/local-node';
import { type Files, systemMakeFolder } from '@reeve/runtime';
import { cliError } from '../errors.ts';
import { fileProblem } from '../file-problem.ts';

/** Raised when an older program could not read what a newer one writes. */
const VERSION = 1;
const VERSION_FILE = 'version';

export interface DataFolder {
  readonly path: string;
  readonly store: string;
  /** Says who has the store; that somebody has it, its lock says. */
  readonly holder: string;
  readonly signingKey: string;
  readonly tokens: string;
  /** Key and certificate of the authority that clients trust. */
  readonly authority: string;
  /** The same of the API server. */
  readonly server: string;
  readonly kubeconfig: string;
  /** There while a restore is under way, or was when it died. */
  readonly restoring: string;
  /** Copies of the store that are on their way to somebody. */
  readonly snapshots: string;
  /** One folder for each node. */
  readonly nodes: string;
  readonly addresses: string;
  readonly volumes: string;
  /** Of data systems, by their operators. Those of the store are where people put them. */
  readonly backups: string;
}

/** The folder of a control plane; a new one, for this user alone, if there is none. */
export async function openDataFolder(
  files: Files,
  path: string,
  makeFolder: (path: string, mode: number) => Promise<void>,
): Promise<DataFolder> {
  const found = await findDataFolder(files, path);
  if (found) return found;
  await inFolder(path, async () => {
    await makeFolder(path, 0o700);
    await files.write(join(path, VERSION_FILE), `${VERSION}\n`);
  });
  return placesOf(path);
}

/** The same on this machine. Root's pods may run as somebody else, who must pass through it. */
export function openSystemFolder(files: Files, path: string, { uid }: Pick<Host['user'], 'uid'>): Promise<DataFolder> {
  return openDataFolder(files, path, (own, mode) => systemMakeFolder(own, uid === 0 ? 0o711 : mode));
}

/** Undefined: there is none. What is in it is left alone until it is known to be ours, and not of a newer program. */
export async function findDataFolder(files: Pick<Files, 'read'>, path: string): Promise<DataFolder | undefined> {
  const versionFile = join(path, VERSION_FILE);
  const text = await inFolder(path, () => files.read(versionFile));
  if (text === undefined) return undefined;
  const version = Number(text.trim());
  if (!Number.isInteger(version))
    throw cliError('DATA_FOLDER', `${versionFile} is no version of a data folder`, [path]);
  if (version > VERSION) {
    const message = `${path} was written by a newer reeve (version ${version} of the folder, this one knows ${VERSION})`;
    throw cliError('DATA_FOLDER', message, [path]);
  }
  return placesOf(path);
}

/** What the operating system has against it is told of the folder. */
async function inFolder<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Whoever reads is not told of what is missing: this is a place, like /proc, where nobody can make a folder.
    const isNoPlace = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isNoPlace ? 'no folder can be made there' : fileProblem(error);
    throw why === undefined ? error : cliError('DATA_FOLDER', `${path} cannot be used: ${why}`, [path]);
  }
}

function placesOf(path: string): DataFolder {
  const within = (name: string): string => join(path, name);
  return {
    path,
    store: within('store.db'),
    holder: within('holder'),
    signingKey: within('service-accounts.key'),
    tokens: within('tokens'),
    authority: within('authority.pem'),
    server: within('server.pem'),
    kubeconfig: within('kubeconfig'),
    restoring: within('restoring'),
    snapshots: within('snapshots'),
    nodes: within('nodes'),
    addresses: within('addresses'),
    volumes: within('volumes'),
    backups: within('backups'),
  };
}

/** Folders that a node keeps its pods in. Something else may lie beside them, which is nobody's to open or to remove. */
export async function nodeFolders(
  files: Pick<HostFiles, 'list' | 'kindOf'>,
  { nodes }: Pick<DataFolder, 'nodes'>,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name } of (await files.list(nodes)) ?? []) {
    if ((await files.kindOf(join(nodes, name, 'pods'))) === 'folder') names.push(name);
  }
  return names;
}

/** Where people who name no folder have theirs. */
export function defaultDataFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'reeve', 'local');
}
