/** The build with a Go of our own: a script that does what the test says. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { buildKey, builtPrograms, KUBE_VERSION } from './build.ts';

// Within its own group: other files of the unit tests may share this process.
describe('the build', () => {
  const inherited = { PATH: process.env.PATH, REEVE_RIG_CACHE: process.env.REEVE_RIG_CACHE };
  let folder = '';
  let cache = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'reeve-build-test-'));
    cache = join(folder, 'cache');
    process.env.PATH = `${join(folder, 'bin')}:/usr/bin:/bin`;
    process.env.REEVE_RIG_CACHE = cache;
  });

  afterEach(() => {
    for (const [name, value] of Object.entries(inherited)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true });
  });

  /** Counts its builds in a file; the last folder named with -o is where programs go. */
  function goThat(builds: string): void {
    mkdirSync(join(folder, 'bin'));
    const script = `#!/bin/sh
[ "$1" = env ] && { echo go9.9.9; exit; }
echo "$CGO_ENABLED $*" >> ${join(folder, 'calls')}
while [ "$1" != -o ]; do shift; done
${builds}
`;
    writeFileSync(join(folder, 'bin', 'go'), script, { mode: 0o755 });
  }

  const calls = (): readonly string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');

  test('programs are built once, whoever asks at the same time, and what a killed builder left is removed', async () => {
    goThat('echo k8s.io/some/package >&2; for p in kube-apiserver kubectl server; do echo > "$2$p"; done');
    const expected = (await builtPrograms()).replace(`${cache}/`, '');
    assert.match(expected, new RegExp(`^kube-${KUBE_VERSION}-[0-9a-f]{16}$`));
    rmSync(join(cache, expected), { recursive: true });
    mkdirSync(join(cache, `.building-${expected}-killed`, 'half'), { recursive: true });
    writeFileSync(join(folder, 'calls'), '');
    const [one, two] = await Promise.all([builtPrograms(), builtPrograms()]);
    assert.equal(one, two);
    assert.equal(calls().length, 1);
    assert.match(calls()[0] ?? '', /^0 build -v -mod=readonly .*-X k8s\.io\/component-base\/version\.gitVersion=v1\./);
    assert.deepEqual(readdirSync(cache), [expected]);
    assert.deepEqual(readdirSync(one).sort(), ['etcd', 'kube-apiserver', 'kubectl']);
    await builtPrograms();
    assert.equal(calls().length, 1);
  });

  test('a build that fails says what Go said, and leaves nothing', async () => {
    goThat('echo "go: k8s.io/kubernetes@v1.36.3: no such host" >&2; exit 1');
    await assert.rejects(builtPrograms(), /go build ended with 1: go: k8s\.io\/kubernetes@v1\.36\.3: no such host/);
    assert.deepEqual(readdirSync(cache), []);
  });

  test('without Go the error says what to install', async () => {
    process.env.PATH = join(folder, 'empty');
    await assert.rejects(builtPrograms(), /neither in KUBEBUILDER_ASSETS nor on PATH, and Go.*install one of these/);
  });
});

test('a build is another one when a module, Go or a border between files changes', () => {
  const keys = [
    buildKey('go1.26.8', ['module a', 'sum']),
    buildKey('go1.26.9', ['module a', 'sum']),
    buildKey('go1.26.8', ['module b', 'sum']),
    buildKey('go1.26.8', ['module as', 'um']),
  ];
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(buildKey('go1.26.8', ['module a', 'sum']), keys[0]);
});
