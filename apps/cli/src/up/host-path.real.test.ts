/** Folders of the machine that pods may mount, by an option of `reeve up`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pods } from '@reeve/local-node';
import { REEVE, temporaryFolder, until } from '@reeve/rig';
import { Machine, PATIENCE } from './plane-testing.ts';

const podOf = (name: string, path: string) => ({
  metadata: { name, annotations: { 'reeve.dev/relocatable': 'true' } },
  spec: {
    restartPolicy: 'Never' as const,
    volumes: [{ name: 'of-machine', hostPath: { path } }],
    containers: [
      {
        name: 'main',
        image: 'host',
        command: ['sh', '-c', 'cat /srv/it/word >/srv/it/copy'],
        volumeMounts: [{ name: 'of-machine', mountPath: '/srv/it' }],
      },
    ],
  },
});

test('a pod mounts what lies below a folder that was allowed, and is told the option for others', async (t) => {
  const machine = Machine.start(t);
  const [allowed, other] = [temporaryFolder('reeve-allowed'), temporaryFolder('reeve-other')];
  mkdirSync(join(allowed, 'data'));
  writeFileSync(join(allowed, 'data', 'word'), 'hello');
  await machine.up('--nodes', '1', '--host-path', other, '--host-path', allowed);
  const api = (await machine.client()).resource(pods, 'default');
  await api.create(podOf('reads', join(allowed, 'data')));
  await until('it has ended', async () => (await api.get('reads')).status?.phase === 'Succeeded', PATIENCE);
  assert.equal(readFileSync(join(allowed, 'data', 'copy'), 'utf8'), 'hello');

  await machine.down('SIGTERM');
  await machine.up('--nodes', '1');
  const again = (await machine.client()).resource(pods, 'default');
  await again.create(podOf('refused', join(allowed, 'data')));
  const message = await until(
    'it says what it waits for',
    async () => (await again.get('refused')).status?.containerStatuses?.[0]?.state?.waiting?.message,
    PATIENCE,
  );
  assert.match(message, /does not lie below a folder that this node allows: start `reeve up` with --host-path FOLDER/);
});

test('what is no folder is refused at once', () => {
  const data = join(temporaryFolder('reeve-up'), 'data');
  const { status, stderr } = spawnSync(process.execPath, [REEVE, 'up', '--data', data, '--host-path', '/no/such/one'], {
    encoding: 'utf8',
  });
  assert.notEqual(status, 0);
  assert.match(stderr, /--host-path \/no\/such\/one is no folder/);
});
