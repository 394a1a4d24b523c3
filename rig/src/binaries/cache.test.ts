import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cached, cacheFolder } from './cache.ts';
import { parseVersion } from './program.ts';

// Within its own group: other files of the unit tests may share this process.
describe('the cache', () => {
  let folder = '';
  const inherited = process.env.REEVE_RIG_CACHE;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-cache-test-'));
    process.env.REEVE_RIG_CACHE = folder;
  });

  after(async () => {
    if (inherited === undefined) delete process.env.REEVE_RIG_CACHE;
    else process.env.REEVE_RIG_CACHE = inherited;
    await rm(folder, { recursive: true });
  });

  test('the cache lies where it was asked for, else with the user’s other caches', () => {
    assert.equal(cacheFolder({ REEVE_RIG_CACHE: '/a', XDG_CACHE_HOME: '/b' }), '/a');
    assert.equal(cacheFolder({ XDG_CACHE_HOME: '/b' }), '/b/reeve/rig');
  });

  test('two that build at once get one whole folder, and it is built no third time', async () => {
    let builds = 0;
    const build = (text: string) => async (building: string) => {
      builds += 1;
      await writeFile(join(building, 'first'), text);
      await writeFile(join(building, 'second'), text);
    };
    const [one, two] = await Promise.all([cached('both', build('a')), cached('both', build('b'))]);
    assert.equal(one, two);
    assert.equal(await readFile(join(one, 'first'), 'utf8'), await readFile(join(one, 'second'), 'utf8'));
    await cached('both', build('c'));
    assert.equal(builds, 2);
    assert.deepEqual(await readdir(folder), ['both'], 'nothing half-built is left');
  });

  test('a build that fails leaves nothing and is tried again', async () => {
    await assert.rejects(
      cached('broken', async (building) => {
        await writeFile(join(building, 'half'), '');
        throw new Error('no network');
      }),
      /no network/,
    );
    assert.ok(!(await readdir(folder)).some((name) => name.includes('broken')));
    const made = await cached('broken', (building) => writeFile(join(building, 'whole'), ''));
    assert.deepEqual(await readdir(made), ['whole']);
  });
});

test('versions are read from what the programs print', () => {
  assert.deepEqual(parseVersion('Valkey server v=9.1.2 sha=00000000:1 malloc=libc'), {
    product: 'valkey',
    version: '9.1.2',
  });
  assert.deepEqual(parseVersion('redis-cli 7.0.15\n'), { product: 'redis', version: '7.0.15' });
  assert.equal(parseVersion('something else 1.2.3'), undefined);
});
