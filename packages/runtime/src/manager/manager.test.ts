import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransportRequest } from '@reeve/kube';
import { controller } from '../controller/controller.ts';
import { byImpersonation, FENCE_EXTRA, probeName } from '../lease/fence.ts';
import type { Lease } from '../lease/lease.ts';
import { known } from '../plan/known.ts';
import { settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { requeueAfter } from '../queue/verdict.ts';
import type { Cancelled } from '../worker/cancelled.ts';
import { Refusal, TestApi } from './api-testing.ts';
import { metricOf, parts, rest, start, things } from './manager-testing.ts';

const election = { namespace: 'ns', name: 'leader' };
const lease = (api: TestApi) => api.object('leases', 'ns/leader', 'coordination.k8s.io') as Lease | undefined;

function stamping(name = 'things', everyMs = 1_000) {
  return controller({
    name,
    kind: things,
    reconcile: async ({ apply, term }) => {
      await apply(
        parts,
        { metadata: { name: `by-${term.holder}` }, spec: { number: term.transitions } },
        { owned: false },
      );
      return requeueAfter(everyMs);
    },
  });
}

/** What the policy in the server does, with a Lease that may lag behind. */
function fenced(api: TestApi, seen: () => Lease | undefined = () => lease(api)) {
  api.admit = (request: TransportRequest, what) => {
    const isFenced = what.includes('test.dev/') || what.includes(`configmaps/${probeName(election)}`);
    if (request.method === 'GET' || !isFenced) return;
    const { holderIdentity, leaseTransitions } = seen()?.spec ?? {};
    if (request.headers?.[`impersonate-extra-${FENCE_EXTRA}`] === `${leaseTransitions}/${holderIdentity}`) return;
    throw new Refusal(403, 'Forbidden', 'another leads');
  };
}

const fencing = { carrier: byImpersonation({ username: 'system:serviceaccount:ns:reeve' }), settleMs: 0 };

test('split brain: of two managers one works; the other is warm, and goes on where the first was killed', async () => {
  const api = new TestApi();
  const clock = new VirtualClock();
  api.put('things', 'a', {});
  const one = start([stamping()], { election: { ...election, identity: 'one' } }, { api, clock });
  await one.advance(0);
  const two = start([stamping()], { election: { ...election, identity: 'two' } }, { api, clock });
  await two.advance(5_000);
  assert.equal(one.manager.phase, 'leading');
  assert.equal(two.manager.phase, 'standby');
  assert.equal(two.manager.leader, 'one');
  assert.ok(
    two.manager.readyz().every(({ ok }) => ok),
    'its caches are there already',
  );
  assert.ok(!api.object('parts', 'ns/by-two'));
  assert.match(one.manager.metrics(), /leader_election_master_status\{name="leader"\} 1/);
  assert.match(two.manager.metrics(), /leader_election_master_status\{name="leader"\} 0/);
  const lists = api.kind('things').requests.length;
  await one.end();
  await two.advance(5_000);
  assert.equal(two.manager.phase, 'leading');
  assert.ok(api.object('parts', 'ns/by-two'));
  assert.equal(api.kind('things').requests.length, lists, 'without a new list');
  await two.end();
});

test('split brain: a leader that loses its lease cancels its work, stands by, and may lead again in a term of its own', async () => {
  const reasons: string[] = [];
  const it = start(
    [
      controller({
        name: 'things',
        kind: things,
        reconcile: async ({ signal, term, status, api }) => {
          if (term.transitions > 1) return void (await status({ size: term.transitions }));
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          reasons.push((signal.reason as Cancelled).reason);
          const write = () => api.resource(things, 'ns').apply({ metadata: { name: 'a' }, spec: { size: 9 } });
          await write().catch(({ code }: { code: string }) => reasons.push(code));
        },
      }),
    ],
    { election: { ...election, identity: 'one' } },
  );
  it.api.put('things', 'a', {});
  await it.advance(1_000);
  it.api.admit = (_request, what) => {
    if (what.includes('leases')) throw new Refusal(503, 'ServiceUnavailable');
  };
  await it.advance(11_000);
  assert.deepEqual(reasons, ['lost-lease', 'NOT_LEADING']);
  assert.equal(it.manager.phase, 'standby');
  it.api.admit = undefined;
  await it.advance(20_000);
  assert.equal(it.manager.phase, 'leading');
  assert.deepEqual((it.api.object('things', 'ns/a') as { status?: object }).status, { size: 2 });
  await it.end();
});

test('split brain: a leader of the past that was paused with a write in its hands cannot land it', async () => {
  const api = new TestApi();
  api.put('things', 'a', {});
  const [slow, clock] = [new VirtualClock(), new VirtualClock()];
  // The pause: what the first process is about to send stays in its hands, and its clock stands still.
  let isPaused = false;
  let resume: () => void = () => undefined;
  const paused = new Promise<void>((resolve) => (resume = resolve));
  const transport: typeof api.transport = async (request) => {
    if (isPaused) await paused;
    return api.transport(request);
  };
  fenced(api);
  const one = start(
    [stamping()],
    { election: { ...election, identity: 'one' }, fencing, transport },
    { api, clock: slow },
  );
  await one.advance(3_000);
  assert.ok(api.object('parts', 'ns/by-one'));
  isPaused = true;
  api.kind('parts').drop('ns/by-one');
  await one.advance(1_500); // it has decided to write, and is stopped before the socket
  const two = start([stamping()], { election: { ...election, identity: 'two' }, fencing }, { api, clock });
  await two.advance(25_000);
  assert.equal(lease(api)?.spec?.holderIdentity, 'two');
  assert.ok(api.object('parts', 'ns/by-two'));
  const before = api.writes.length;
  isPaused = false;
  resume();
  await rest();
  const late = api.writes.slice(before).filter((write) => write.includes('by-one'));
  assert.equal(late.length, 1, 'the write did reach the server');
  assert.equal(api.object('parts', 'ns/by-one'), undefined, 'which refused it');
  await one.end();
  await two.end();
});

test('split brain: a new leader does not act before the server’s policy has seen its lease, and its fellows have had time', async () => {
  const api = new TestApi();
  api.put('things', 'a', {});
  let seen: Lease | undefined;
  fenced(api, () => seen);
  const it = start(
    [stamping()],
    { election: { ...election, identity: 'one' }, fencing: { ...fencing, settleMs: 1_000 } },
    { api },
  );
  await it.advance(3_000);
  assert.equal(lease(api)?.spec?.holderIdentity, 'one');
  assert.notEqual(it.manager.phase, 'leading', 'the policy still believes in the leader before');
  assert.ok(it.lines.some((line) => line.startsWith('the fence does not stand')));
  seen = lease(api);
  await it.advance(900);
  assert.ok(!api.object('parts', 'ns/by-one'));
  await it.advance(400);
  assert.ok(api.object('parts', 'ns/by-one'));
  await it.end();
});

test('split brain: with fencing asked for and no policy in force nothing is written, and that is told', async () => {
  const it = start([stamping()], { election, fencing });
  it.api.put('things', 'a', {});
  await it.advance(10_000);
  assert.ok(it.lines.some((line) => line.includes('FENCE_OPEN')));
  assert.ok(!it.api.writes.some((write) => write.includes('parts')));
  await it.end();
  assert.equal(lease(it.api)?.spec?.holderIdentity, '');
});

test('shutdown: intake stops, signals are aborted with the reason, work is waited for, the lease is given back last', async () => {
  const order: string[] = [];
  const it = start(
    [
      controller({
        name: 'things',
        kind: things,
        concurrency: 2,
        reconcile: async ({ key, signal, status }) => {
          if (key === 'ns/late') order.push('taken after the stop');
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          order.push(`${key} ${(signal.reason as Cancelled).reason}`);
          await it.clock.sleep(5_000); // ends in its own time
          await status({ size: 1 }).catch(({ reason }: Cancelled) => order.push(`${key} ended: ${reason}`));
        },
      }),
    ],
    { election: { ...election, identity: 'one' } },
  );
  for (const name of ['a', 'b']) it.api.put('things', name, {});
  await it.advance(1_000);
  it.stop.abort();
  await rest();
  assert.equal(it.manager.readyz()[0]?.ok, false, 'no longer ready');
  it.api.put('things', 'late', {});
  it.api.answering = (what) =>
    void (what.includes('leases') && order.push(`lease ${lease(it.api)?.spec?.holderIdentity}`));
  await it.advance(5_100);
  await it.running;
  const released = order.indexOf('lease ');
  const work = order.filter((line) => !line.startsWith('lease'));
  assert.deepEqual(work.slice(0, 2).sort(), ['ns/a shutdown', 'ns/b shutdown']);
  assert.deepEqual(work.slice(2).sort(), ['ns/a ended: shutdown', 'ns/b ended: shutdown']);
  assert.ok(order.includes('lease one'), 'renewed while work was waited for');
  assert.equal(released, order.length - 1, order.join());
  assert.equal(it.clock.sleeping, 0);
  assert.equal(it.api.kind('things').open, 0);
});

test('shutdown: work that does not end is named, and the lease is left to expire', async () => {
  const it = start([controller({ name: 'things', kind: things, reconcile: () => new Promise(() => undefined) })], {
    election: { ...election, identity: 'one' },
    stopMs: 10_000,
  });
  it.api.put('things', 'deaf', {});
  await it.advance(1_000);
  it.stop.abort();
  await it.advance(11_000);
  await assert.rejects(it.running, { code: 'MANAGER_STUCK', subjects: ['ns/deaf'] });
  assert.equal(lease(it.api)?.spec?.holderIdentity, 'one');
});

test('shutdown: an observer’s update that does not end is named, and has a bound', async () => {
  let ignored: AbortSignal | undefined;
  const observing = controller({
    name: 'things',
    kind: things,
    reconcile: async () => undefined,
    observe: {
      everyMs: 1_000,
      timeoutMs: 60_000,
      observe: async () => 'seen',
      update: (_seen, _object, _api, signal) => {
        ignored = signal;
        return new Promise(() => undefined);
      },
    },
  });
  const it = start([observing], { election: { ...election, identity: 'one' }, stopMs: 10_000 });
  it.api.put('things', 'deaf', {});
  await it.advance(2_000);
  assert.equal(ignored?.aborted, false);
  it.stop.abort();
  await it.advance(11_000);
  assert.equal(ignored?.aborted, true);
  await assert.rejects(it.running, { code: 'MANAGER_STUCK', subjects: ['ns/deaf'] });
  assert.equal(lease(it.api)?.spec?.holderIdentity, 'one', 'left to expire: what goes on may still do something');
});

test('shutdown: long work of a plan that does not end is named, too', async () => {
  const working = controller({
    name: 'things',
    kind: things,
    plan: {
      observe: async () => known(0),
      plan: (_object, _observed, _now, inFlight) => ({
        commands: inFlight.length > 0 ? [] : [{ type: 'grow', why: 'it is small' }],
        wakeAt: Number.MAX_SAFE_INTEGER,
      }),
      types: ['grow'],
      executors: {
        types: ['grow'],
        of: () => ({
          start: async () => ({ progress: () => undefined, settled: new Promise<never>(() => undefined) }),
        }),
      },
    },
  });
  const it = start([working], { election: { ...election, identity: 'one' }, stopMs: 10_000 });
  it.api.put('things', 'deaf', {});
  await it.advance(2_000);
  it.stop.abort();
  await it.advance(11_000);
  await assert.rejects(it.running, { code: 'MANAGER_STUCK', subjects: ['ns/deaf'] });
  assert.equal(lease(it.api)?.spec?.holderIdentity, 'one');
});

test('thundering herd at restart: kinds are listed two to four at a time, and shared between controllers', async () => {
  const api = new TestApi();
  const kinds = ['k1', 'k2', 'k3', 'k4', 'k5'];
  for (const kind of kinds) api.kind(kind).ignoresStreaming = true; // no list ends by itself
  const controllers = kinds.flatMap((plural) =>
    [1, 2].map((i) =>
      controller({
        name: `${plural}-${i}`,
        kind: { ...things, plural, kind: plural },
        reconcile: async () => undefined,
      }),
    ),
  );
  const it = start(controllers, { syncs: 2 }, { api });
  await it.advance(0);
  assert.equal(kinds.filter((kind) => api.kind(kind).requests.length > 0).length, 2);
  for (const kind of kinds) api.kind(kind).ignoresStreaming = false;
  await it.advance(80_000);
  assert.ok(it.manager.readyz().every(({ ok }) => ok));
  for (const kind of kinds) assert.equal(api.kind(kind).open, 1, 'one watch for both');
  await it.end();
  assert.throws(() => start([], { syncs: 9 }), { code: 'CONTROLLER_OPTIONS' });
});

test('a new leader looks at everything once, whatever happened before it led', async () => {
  const api = new TestApi();
  const clock = new VirtualClock();
  for (let i = 0; i < 5; i++) api.put('things', `t${i}`, {});
  const runs: string[] = [];
  const seeing = controller({ name: 'things', kind: things, reconcile: async ({ key }) => void runs.push(key) });
  const one = start([stamping()], { election: { ...election, identity: 'one' } }, { api, clock });
  await one.advance(0);
  const two = start([seeing], { election: { ...election, identity: 'two' } }, { api, clock });
  await two.advance(3_000);
  assert.deepEqual(runs, []);
  await one.end();
  await two.advance(4_000);
  assert.deepEqual(runs.sort(), ['ns/t0', 'ns/t1', 'ns/t2', 'ns/t3', 'ns/t4']);
  await two.end();
});

test('one bad object: an index that throws for it concerns neither the process nor the objects beside it', async () => {
  const runs: string[] = [];
  const it = start([
    controller({
      name: 'things',
      kind: things,
      indexes: {
        size: ({ metadata, spec }) => {
          if (spec?.size === undefined) throw new TypeError(`${metadata.name} has no size`);
          return [String(spec.size)];
        },
      },
      reconcile: async ({ key }) => void runs.push(key),
    }),
  ]);
  it.api.put('things', 'bad', {});
  it.api.put('things', 'good', { size: 1 });
  await it.advance(100);
  it.api.put('things', 'bad', { paused: true });
  it.api.put('things', 'late', { size: 2 });
  await it.advance(1_000);
  assert.deepEqual(runs.sort(), ['ns/bad', 'ns/bad', 'ns/good', 'ns/late']);
  const told = it.lines.filter((line) => line.startsWith('an object could not be taken in'));
  assert.equal(told.length, 2, 'once for each state');
  assert.match(told[0] ?? '', /"key":"ns\/bad","what":"index size","message":"bad has no size"/);
  assert.match(
    it.manager.readyz().find(({ name }) => name.startsWith('reflector'))?.note ?? '',
    /3 objects, 1 of which/,
  );
  assert.match(it.manager.metrics(), /reeve_cache_defects\{[^}]*\} 1/);
  await it.end();
});

test('a reflector that fails by itself begins anew, ever more slowly; meanwhile the process is not ready', async () => {
  const runs: string[] = [];
  const failures: string[] = [];
  const seeing = controller({
    name: 'things',
    kind: things,
    reconcile: async ({ key }) => void runs.push(key),
    gone: async ({ key }) => void runs.push(`${key} gone`),
  });
  const it = start([seeing], {
    log: (message, fields) => {
      // What is thrown in the middle of the reflector's own work is nothing that it could take for an answer of the server.
      if (message === 'a list or watch failed') throw new Error('no room for logs');
      if (message.startsWith('a reflector failed')) failures.push(`${fields?.message} ${fields?.pauseMs}`);
    },
  });
  it.api.put('things', 'a', {});
  await it.advance(100);
  const server = it.api.kind('things');
  server.refusals.push(...Array.from({ length: 100 }, () => new Error('refused')));
  server.cut();
  const reflector = () => it.manager.readyz().find(({ name }) => name.startsWith('reflector'));
  await it.advance(20_000);
  assert.deepEqual(
    failures.slice(0, 4),
    [1, 2, 4, 8].map((seconds) => `no room for logs ${seconds * 1_000}`),
  );
  assert.deepEqual(reflector(), { name: 'reflector-things.test.dev', ok: false, note: 'no room for logs' });
  server.refusals.length = 0;
  it.api.delete('things', 'a');
  it.api.put('things', 'b', {});
  await it.advance(61_000);
  assert.equal(reflector()?.ok, true);
  assert.deepEqual(runs.sort(), ['ns/a', 'ns/a gone', 'ns/b'], 'nothing that happened meanwhile is lost');
  await it.end();
});

test('controllers come and go while the manager runs, and the watches that only they needed go with them', async () => {
  const it = start([stamping()]);
  it.api.put('things', 'a', {});
  it.api.put('parts', 'p', {});
  await it.advance(1_500);
  const runs: string[] = [];
  let reason = '';
  it.manager.add(
    controller({
      name: 'parts',
      kind: parts,
      owns: [{ ...parts, plural: 'pieces', kind: 'Piece' }],
      reconcile: async ({ key, signal }) => {
        runs.push(key);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        reason = (signal.reason as Cancelled).reason;
      },
    }),
  );
  await it.advance(100);
  assert.equal(runs.length, 1);
  assert.equal(it.api.kind('pieces').open, 1);
  await it.manager.remove('parts');
  await rest();
  assert.equal(reason, 'shutdown');
  assert.equal(it.api.kind('pieces').open, 0);
  assert.equal(it.api.kind('things').open, 1, 'what others need stays');
  assert.deepEqual(
    it.manager.readyz().map(({ name }) => name),
    ['running', 'reflector-things.test.dev'],
  );
  await it.end();
});

test('two controllers of one name, or one too late, are refused', async () => {
  const it = start([stamping()]);
  assert.throws(() => start([stamping(), stamping()]), { code: 'CONTROLLER_OPTIONS' });
  await settled();
  await it.end();
  assert.throws(() => it.manager.add(stamping('other')), { code: 'CONTROLLER_OPTIONS' });
  assert.equal(metricOf(it.manager, 'controller_runtime_max_concurrent_reconciles'), 0, 'nothing is left');
});
