/** What the images of pods stand for: programs on PATH or in the user's cache, and this program itself. */
import { homedir } from 'node:os';
import { Catalog, catalogEntries, type FetchNews, type Host, imageCacheFolder } from '@reeve/local-node';
import type { Ports } from '@reeve/runtime';
import { version } from '../version.ts';

export function userCatalog(
  ports: Ports & { readonly host: Host },
  environment: Readonly<Record<string, string | undefined>>,
  onFetch: (news: FetchNews) => void = () => undefined,
): Catalog {
  const [program = ''] = process.argv.slice(1);
  return new Catalog(ports, {
    entries: catalogEntries,
    folder: imageCacheFolder(environment, homedir()),
    environment,
    arch: process.arch,
    self: { command: [process.execPath, program], version },
    onFetch,
  });
}
