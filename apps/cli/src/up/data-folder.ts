/** The folder that a control plane keeps everything in: its store, keys, the state of its nodes, volumes. */
import { join } from 'node:path';
import type { Files } from '@reeve/runtime';
import { cliError } from '../errors.ts';

/** Raised when an older program could not read what a newer one writes. */
const VERSION = 1;

export interface DataFolder {
  readonly path: string;
  readonly store: string;
  readonly signingKey: string;
  readonly tokens: string;
  readonly kubeconfig: string;
  /** One folder for each node. */
  readonly nodes: string;
  readonly addresses: string;
  readonly volumes: string;
}

/** What is in it is left alone until it is known to be ours, and not of a newer program. */
export async function openDataFolder(files: Files, path: string): Promise<DataFolder> {
  const versionFile = join(path, 'version');
  const text = await files.read(versionFile);
  if (text === undefined) await files.write(versionFile, `${VERSION}\n`);
  else {
    const version = Number(text.trim());
    if (!Number.isInteger(version))
      throw cliError('DATA_FOLDER', `${versionFile} is no version of a data folder`, [path]);
    if (version > VERSION) {
      const message = `${path} was written by a newer reeve (version ${version} of the folder, this one knows ${VERSION})`;
      throw cliError('DATA_FOLDER', message, [path]);
    }
  }
  return {
    path,
    store: join(path, 'store.db'),
    signingKey: join(path, 'service-accounts.key'),
    tokens: join(path, 'tokens'),
    kubeconfig: join(path, 'kubeconfig'),
    nodes: join(path, 'nodes'),
    addresses: join(path, 'addresses'),
    volumes: join(path, 'volumes'),
  };
}
