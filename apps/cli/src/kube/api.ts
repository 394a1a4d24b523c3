/** The API that a command speaks to: found as its options, the environment and this machine say. */
import type { KubeClient, OpenSocket } from '@reeve/kube';
import { asReeveError, ReeveError } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { defaultDataFolder, findDataFolder } from '../up/data-folder.ts';
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
    if (code !== 'KUBE_UNREACHABLE' || file === undefined) throw error;
    const local = values.kubeconfig === undefined ? '; `reeve up` is not running' : '';
    throw new ReeveError('KUBE_UNREACHABLE', `${message} (by ${file}${local})`, { subjects, cause: error });
  }
}

/** That of `reeve up` in its default folder, unless the environment names another one. Undefined: as kubectl has it. */
async function localKubeconfig({ io }: ApiLine): Promise<string | undefined> {
  if ((io.env.KUBECONFIG ?? '') !== '') return undefined;
  const { files } = io.ports;
  const folder = await findDataFolder(files, defaultDataFolder(io.env));
  return folder && (await files.read(folder.kubeconfig)) !== undefined ? folder.kubeconfig : undefined;
}
