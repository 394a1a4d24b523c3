/** A real data system in pods: three servers on one port, each on its own address, with every driver that works here. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { once, pathWithBubblewrap, type Program, type Reply, valkeyServer } from '@reeve/rig';
import { systemPorts } from '@reeve/runtime';
import { detectDrivers } from '../driver/detect.ts';
import { systemHost } from '../host/system-host.ts';
import type { Images } from '../image/images.ts';
import { eventually, NodeScene } from './node-testing.ts';

const PORT = 6379;

function imagesOf({ command, prefix, env }: Program): Images {
  return {
    resolve: async () => ({
      entrypoint: [command, ...prefix],
      command: [],
      env,
      path: [],
      // Connections leave from 127.0.0.1 otherwise, and the others would take that for its address.
      tell: (address) => ({ args: ['--bind', address, '--bind-source-addr', address], env: {} }),
    }),
  };
}

const folder = await mkdtemp(join(tmpdir(), 'reeve-drivers-'));
after(() => rm(folder, { recursive: true }));
const { drivers } = await detectDrivers({ ...systemPorts, host: systemHost(await pathWithBubblewrap()) }, folder);

for (const driver of drivers) {
  test(`${driver.name}: a cluster forms, survives a killed server and another node process`, async (t) => {
    const scene = await NodeScene.open(t);
    const images = imagesOf(await valkeyServer());
    const first = await scene.start({ images, drivers: [driver] });
    const names = ['v-0', 'v-1', 'v-2'];
    for (const name of names) {
      await scene.create(
        name,
        {
          volumes: [{ name: 'data', emptyDir: {} }],
          containers: [
            {
              name: 'main',
              image: 'valkey:9',
              args: ['--port', String(PORT), '--cluster-enabled', 'yes', '--dir', '$(DATA)', '--save', ''],
              env: [
                { name: 'DATA', value: '/srv/reeve/data' },
                { name: 'WORD', value: 'kept' },
              ],
              ports: [{ name: 'client', containerPort: PORT }],
              volumeMounts: [{ name: 'data', mountPath: '/srv/reeve/data' }],
              readinessProbe: { tcpSocket: { port: 'client' }, periodSeconds: 1 },
            },
          ],
        },
        { annotations: { 'reeve.dev/relocatable': 'true' } },
      );
    }
    const hosts: string[] = [];
    for (const name of names) hosts.push((await scene.ready(name)).status?.podIP ?? '');
    const call = (index: number, ...args: (string | number)[]): Promise<Reply> =>
      once({ host: hosts[index] ?? '', port: PORT }, {}, ...args);
    for (const [index, range] of ['0 5460', '5461 10922', '10923 16383'].entries()) {
      await call(index, 'CLUSTER', 'ADDSLOTSRANGE', ...range.split(' '));
      if (index > 0) await call(0, 'CLUSTER', 'MEET', hosts[index] ?? '', PORT);
    }
    const isWell = async () => {
      const states = await Promise.all(hosts.map((_host, index) => call(index, 'CLUSTER', 'INFO').catch(() => '')));
      return states.every(
        (text) => String(text).includes('cluster_state:ok') && String(text).includes('cluster_known_nodes:3'),
      );
    };
    await eventually(isWell, 'the cluster is well');
    // The node goes, another one comes; nobody notices.
    const runOf = async () => /run_id:(\w+)/.exec(String(await call(0, 'INFO', 'server')))?.[1];
    const before = await runOf();
    await first.stop();
    const { node } = await scene.start({ images, drivers: [driver] });
    await scene.ready('v-0');
    assert.equal(await runOf(), before);
    // It writes its title over its environment; commands get the one that it was begun with, and the volumes.
    const { signal } = new AbortController();
    const look = ['sh', '-c', 'env; ls -d "$DATA"/nodes.conf'];
    const { code, stdout } = await node.exec({ namespace: 'default', pod: 'v-0' }, look, { signal });
    assert.equal(code, 0);
    const lines = stdout.split('\n');
    assert.ok(lines.includes('WORD=kept'), stdout);
    assert.ok(lines.includes(`POD_IP=${hosts[0]}`), stdout);
    assert.ok(!stdout.includes('REEVE_BOXED'), stdout);
    // A killed server comes back with its data and its address.
    const pid = Number(/process_id:(\d+)/.exec(String(await call(1, 'INFO', 'server')))?.[1]);
    assert.ok(pid > 0);
    await node.exec({ namespace: 'default', pod: 'v-1' }, ['sh', '-c', `kill -9 ${pid}`], { signal });
    const restarted = await scene.until(
      'v-1',
      ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
      'the server was restarted',
    );
    assert.equal(restarted.status?.podIP, hosts[1]);
    await eventually(isWell, 'the cluster is well again');
    for (const name of names) await scene.delete(name);
    for (const name of names) await scene.gone(name);
    assert.deepEqual(scene.processes(), []);
  });
}
