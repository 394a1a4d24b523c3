/** PostgreSQL refuses to be root: whoever starts the control plane, pods of it run, in folders that are root's own. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { type Pod, pods } from '@reeve/local-node';
import { REEVE, run, until } from '@reeve/rig';
import { Machine, PATIENCE, readOr } from './plane-testing.ts';

const NOBODY = 65_534;
const servant = process.getuid?.() === 0 ? NOBODY : process.getuid?.();
const volumeClaims = resource<AnyObject>({
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
});

function database(name: string, image: string, more: Partial<Pod['spec']>) {
  const main = {
    name: 'main',
    image,
    env: [
      { name: 'PGDATA', value: '/srv/data/pg' },
      { name: 'POSTGRES_PASSWORD', value: 'secret' },
    ],
    volumeMounts: [{ name: 'data', mountPath: '/srv/data' }],
    ports: [{ name: 'sql', containerPort: 5432 }],
    readinessProbe: { tcpSocket: { port: 'sql' }, periodSeconds: 1 },
    lifecycle: { preStop: { exec: { command: ['sh', '-c', 'touch /srv/data/asked'] } } },
  };
  const annotations = { 'reeve.dev/relocatable': 'true' };
  return {
    metadata: { name, annotations },
    spec: { containers: [main], volumes: [{ name: 'data', emptyDir: {} }], ...more },
  };
}

const userOf = (pid: number) => Number(/^Uid:\t(\d+)/m.exec(readOr(`/proc/${pid}/status`))?.[1]);

async function play(machine: Machine, image: string): Promise<void> {
  const client = await machine.client();
  await client.resource(volumeClaims, 'default').create({
    metadata: { name: 'kept' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const api = client.resource(pods, 'default');
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'kept' } }];
  await api.create(database('by-itself', image, { volumes }));
  await api.create(database('as-told', 'postgres', { securityContext: { runAsUser: NOBODY } }));
  for (const name of ['by-itself', 'as-told']) {
    await until(
      `${name} is ready`,
      async () => {
        const { status } = (await api.find(name)) ?? {};
        const [main] = status?.containerStatuses ?? [];
        assert.equal(main?.lastState?.terminated, undefined, machine.said);
        return main?.ready === true;
      },
      PATIENCE,
    );
  }
  const servers = machine.processes().filter((pid) => readOr(`/proc/${pid}/comm`).startsWith('postgres'));
  assert.ok(servers.length > 1);
  assert.deepEqual([...new Set(servers.map(userOf))], [servant]);
}

test('postgres runs as somebody else under a control plane that root started, with its home and its program in reach', async (t) => {
  const machine = Machine.start(t);
  await machine.up('--nodes', '1');
  await play(machine, 'postgres:17');
  await machine.down('SIGTERM');
  await run(process.execPath, [REEVE, 'down', '--data', machine.data], { timeoutMs: 60_000 });
  const kept = join(machine.data, 'volumes');
  const asked = readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((path) => basename(path) === 'asked');
  const askers = asked.map((path) => statSync(join(kept, path)).uid);
  assert.deepEqual(askers, [servant], 'its hook, without a control plane');
});

test('also without mounts, where others may go to the data folder: secrets in it stay root’s', async (t) => {
  const machine = Machine.start(t);
  chmodSync(dirname(machine.data), 0o711);
  await machine.up('--nodes', '1', '--driver', 'plain');
  await play(machine, 'postgres');
  for (const entry of readdirSync(machine.data, { withFileTypes: true })) {
    const shared = entry.isDirectory() ? 0o011 : 0;
    assert.equal(statSync(join(machine.data, entry.name)).mode & 0o077 & ~shared, 0, entry.name);
  }
});
