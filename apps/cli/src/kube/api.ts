/** The API that a command speaks to: found as its options, the environment and this machine say. */
import { dirname, resolve } from 'node:path';
import type { KubeClient, OpenSocket } from '@reeve/kube';
import { asReeveError, ReeveError } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { defaultDataFolder, findDataFolder } from '../up/data-folder.ts';
import { shellWord } from '../output/shell-word.ts';
import type { apiOptions } from './spec.ts';

export interface Api {
  readonly client: KubeClient;
  readonly socket: OpenSocket;
  /** Given, or that of the context. */
  readonly namespace: string;
}

type ApiLine = Pick<CommandLine<typeof apiOptions>, 'io' | 'values'>;

/** Does something with the API, and says where it was looked for if it is not there. */
export async function withApi<T>(line: ApiLine, work: (api: Api) => Promise<T>): Promise<T> {
  const { io, values } = line;
  const file = values.kubeconfig ?? (await localKubeconfig(line));
  using connection = await io.connectApi({
    ...(file !== undefined && { file }),
    ...(values.context !== undefined && { context: values.context }),
    ...(values.namespace !== undefined && { namespace: values.namespace }),
  });
  try {
    return await work(connection);
  } catch (error) {
    const { code, message, subjects } = asReeveError(error);
    const used = file ?? oneFile(io.env.KUBECONFIG);
    if (code !== 'KUBE_UNREACHABLE' || used === undefined) throw error;
    const up = await upLine(line, used);
    const local = up === undefined ? '' : `; \`${up}\` is not running`;
    throw new ReeveError('KUBE_UNREACHABLE', `${message} (by ${used}${local})`, { subjects, cause: error });
  }
}

/** The variable may name several, of which nobody can tell which one it was. */
const oneFile = (list: string | undefined): string | undefined =>
  list === undefined || list === '' || list.includes(':') ? undefined : list;

/** What would serve the API of a kubeconfig. Undefined: it is not that of a data folder. */
async function upLine({ io }: ApiLine, kubeconfig: string): Promise<string | undefined> {
  const path = resolve(kubeconfig);
  const folder = await findDataFolder(io.ports.files, dirname(path)).catch(() => undefined);
  if (folder?.kubeconfig !== path) return undefined;
  const isDefault = folder.path === resolve(defaultDataFolder(io.env));
  return isDefault ? 'reeve up' : `reeve up --data ${shellWord(folder.path)}`;
}

/** That of `reeve up` in its default folder, unless the environment names another one. Undefined: as kubectl has it. */
async function localKubeconfig({ io }: ApiLine): Promise<string | undefined> {
  if ((io.env.KUBECONFIG ?? '') !== '') return undefined;
  const { files } = io.ports;
  const folder = await findDataFolder(files, defaultDataFolder(io.env));
  return folder && (await files.read(folder.kubeconfig)) !== undefined ? folder.kubeconfig : undefined;
}
