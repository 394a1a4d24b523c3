/**
 * Backups in a folder: that of a data folder, or where a claim is mounted. A draft lies elsewhere, each in a folder of its own, and becomes a
 * backup by one rename. By one rename it is thrown away, too: whichever comes first, nobody seals what others are taking apart.
 */
import { createReadStream } from 'node:fs';
import * as system from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Ids, ReeveError } from '@reeve/runtime';
import type { BackupDraft, BackupManifest, BackupName, BackupStore, DraftName } from '../../api/backup.ts';

const MANIFEST = 'manifest.json';
/** No backup is called so: names begin with a letter or a digit. */
const DRAFTS = '.drafts';
/** Behind the id of a draft that is thrown away: whoever dies meanwhile leaves it to the next sweep. */
const DISCARDED = '.discarded';
/** Names of Kubernetes: none leads out of the folder. */
const SEGMENT = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** All by which a folder is changed, and by which others are seen to have changed it. */
export type FolderFiles = Pick<typeof system, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm' | 'rmdir'>;

export function folderBackups(root: string, ids: Ids, files: FolderFiles = system): BackupStore {
  const placeOf = (name: BackupName): { readonly cluster: string; readonly own: string } => {
    const [namespace = '', cluster = '', own = '', ...more] = name.split('/');
    if (![namespace, cluster, own].every((part) => SEGMENT.test(part)) || more.length > 0) {
      throw new ReeveError('BACKUP_NAME', `${JSON.stringify(name)} is no name of a backup`);
    }
    return { cluster: join(root, namespace, cluster), own };
  };
  const pathOf = (name: BackupName): string => {
    const { cluster, own } = placeOf(name);
    return join(cluster, own);
  };
  return {
    async manifest(name) {
      const text = await readIfThere(join(pathOf(name), MANIFEST));
      return text === undefined ? undefined : (JSON.parse(text) as BackupManifest);
    },
    read: (name, file) => bytesOf(join(pathOf(name), file)),
    async draft(name) {
      const { cluster, own } = placeOf(name);
      const all = join(cluster, DRAFTS, own);
      for (const id of await foldersIn(files, all)) await discardFolder(files, join(all, id));
      const folder = join(all, ids.next('draft'));
      await files.mkdir(folder, { recursive: true, mode: 0o700 });
      return draftIn(files, folder, pathOf(name));
    },
    async drafts() {
      const found: DraftName[] = [];
      for (const namespace of await foldersIn(files, root)) {
        for (const cluster of await foldersIn(files, join(root, namespace))) {
          const all = join(root, namespace, cluster, DRAFTS);
          for (const own of await foldersIn(files, all)) {
            for (const id of await foldersIn(files, join(all, own)))
              found.push({ name: `${namespace}/${cluster}/${own}`, id });
          }
        }
      }
      return found;
    },
    async discard({ name, id }) {
      const { cluster, own } = placeOf(name);
      if (!SEGMENT.test(id)) throw new ReeveError('BACKUP_NAME', `${JSON.stringify(id)} is no name of a draft`);
      await discardFolder(files, join(cluster, DRAFTS, own, id));
    },
  };
}

/** Whatever else lies there is none of ours. */
async function foldersIn(files: FolderFiles, path: string): Promise<readonly string[]> {
  try {
    const entries = await files.readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && SEGMENT.test(entry.name)).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function discardFolder(files: FolderFiles, folder: string): Promise<void> {
  const discarded = folder.endsWith(DISCARDED) ? folder : `${folder}${DISCARDED}`;
  if (folder !== discarded) await unlessGone(files.rename(folder, discarded));
  await files.rm(discarded, { recursive: true, force: true });
  await files.rmdir(dirname(folder)).catch(() => undefined); // another draft of the same backup lies there
}

/** Sealed, or thrown away by somebody else. */
async function unlessGone(done: Promise<void>): Promise<void> {
  await done.catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
}

function draftIn(files: FolderFiles, folder: string, target: string): BackupDraft {
  // Nobody else's: another one may be at the same backup by now.
  const discard = () => discardFolder(files, folder);
  return {
    write: (file, bytes) => writeDurably(files, join(folder, file), bytes),
    read: (file) => bytesOf(join(folder, file)),
    discard,
    async seal(manifest) {
      await writeDurably(files, join(folder, MANIFEST), [Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`)]);
      await syncFolder(files, folder);
      await files.rename(folder, target).catch((error: unknown) => {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
        throw new ReeveError('BACKUP_EXISTS', `there is a backup ${manifest.name} already`, {
          subjects: [manifest.name],
        });
      });
      await syncFolder(files, dirname(target));
      await discard();
    },
  };
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path)) yield chunk as Buffer;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await system.readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeDurably(
  files: FolderFiles,
  path: string,
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  await using file = await files.open(path, 'wx', 0o600);
  for await (const chunk of bytes) await file.writeFile(chunk);
  await file.sync();
}

async function syncFolder(files: FolderFiles, path: string): Promise<void> {
  await using folder = await files.open(path, 'r');
  await folder.sync();
}
