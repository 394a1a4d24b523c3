/** Looks at the machine: tries drivers, ports and addresses, reads settings. Nothing of it stays. */
import { constants } from 'node:fs';
import { access, mkdtemp, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { detectDrivers, type Host } from '@reeve/local-node';
import { asReeveError, deadline, ReeveError } from '@reeve/runtime';
import type { Io } from '../io.ts';
import { findDataFolder } from '../up/data-folder.ts';
import { userCatalog } from '../up/images.ts';
import type { MachineFacts } from './diagnose.ts';

const ANSWER_MS = 2_000;
const ANOTHER_ADDRESS = '127.83.7.5';

export async function factsOf(
  io: Io,
  host: Host,
  { data, port }: { readonly data: string; readonly port: number | undefined },
): Promise<MachineFacts> {
  const { files } = host;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-doctor-'));
  try {
    const { reports, remedy } = await detectDrivers({ clock: io.ports.clock, host }, folder);
    const setting = async (path: string) => (await files.read(join('/proc/sys', path)))?.trim();
    return {
      platform: process.platform,
      nodeVersion: process.versions.node,
      isRoot: host.user.uid === 0,
      drivers: reports,
      sandboxRemedy: remedy,
      userNamespaces: {
        most: await setting('user/max_user_namespaces'),
        allowed: await setting('kernel/unprivileged_userns_clone'),
        restricted: await setting('kernel/apparmor_restrict_unprivileged_userns'),
      },
      port: port === undefined ? undefined : { number: port, state: await listening('127.0.0.1', port) },
      hasLoopback: (await listening(ANOTHER_ADDRESS, 0)) === 'free',
      data: { ...(await stateOf(io, data)), path: data, freeBytes: await freeBytesOf(data) },
      shell: await findOnPath(host, 'sh'),
      images: await imagesOf(io, host),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function listening(host: string, port: number): Promise<NonNullable<MachineFacts['port']>['state']> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EACCES' ? 'denied' : 'in use'));
    server.listen({ host, port }, () => server.close(() => resolve('free')));
  });
}

async function stateOf(io: Io, path: string): Promise<Pick<MachineFacts['data'], 'state' | 'note'>> {
  try {
    const folder = await findDataFolder(io.ports.files, path);
    const where = folder ? folder.path : await existingAncestor(path);
    const mayWrite = await access(where, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!mayWrite) return { state: 'unusable', note: `${where} may not be written` };
    if (!folder) return { state: 'none', note: '' };
    return { state: (await answers(io, folder.kubeconfig)) ? 'running' : 'there', note: '' };
  } catch (error) {
    return { state: 'unusable', note: asReeveError(error).message };
  }
}

async function answers(io: Io, kubeconfig: string): Promise<boolean> {
  using limit = deadline(io.ports.clock, ANSWER_MS, () => new ReeveError('PLANE_SILENT', 'no answer'));
  try {
    using connection = await io.connectApi({ file: kubeconfig });
    await connection.client.read('/version', { signal: limit.signal });
    return true;
  } catch {
    return false; // nobody there, or somebody else: no control plane of this folder
  }
}

/** The deepest folder on the way that is there. */
async function existingAncestor(path: string): Promise<string> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  return isThere || path === dirname(path) ? path : existingAncestor(dirname(path));
}

async function freeBytesOf(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(await existingAncestor(path));
    return bavail * bsize;
  } catch {
    return undefined; // some file systems do not tell
  }
}

async function imagesOf(io: Io, host: Host): Promise<MachineFacts['images']> {
  await using catalog = userCatalog({ ...io.ports, host }, io.env);
  return await catalog.report(new AbortController().signal);
}

async function findOnPath({ files, path }: Host, name: string): Promise<string | undefined> {
  for (const folder of path.split(':')) {
    const candidate = join(folder, name);
    // A folder that this user may not look into is not where he has it.
    if ((await files.kindOf(candidate).catch(() => undefined)) === 'file') return candidate;
  }
  return undefined;
}
