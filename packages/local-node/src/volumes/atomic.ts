/**
 * Puts files into a folder so that a reader sees all of the old ones or all of the new ones: they lie in a folder of their own behind
 * the link `..data`, which is swapped.
 */
import { dirname, join } from 'node:path';
import type { HostFiles, Owner } from '../host/host.ts';
import type { Payload } from './payload.ts';

const DATA = '..data';

export async function writePayload(
  { files, owner }: { readonly files: HostFiles; readonly owner: Owner | undefined },
  folder: string,
  payload: Payload,
  name: string,
): Promise<void> {
  await files.makeFolder(folder, 0o755);
  const fresh = `..${name}`;
  await files.remove(join(folder, fresh));
  await files.makeFolder(join(folder, fresh), 0o755);
  for (const [path, { content, mode }] of payload.files) {
    const target = join(folder, fresh, path);
    await files.makeFolder(dirname(target), 0o755);
    await files.write(target, content, mode);
  }
  if (owner) await files.setOwner(join(folder, fresh), owner, true);
  const before = await files.linkTarget(join(folder, DATA));
  await files.link(fresh, join(folder, DATA));
  const tops = new Set([...payload.files.keys()].map((path) => path.split('/')[0] as string));
  for (const top of tops) {
    if ((await files.linkTarget(join(folder, top))) === undefined) await files.link(join(DATA, top), join(folder, top));
  }
  for (const { name: there, kind } of (await files.list(folder)) ?? []) {
    // Only what was put here: a folder or a file is where something else is mounted.
    if (kind === 'link' && there !== DATA && !tops.has(there)) await files.remove(join(folder, there));
  }
  if (before !== undefined && before !== fresh) await files.remove(join(folder, before));
}
