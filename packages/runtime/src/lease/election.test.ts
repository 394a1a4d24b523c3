import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '@reeve/kube';
import { Refusal, TestApi } from '../manager/api-testing.ts';
import { rest } from '../manager/manager-testing.ts';
import { constantRandom, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { Election, type ElectionOptions } from './election.ts';
import { type Lease, leases } from './lease.ts';
import type { LeaseTerm } from './term.ts';

const where = { namespace: 'ns', name: 'leader' };

function setUp() {
  const api = new TestApi();
  const clock = new VirtualClock();
  const lease = () => api.object('leases', 'ns/leader', 'coordination.k8s.io') as Lease | undefined;
  const candidate = (identity: string, options: Partial<ElectionOptions> & { clock?: VirtualClock } = {}) => {
    const ports = { clock: options.clock ?? clock, random: constantRandom(0) };
    const client = new KubeClient({ ...ports, transport: api.transport });
    const election = new Election(ports, client.resource(leases, 'ns'), { ...where, identity, ...options });
    const stop = new AbortController();
    let term: LeaseTerm | undefined;
    let isLost: boolean | undefined;
    const run = async () => {
      term = await election.acquire(stop.signal);
      isLost = await election.keep(term, stop.signal);
    };
    const running = run().catch(() => undefined);
    return { election, stop, running, term: () => term, isLost: () => isLost };
  };
  const advance = async (ms: number, of = clock) => {
    await rest();
    await of.advance(ms);
    await rest();
  };
  return { api, clock, lease, candidate, advance };
}

test('split brain: one holds the lease, renews it every 2 s, and the other waits', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(0);
  const b = it.candidate('b');
  await it.advance(60_000);
  assert.equal(a.term()?.token, '1/a');
  assert.equal(b.term(), undefined);
  assert.equal(b.election.holder, 'a');
  assert.equal(a.term()?.isValid(), true);
  const renewals = it.api.writes.filter((write) => write.startsWith('PUT')).length;
  assert.equal(renewals, 30);
  a.stop.abort();
  b.stop.abort();
  await Promise.all([a.running, b.running]);
  assert.equal(it.clock.sleeping, 0);
});

test('split brain: a holder that stops is followed after 15 s on the other’s own clock, by a term of its own', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(0);
  const b = it.candidate('b');
  await it.advance(10_000);
  a.stop.abort(); // as if killed: nothing is given back
  await a.running;
  await it.advance(12_900);
  assert.equal(b.term(), undefined, 'its promise still holds');
  await it.advance(4_200);
  assert.equal(b.term()?.token, '2/b');
  assert.equal(it.lease()?.spec?.holderIdentity, 'b');
  assert.ok(a.term()?.isValid() === false, 'and the first has long given up by itself');
  b.stop.abort();
  await b.running;
});

test('split brain: the clocks of two machines are never compared', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(0);
  const far = new VirtualClock(9_000_000_000_000); // years ahead: every renewal looks ancient
  const b = it.candidate('b', { clock: far });
  for (let i = 0; i < 30; i++) {
    await it.advance(2_000);
    await it.advance(2_000, far);
  }
  assert.equal(b.term(), undefined);
  a.stop.abort();
  b.stop.abort();
  await Promise.all([a.running, b.running]);
});

test('split brain: a leader that cannot renew may not write after 10 s, and its term is over', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(0);
  await it.advance(4_000);
  it.api.admit = () => {
    throw new Refusal(503, 'ServiceUnavailable');
  };
  await it.advance(9_900);
  assert.equal(a.term()?.isValid(), true);
  assert.equal(a.isLost(), undefined);
  await it.advance(200);
  assert.equal(a.term()?.isValid(), false);
  assert.equal(a.isLost(), true);
  assert.match(String(a.term()?.signal.reason), /lost-lease/);
});

test('split brain: a renewal counts from before it was sent, and one that hangs does not hold the term up', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(0);
  it.api.answering = () => it.clock.sleep(5_000);
  await it.advance(7_500); // sent at 2 s, answered at 7 s
  assert.equal((a.term()?.validUntil ?? 0) - 1_000_000, 12_000);
  it.api.answering = undefined;
  it.api.admit = () => it.clock.sleep(3_600_000);
  await it.advance(20_000);
  assert.equal(a.isLost(), true);
});

test('split brain: a leader that finds another in its lease stops at once', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(3_000);
  const lease = it.lease() as Lease;
  const spec = { ...lease.spec, holderIdentity: 'b', leaseTransitions: 2 };
  it.api.kind('leases', 'coordination.k8s.io').keep({ ...lease, spec } as never);
  await it.advance(2_000);
  assert.equal(a.isLost(), true);
  assert.equal(await a.election.release(a.term() as LeaseTerm), false, 'nor does it give away what is not its own');
  assert.equal(it.lease()?.spec?.holderIdentity, 'b');
});

test('a renewal whose answer got lost is not taken for another leader', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(3_000);
  let lost = 0;
  it.api.answering = () => {
    if (lost++ === 0) throw new Error('connection reset');
  };
  await it.advance(20_000);
  assert.equal(a.isLost(), undefined);
  assert.equal(a.term()?.isValid(), true);
  a.stop.abort();
  await a.running;
});

test('a lease that is given back is taken at the next try; the same holder gets a new number', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(0);
  a.stop.abort();
  await a.running;
  assert.equal(await a.election.release(a.term() as LeaseTerm), true);
  assert.equal(it.lease()?.spec?.holderIdentity, '');
  assert.equal(a.term()?.isValid(), false);
  const again = it.candidate('a');
  await it.advance(2_000);
  assert.equal(again.term()?.token, '2/a');
  again.stop.abort();
  await again.running;
});

test('a term that is not ours any more is not given back', async () => {
  const it = setUp();
  const a = it.candidate('a');
  await it.advance(0);
  a.stop.abort();
  await a.running;
  const b = it.candidate('b');
  await it.advance(20_000);
  assert.equal(b.term()?.token, '2/b');
  assert.equal(await a.election.release(a.term() as LeaseTerm), false);
  assert.equal(it.lease()?.spec?.holderIdentity, 'b');
  b.stop.abort();
  await b.running;
});

test('times that cannot work together are refused', () => {
  const it = setUp();
  assert.throws(() => it.candidate('a', { renewMs: 20_000 }), { code: 'ELECTION_OPTIONS' });
});
