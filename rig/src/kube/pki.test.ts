import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Authority, kubeconfigText } from './pki.ts';

test('certificates signed at once are whole and different; names, groups and dates are as asked', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-pki-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = await Authority.make(folder);
  const pairs = await Promise.all([
    authority.sign({ name: 'system:node:a/b', groups: ['system:nodes', 'more'] }),
    authority.sign({ name: 'server', altNames: ['DNS:localhost', 'IP:127.0.0.1'] }),
    authority.sign({ name: 'late', days: -1 }),
  ]);
  const [node, server, late] = pairs.map(({ cert }) => new X509Certificate(cert));
  const ca = new X509Certificate(authority.ca);
  assert.ok([node, server, late].every((one) => one?.verify(ca.publicKey) && !one.ca));
  assert.equal(node?.subject, 'O=system:nodes\nO=more\nCN=system:node:a/b');
  assert.ok(server?.checkIP('127.0.0.1') && server.checkHost('localhost') && !server.checkHost('elsewhere'));
  assert.ok(late && late.validToDate < new Date() && node && node.validToDate > new Date());
  assert.notEqual(late.serialNumber, node.serialNumber);
  assert.match(kubeconfigText('https://127.0.0.1:1', authority.ca, pairs[0] as never), /server: https:\/\/127/);
});
