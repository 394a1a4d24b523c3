import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Certificates } from '../api/certificates.ts';
import { readsBy, type RedisPort } from '../api/port.ts';
import { CLIENT_PORT } from '../plan/children.ts';
import { podMembers } from '../plan/pods.ts';
import { testPods } from '../plan/pods-testing.ts';
import { clusterNodes, viewOfNodes } from '../plan/testing.ts';
import { reloadCertificates } from './tls-reload.ts';

/** Servers that show the old certificate until they are told their files again, once these are there. */
class Servers {
  readonly sent: string[] = [];
  readonly shows = new Map<string, string>();
  /** Whose volumes have not changed yet. */
  readonly late = new Set<string>();
  looks = 0;

  readonly redis: Pick<RedisPort, 'reads'> = {
    reads: readsBy(async ({ host }, args) => {
      const words = args.map(String);
      if (words[1] === 'GET') return [words[2] ?? '', `/tls/${words[2]}`];
      this.sent.push(`${host} ${words.join(' ')}`);
      if (!this.late.has(host)) this.shows.set(host, 'new');
      return 'OK';
    }),
  };

  readonly certificates: Pick<Certificates, 'presentedAt'> = {
    presentedAt: async ({ host }) => {
      this.looks++;
      return this.shows.get(host) ?? 'old';
    },
  };
}

const nodes = clusterNodes({ primaries: 3 }).map((node) => ({ ...node, port: CLIENT_PORT }));
const members = podMembers(testPods(nodes), viewOfNodes(nodes));

test('servers are told to read their files anew until they show the new certificate, and are then left alone', async () => {
  const servers = new Servers();
  const late = nodes[1]?.host ?? '';
  servers.late.add(late);
  const shown = new Map<string, string>([['uid-of-a-pod-that-is-gone', 'old']]);
  const access = { ca: '', cert: '', key: '', servername: '' };
  const turn = () =>
    reloadCertificates({
      members,
      redis: servers.redis as RedisPort,
      certificates: servers.certificates as Certificates,
      served: { access, fingerprint: 'new' },
      shown,
    });
  const [waiting] = await turn();
  assert.deepEqual([waiting?.reason, waiting?.subjects], ['CertificateReload', ['c-1']]);
  assert.equal(servers.sent.length, 3);
  assert.match(servers.sent[0] ?? '', /CONFIG SET tls-cert-file \/tls\/tls-cert-file tls-key-file .* tls-ca-cert-file/);
  servers.late.delete(late);
  assert.deepEqual(await turn(), []);
  assert.equal(servers.sent.length, 4, 'only the one that was late was told again');
  const { looks } = servers;
  assert.deepEqual(await turn(), []);
  assert.equal(servers.looks, looks, 'who was seen to show it is not looked at again');
  assert.deepEqual([...shown.keys()].sort(), ['uid-0', 'uid-1', 'uid-2']);
});
