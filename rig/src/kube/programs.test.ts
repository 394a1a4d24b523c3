import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { installedProgram, isWanted, parseKubeVersion } from './programs.ts';

// Within its own group: other files of the unit tests may share this process.
describe('programs', () => {
  let folder = '';
  const inherited = process.env.KUBEBUILDER_ASSETS;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'reeve-programs-test-'));
    process.env.KUBEBUILDER_ASSETS = folder;
  });

  after(() => {
    if (inherited === undefined) delete process.env.KUBEBUILDER_ASSETS;
    else process.env.KUBEBUILDER_ASSETS = inherited;
    rmSync(folder, { recursive: true });
  });

  test('versions are read from what the programs print, and only the minor version decides', () => {
    assert.equal(parseKubeVersion('Kubernetes v1.36.3\n'), '1.36.3');
    assert.equal(parseKubeVersion('Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0\n'), '1.32.4');
    assert.equal(parseKubeVersion('etcd Version: 3.6.8\nGit SHA: Not provided\n'), '3.6.8');
    assert.equal(parseKubeVersion('Valkey server v=9.1.2'), undefined);
    assert.ok(isWanted('kube-apiserver', '1.36.0') && isWanted('etcd', '3.6.99'));
    assert.ok(!isWanted('kubectl', '1.32.4') && !isWanted('etcd', '3.5.21') && !isWanted('kube-apiserver', '1.3.6'));
  });

  test('a program of KUBEBUILDER_ASSETS is used if its version fits, else the next place is looked at', async () => {
    const asset = (text: string) => writeFileSync(join(folder, 'etcd'), `#!/bin/sh\necho '${text}'\n`, { mode: 0o755 });
    asset('etcd Version: 3.6.1');
    const program = await installedProgram('etcd');
    assert.deepEqual([program?.version, program?.origin], ['3.6.1', 'KUBEBUILDER_ASSETS']);
    for (const other of ['etcd Version: 3.5.1', 'something else']) {
      asset(other);
      assert.notEqual((await installedProgram('etcd'))?.origin, 'KUBEBUILDER_ASSETS', other);
    }
  });
});
