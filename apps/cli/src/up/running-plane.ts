/** The control plane that has a data folder open, in whatever process it runs. */
import type { Streamed, StreamOptions } from '@reeve/kube';
import { asReeveError } from '@reeve/runtime';
import { cliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type DataFolder, findDataFolder } from './data-folder.ts';

/** The folder, which must be there. */
export async function existingFolder(io: Pick<Io, 'ports'>, path: string): Promise<DataFolder> {
  const folder = await findDataFolder(io.ports.files, path);
  if (folder) return folder;
  throw cliError('DATA_FOLDER', `${path} is no data folder: no control plane was ever started with it`, [path]);
}

/** Starting, ending, or gone since: asked again, it may answer. */
const PASSING: readonly string[] = [
  'KUBECONFIG_MISSING',
  'KUBE_UNREACHABLE',
  'KUBE_CONNECTION_LOST',
  'KUBE_TLS',
  'KUBE_TIMEOUT',
];

/**
 * Asks it for one of its own paths. Undefined: nobody answers at the moment.
 * @param use reads the answer, before the connection is closed.
 */
export async function askPlane<T>(
  io: Io,
  folder: DataFolder,
  path: string,
  options: StreamOptions,
  use: (answer: Streamed) => Promise<T>,
): Promise<T | undefined> {
  try {
    using connection = await io.connectApi({ file: folder.kubeconfig });
    using answer = await connection.client.stream(path, options);
    return await use(answer);
  } catch (error) {
    options.signal?.throwIfAborted();
    const { code, message } = asReeveError(error);
    if (PASSING.includes(code)) return undefined;
    if (!code.startsWith('KUBE')) throw error;
    throw cliError('PLANE_SILENT', `the control plane of ${folder.path} refuses: ${message}`, [folder.path]);
  }
}
