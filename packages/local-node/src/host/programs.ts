/** Programs by their names, where people's shells find them. */
import { join } from 'node:path';
import type { Host } from './host.ts';

/** Files of that name in the order of PATH. A folder that we may not look into has none for us. */
export async function programsNamed(
  { files, path }: Pick<Host, 'files' | 'path'>,
  name: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of path.split(':')) {
    if (!folder.startsWith('/')) continue; // of whatever folder we were started in
    const candidate = join(folder, name);
    const kind = await files.kindOf(candidate).catch(() => undefined);
    if (kind === 'file' && !found.includes(candidate)) found.push(candidate);
  }
  return found;
}
