/** Links of packages that are unpacked and not installed: what they call `/etc/x` lies below the folder that they were unpacked into. */
import { dirname, join, normalize, relative } from 'node:path';
import type { FetchWork } from './work.ts';

/** Links that lead to the root of a machine lead to the same place below `root`, if something is there. */
export async function keepLinksWithin(work: FetchWork, root: string): Promise<void> {
  const { files } = work;
  const visit = async (folder: string): Promise<void> => {
    for (const { name, kind } of (await files.list(work.path(folder))) ?? []) {
      const path = join(folder, name);
      if (kind === 'folder') await visit(path);
      if (kind !== 'link') continue;
      const target = await files.linkTarget(work.path(path));
      if (!target?.startsWith('/')) continue;
      const within = join(root, normalize(target)); // above the root of a machine there is nothing: `/..` is `/`
      if ((await files.kindOf(work.path(within))) === undefined) continue;
      await files.link(relative(dirname(path), within), work.path(path));
    }
  };
  await visit(root);
}
