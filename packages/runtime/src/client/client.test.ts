import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transport, TransportRequest } from '@reeve/kube';
import { LeaseTerm } from '../lease/term.ts';
import { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import { settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { Budget, budgeted } from './budget.ts';
import { guarded } from './guard.ts';
import { measured } from './measured.ts';
import { classOf } from './traffic.ts';

const path = '/apis/test.dev/v1/namespaces/ns/things/a';

function wire(answer: (request: TransportRequest) => number | Promise<number> = () => 200) {
  const sent: TransportRequest[] = [];
  const transport: Transport = async (request) => {
    sent.push(request);
    return { status: await answer(request), headers: {}, body: Buffer.from('{}') };
  };
  return { sent, transport };
}

function termOf(clock: VirtualClock): LeaseTerm {
  return new LeaseTerm(clock, { holder: 'a', transitions: 3, renewMs: 10_000, renewedAt: clock.now() });
}

test('split brain: nothing but reads leaves the process when the lease was not renewed in time', async () => {
  const clock = new VirtualClock();
  const term = termOf(clock);
  const { sent, transport } = wire();
  const guardedTransport = guarded(transport, term, (token) => ({ 'x-term': token }));
  await guardedTransport({ method: 'PATCH', path, headers: { accept: 'json' } });
  assert.deepEqual(sent[0]?.headers, { accept: 'json', 'x-term': '3/a' });
  await clock.advance(10_001);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    await assert.rejects(guardedTransport({ method, path }), { code: 'NOT_LEADING' });
  }
  await guardedTransport({ method: 'GET', path });
  assert.equal(sent.length, 2);
  term.renewed(clock.now());
  await guardedTransport({ method: 'DELETE', path });
  term.end('lost-lease');
  await assert.rejects(guardedTransport({ method: 'DELETE', path }), { code: 'NOT_LEADING' });
});

test('split brain: a write that waits for its connection when the term ends is given up', async () => {
  const clock = new VirtualClock();
  const term = termOf(clock);
  const { sent, transport } = wire(() => new Promise(() => undefined));
  void guarded(transport, term)({ method: 'PATCH', path }).catch(() => undefined);
  await settled();
  assert.equal(sent[0]?.signal?.aborted, false);
  term.end('lost-lease');
  assert.equal(sent[0]?.signal?.aborted, true);
});

test('requests are told apart by what they are', () => {
  const lease = '/apis/coordination.k8s.io/v1/namespaces/ns/leases/x';
  assert.equal(classOf({ method: 'PUT', path: lease }), 'lease');
  assert.equal(classOf({ method: 'GET', path: `${lease}?a=b` }), 'lease');
  assert.equal(classOf({ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/ns/events' }), 'event');
  assert.equal(classOf({ method: 'DELETE', path }), 'delete');
  assert.equal(classOf({ method: 'PATCH', path }), 'write');
  assert.equal(classOf({ method: 'GET', path }), 'read');
});

test('429 / APF: each class has its budget; leases and deletes go first, whatever waits', async () => {
  const clock = new VirtualClock();
  const one = { perSecond: 1, burst: 1 };
  const budget = new Budget({ clock }, { lease: one, delete: one, write: one, read: one, event: one });
  const order: string[] = [];
  const has = (of: string) => order.includes(of);
  const take = (of: 'lease' | 'delete' | 'write' | 'event') => void budget.take(of).then(() => order.push(of));
  // Each class spends what is below it, too: then nothing is left for anybody.
  for (let i = 0; i < 5; i++) take('lease');
  await settled();
  assert.equal(order.length, 5);
  order.length = 0;
  for (let i = 0; i < 10; i++) take('write');
  take('event');
  await settled();
  assert.deepEqual(order, []);
  take('delete');
  take('lease');
  await clock.advance(1_000);
  assert.ok(has('delete') && has('lease'), order.join());
  assert.ok(order.filter((of) => of === 'write').length <= 3, order.join());
  await clock.advance(10_000);
  assert.equal(order.length, 13, order.join());
  assert.equal(clock.sleeping, 0);
});

test('429 / APF: whoever gives up waiting does not hold up those behind it', async () => {
  const clock = new VirtualClock();
  const one = { perSecond: 1, burst: 1 };
  const { sent, transport } = wire();
  const waited: number[] = [];
  const budget = new Budget({ clock }, { write: one, read: one, event: one });
  const limited = budgeted(transport, budget, (_request, ms) => waited.push(ms), clock);
  for (let i = 0; i < 3; i++) await limited({ method: 'PATCH', path });
  const stop = new AbortController();
  const given = limited({ method: 'PATCH', path, signal: stop.signal });
  const next = limited({ method: 'PATCH', path });
  stop.abort(new Error('enough'));
  await assert.rejects(given, { message: 'enough' });
  await clock.advance(1_100);
  await next;
  assert.equal(sent.length, 4);
  assert.deepEqual(waited.slice(0, 3), [0, 0, 0]);
  await limited({ method: 'GET', path, streaming: true });
  assert.equal(sent.length, 5, 'watches are not counted');
});

test('requests are measured under the names of client-go, also when they fail and when they are sent again', async () => {
  const clock = new VirtualClock();
  const metrics = new RuntimeMetrics();
  const { transport } = wire(({ method }) => {
    if (method === 'DELETE') throw new Error('reset');
    return 429;
  });
  const told = measured(transport, metrics, clock);
  const request = { method: 'PATCH', path } as const;
  await told(request);
  await told(request);
  await assert.rejects(told({ method: 'DELETE', path }));
  const text = metrics.registry.text();
  assert.match(text, /rest_client_requests_total\{code="429",method="PATCH"\} 2/);
  assert.match(text, /rest_client_requests_total\{code="<error>",method="DELETE"\} 1/);
  assert.match(text, /rest_client_request_retries_total\{method="PATCH"\} 1/);
  assert.match(text, /rest_client_request_duration_seconds_count\{verb="PATCH"\} 2/);
});
