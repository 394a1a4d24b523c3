/**
 * Backups in a folder: that of a data folder, or where a claim is mounted. A draft lies elsewhere, each in a folder of its own, and becomes a
 * backup by one rename.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Ids, ReeveError } from '@reeve/runtime';
import type { BackupDraft, BackupManifest, BackupName, BackupStore, DraftName } from '../../api/backup.ts';

const MANIFEST = 'manifest.json';
/** No backup is called so: names begin with a letter or a digit. */
const DRAFTS = '.drafts';
/** Names of Kubernetes: none leads out of the folder. */
const SEGMENT = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

export function folderBackups(root: string, ids: Ids): BackupStore {
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
      await rm(all, { recursive: true, force: true });
      const folder = join(all, ids.next('draft'));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return draftIn(folder, pathOf(name));
    },
    async drafts() {
      const found: DraftName[] = [];
      for (const namespace of await foldersIn(root)) {
        for (const cluster of await foldersIn(join(root, namespace))) {
          const all = join(root, namespace, cluster, DRAFTS);
          for (const own of await foldersIn(all)) {
            for (const id of await foldersIn(join(all, own)))
              found.push({ name: `${namespace}/${cluster}/${own}`, id });
          }
        }
      }
      return found;
    },
    async discard({ name, id }) {
      const { cluster, own } = placeOf(name);
      if (!SEGMENT.test(id)) throw new ReeveError('BACKUP_NAME', `${JSON.stringify(id)} is no name of a draft`);
      await discardFolder(join(cluster, DRAFTS, own, id));
    },
  };
}

/** Whatever else lies there is none of ours. */
async function foldersIn(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && SEGMENT.test(entry.name)).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function discardFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await rmdir(dirname(folder)).catch(() => undefined); // another draft of the same backup lies there
}

function draftIn(folder: string, target: string): BackupDraft {
  // Nobody else's: another one may be at the same backup by now.
  const discard = () => discardFolder(folder);
  return {
    write: (file, bytes) => writeDurably(join(folder, file), bytes),
    read: (file) => bytesOf(join(folder, file)),
    discard,
    async seal(manifest) {
      await writeDurably(join(folder, MANIFEST), [Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`)]);
      await syncFolder(folder);
      await rename(folder, target).catch((error: unknown) => {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
        throw new ReeveError('BACKUP_EXISTS', `there is a backup ${manifest.name} already`, {
          subjects: [manifest.name],
        });
      });
      await syncFolder(dirname(target));
      await discard();
    },
  };
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path)) yield chunk as Buffer;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeDurably(path: string, bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  for await (const chunk of bytes) await file.writeFile(chunk);
  await file.sync();
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}
