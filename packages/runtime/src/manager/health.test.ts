import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controller } from '../controller/controller.ts';
import { Refusal } from './api-testing.ts';
import { answerHealth, type HealthSource } from './health.ts';
import { start, things } from './manager-testing.ts';
import { serveHealth } from './serve.ts';

const source = (ok: boolean): HealthSource => ({
  livez: () => [{ name: 'leader-election', ok: true }],
  readyz: () => [{ name: 'reflector-things', ok, note: 'listing' }],
  metrics: () => 'a 1\n',
});

test('probes are answered in the manner of Kubernetes: ok, or which check failed and why', () => {
  assert.deepEqual(answerHealth(source(true), 'GET', '/readyz'), {
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: 'ok\n',
  });
  assert.equal(answerHealth(source(true), 'GET', '/readyz?verbose').body, '[+]reflector-things ok: listing\n');
  const failed = answerHealth(source(false), 'GET', '/readyz');
  assert.equal(failed.status, 503);
  assert.equal(failed.body, '[-]reflector-things failed: listing\n');
  assert.equal(answerHealth(source(false), 'GET', '/livez').status, 200);
  assert.equal(answerHealth(source(true), 'GET', '/metrics').type, 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(answerHealth(source(true), 'GET', '/secrets').status, 404);
  assert.equal(answerHealth(source(true), 'POST', '/metrics').status, 405);
});

test('they are served on loopback unless told otherwise', async () => {
  await using server = await serveHealth(source(true));
  assert.equal(server.host, '127.0.0.1');
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  assert.equal(await response.text(), 'a 1\n');
});

test('a manager is ready when its reflectors have listed, and says which have not', async () => {
  const it = start([controller({ name: 'things', kind: things, reconcile: async () => undefined })]);
  it.api.admit = () => {
    throw new Refusal(403, 'Forbidden');
  };
  await it.advance(3_000);
  const { status, body } = answerHealth(it.manager, 'GET', '/readyz');
  assert.equal(status, 503);
  assert.match(body, /\[-\]reflector-things.test.dev failed: waiting, \d failures/);
  assert.equal(answerHealth(it.manager, 'GET', '/livez').status, 200, 'a restart would not help');
  it.api.admit = undefined;
  await it.advance(60_000);
  assert.equal(answerHealth(it.manager, 'GET', '/readyz').status, 200);
  assert.match(
    it.manager.metrics(),
    /informer_store_resource_version\{name="reeve",group="test.dev",version="v1",resource="things",scope=""\} 100/,
  );
  await it.end();
});

test('a manager whose term is over while its work goes on is not alive', async () => {
  const it = start([controller({ name: 'things', kind: things, reconcile: () => new Promise(() => undefined) })], {
    election: { namespace: 'ns', name: 'leader' },
    stopMs: 20_000,
  });
  it.api.put('things', 'deaf', {});
  await it.advance(1_000);
  it.api.admit = (_request, what) => {
    if (what.includes('leases')) throw new Refusal(503, 'ServiceUnavailable');
  };
  await it.advance(11_000);
  assert.equal(it.manager.livez()[0]?.ok, true, 'it may still end');
  await it.advance(19_900);
  await it.advance(200);
  await assert.rejects(it.running, { code: 'MANAGER_STUCK' });
});
