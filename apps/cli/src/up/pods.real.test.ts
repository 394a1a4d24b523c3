/** What pods of `reeve up` are made of: this program as an image, and the account that every pod has. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type KubeClient, systemKubePorts } from '@reeve/kube';
import { type Pod, type PodSpec, pods } from '@reeve/local-node';
import { REEVE, temporaryFolder, until } from '@reeve/rig';

const PATIENCE = { timeoutMs: 60_000 };

/** The pod when it has ended. */
async function ended(
  client: KubeClient,
  name: string,
  container: Partial<PodSpec['containers'][number]>,
): Promise<Pod> {
  const api = client.resource(pods, 'default');
  const spec = { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'host', ...container }] };
  await api.create({ metadata: { name }, spec });
  const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return until(`${name} has ended`, async () => api.get(name).then((pod) => isOver(pod) && pod), PATIENCE);
}

test('images of the catalog, and the token of the account default', async (t) => {
  const data = join(temporaryFolder('reeve-up-pods'), 'data');
  const plane = spawn(process.execPath, [REEVE, 'up', '--data', data, '--nodes', '1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [plane.stdout, plane.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  t.after(async () => {
    plane.kill('SIGKILL');
    if (plane.exitCode === null && plane.signalCode === null) await once(plane, 'exit');
  });
  await until('the control plane is there', () => said.includes('Ctrl-C'), PATIENCE);
  const connection = await connect(systemKubePorts(), { file: join(data, 'kubeconfig') });
  t.after(() => connection.close());
  const { client } = connection;

  const itself = await ended(client, 'itself', { image: 'reeve', args: ['--version'] });
  assert.equal(itself.status?.phase, 'Succeeded', JSON.stringify(itself.status));
  const look = 'cd "$REEVE_SERVICE_ACCOUNT" && test -s token && test -f ca.crt && test "$(cat namespace)" = default';
  const robot = await ended(client, 'robot', { command: ['sh', '-c', look] });
  assert.equal(robot.status?.phase, 'Succeeded', JSON.stringify(robot.status));
  assert.equal(robot.spec?.serviceAccountName, 'default');

  await client.resource(pods, 'default').create({
    metadata: { name: 'unknown' },
    spec: { containers: [{ name: 'main', image: 'nginx:1.29' }] },
  });
  const refused = await until(
    'it says what there is',
    async () => {
      const { status } = await client.resource(pods, 'default').get('unknown');
      return status?.containerStatuses?.[0]?.state?.waiting?.message;
    },
    PATIENCE,
  );
  assert.match(refused, /image "nginx:1\.29" is not known here; there are .*valkey/);
});
