import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** In a mount namespace of its own, where everybody may mount something. */
const SCRIPT = `
  mount -t tmpfs none "$1/pod/a/mounted" && mkdir "$1/pod/a/mounted/folder" && echo kept >"$1/pod/a/mounted/folder/file"
  mount --bind "$1/other" "$1/pod/bound" && echo kept >"$1/pod/bound/file"
  "$2" --input-type=module -e "
    const { removeTree } = await import('$3');
    for (const path of ['$1/pod/a', '$1/pod/bound', '$1/pod']) await removeTree(path).catch(({ code }) => console.log(code));
  "
  cat "$1/pod/a/mounted/folder/file" "$1/other/file"`;

test('what is mounted in a folder is not removed with it, whichever disk it is of', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-held-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const path of ['pod/a/mounted', 'pod/bound', 'other']) await mkdir(join(folder, path), { recursive: true });
  const module = new URL('held-folder.ts', import.meta.url).href;
  const args = ['--mount', '--map-root-user', 'sh', '-c', SCRIPT, 'sh', folder, process.execPath, module];
  const { stdout } = await promisify(execFile)('unshare', args);
  assert.equal(stdout, 'EBUSY\nEBUSY\nEBUSY\nkept\nkept\n');
});
