import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentedCertificate } from './presented.ts';

test('with what is no certificate nobody is asked, and nothing is thrown', async () => {
  const garbage = { cert: 'nothing', key: 'nothing', ca: 'nothing', servername: 'c.ns.svc' };
  assert.equal(await presentedCertificate({ host: '127.0.0.1', port: 1 }, garbage), undefined);
});
