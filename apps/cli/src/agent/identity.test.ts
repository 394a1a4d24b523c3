import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKubeconfig, resolveContext } from '@reeve/kube';
import type { Files } from '@reeve/runtime';
import { findIdentity, readIdentity, writeIdentity } from './identity.ts';

class Disk implements Files {
  readonly texts = new Map<string, string>();
  /** Dies before so many writes have been made. */
  writes = Number.POSITIVE_INFINITY;

  async read(path: string): Promise<string | undefined> {
    return this.texts.get(path);
  }

  async write(path: string, text: string): Promise<void> {
    if (this.writes-- <= 0) throw new Error('killed');
    this.texts.set(path, text);
  }

  async append(): Promise<void> {
    throw new Error('nothing is appended');
  }

  async remove(path: string): Promise<void> {
    this.texts.delete(path);
  }
}

const member = { namespace: 'shop', member: 'db-1', account: 'reeve-agent-db-1', endpoint: '10.0.0.5:6379' };
const api = { server: 'https://api.example:6443', ca: 'PEM', tlsServerName: undefined, insecure: false };

test('what is written is read back, and the kubeconfig leads to the token beside it', async () => {
  const disk = new Disk();
  await writeIdentity(disk, '/id', { ...member, cluster: 'cache' }, 'secret', api);
  const identity = await readIdentity(disk, '/id');
  assert.deepEqual(identity, { ...member, cluster: 'cache', kubeconfig: '/id/kubeconfig', tokenFile: '/id/token' });
  const config = readKubeconfig(disk.texts.get(identity.kubeconfig) ?? '', identity.kubeconfig, '/id');
  const context = resolveContext(config);
  assert.deepEqual([context.cluster.server, context.cluster.ca], [api.server, { text: 'PEM' }]);
  assert.deepEqual([context.user.token, context.namespace], [{ file: '/id/token' }, 'shop']);
  assert.equal(disk.texts.get(identity.tokenFile), 'secret\n');
  for (const [path, text] of disk.texts) if (path !== '/id/token') assert.doesNotMatch(text, /secret/);
});

test('a folder that was not finished is no identity, wherever it stopped, and can be written again', async () => {
  for (let writes = 0; writes < 3; writes++) {
    const disk = new Disk();
    disk.writes = writes;
    await assert.rejects(writeIdentity(disk, '/id', member, 'secret', api), /killed/);
    await assert.rejects(readIdentity(disk, '/id'), { code: 'AGENT_IDENTITY' });
    disk.writes = Number.POSITIVE_INFINITY;
    await writeIdentity(disk, '/id', member, 'secret', api);
    assert.equal((await readIdentity(disk, '/id')).member, 'db-1');
  }
});

test('what cannot be understood is said, and nothing is guessed', async () => {
  const disk = new Disk();
  assert.equal(await findIdentity(disk, '/id'), undefined);
  const wrongs = [
    'no json',
    '{}',
    '{"version": 2}',
    '{"version": 1, "namespace": "shop"}',
    '{"version": 1, "member": 7}',
  ];
  for (const wrong of wrongs) {
    disk.texts.set('/id/member.json', wrong);
    await assert.rejects(findIdentity(disk, '/id'), { code: 'AGENT_IDENTITY' }, wrong);
  }
});
