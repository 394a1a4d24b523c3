import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemHost } from '../../host/system-host.ts';
import { keepLinksWithin } from './links.ts';
import { FetchWork } from './work.ts';

test('links to the root of a machine lead below the folder, and never out of it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-links-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'root', 'etc'), { recursive: true });
  await mkdir(join(folder, 'root', 'lib'));
  for (const path of ['root/etc/x', 'outside', 'root/both', 'both']) await writeFile(join(folder, path), '');
  const links = { plain: '/etc/x', above: '/../outside', both: '/../../both', missing: '/etc/y', near: '../etc/x' };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, 'root', 'lib', name));
  const { signal } = new AbortController();
  await keepLinksWithin(new FetchWork({ host: systemHost(''), folder, environment: {}, signal }), 'root');
  const found: Record<string, string> = {};
  for (const name of Object.keys(links)) found[name] = await readlink(join(folder, 'root', 'lib', name));
  assert.deepEqual(found, { ...links, plain: '../etc/x', both: '../both' });
});
