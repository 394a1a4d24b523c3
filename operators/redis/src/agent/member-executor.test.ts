import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Cancelled,
  type Executor,
  isHandle,
  type Member,
  MemberOrders,
  type MemberRef,
  type ObjectClient,
  type OrderResult,
  type Outcome,
} from '@reeve/runtime';
import { countingIds, settled, VirtualClock } from '@reeve/runtime/testing';
import type { BumpEpoch, RedisCommand } from '../api/commands.ts';
import { memberExecutor, memberExecutors, orderSeconds } from './member-executor.ts';

/** Members in memory, with versions as a server has them. */
class Members implements ObjectClient<Member> {
  readonly all = new Map<string, Member>();
  orders: MemberOrders | undefined;
  /** The next writes are carried out, but their answers get lost. */
  lost = 0;
  #version = 1;

  add(name: string): void {
    const spec = { system: 'redis', endpoint: { host: 'h', port: 1 }, host: 'h' };
    this.all.set(name, { metadata: { namespace: 'ns', name, uid: name, resourceVersion: '1' }, spec });
  }

  async find(name: string): Promise<Member | undefined> {
    return this.all.get(name);
  }

  async update(member: Member): Promise<Member> {
    const { name, resourceVersion } = member.metadata;
    if (this.all.get(name)?.metadata.resourceVersion !== resourceVersion) {
      throw Object.assign(new Error('conflict'), { status: { code: 409 } });
    }
    const next = { ...member, metadata: { ...member.metadata, resourceVersion: String(++this.#version) } };
    this.all.set(name, next);
    if (this.lost > 0) {
      this.lost--;
      throw new Error('the answer got lost');
    }
    return next;
  }

  /** Orders of a member: `verb`, and `!` for a cancelled one. */
  ordersOf(name: string): readonly string[] {
    const orders = this.all.get(name)?.spec.orders ?? [];
    return orders.map(({ verb, cancel }) => `${verb}${cancel ? '!' : ''}`);
  }

  /** What the agent of a member says about its only order. */
  async answer(name: string, result: Partial<OrderResult>): Promise<void> {
    const member = this.all.get(name) as Member;
    const [order] = member.spec.orders ?? [];
    assert.ok(order);
    const { id, attempt } = order;
    const status = { results: [{ id, attempt, by: 'life', phase: 'Done', ...result } as OrderResult] };
    this.orders?.told(await this.update({ ...member, status }));
    await settled();
  }
}

interface Scene {
  readonly members: Members;
  readonly orders: MemberOrders;
  readonly executor: Executor<RedisCommand>;
  readonly clock: VirtualClock;
  readonly ports: { readonly clock: VirtualClock; readonly ids: { next(prefix: string): string } };
  readonly refs: ReadonlyMap<string, MemberRef>;
}

function scene(): Scene {
  const members = new Members();
  const clock = new VirtualClock();
  const ports = { clock, ids: countingIds() };
  const orders = new MemberOrders(ports, {
    members: () => members,
    lease: () => 1,
    deadlineSecondsOf: orderSeconds,
  });
  members.orders = orders;
  const refs = new Map<string, MemberRef>();
  for (const name of ['a', 'b']) {
    members.add(name);
    refs.set(`node-${name}`, { namespace: 'ns', name });
  }
  return { members, orders, clock, ports, refs, executor: memberExecutor(ports, orders, () => refs) };
}

const bump = (node: string): BumpEpoch => ({
  type: 'bump-epoch',
  node: { id: node, endpoint: { host: 'h', port: 1 } },
  epoch: 3,
  why: 'test',
});
const never = new AbortController().signal;

async function ended(started: ReturnType<Executor['start']>): Promise<Outcome> {
  const result = await started;
  return isHandle<Outcome>(result) ? result.settled : result;
}

test('a command is an order of the member of its node, and is let go when it has ended', async () => {
  const { members, executor } = scene();
  const outcome = ended(executor.start(bump('node-b'), never));
  await settled();
  assert.deepEqual([members.ordersOf('a'), members.ordersOf('b')], [[], ['bump-epoch']]);
  const [order] = members.all.get('b')?.spec.orders ?? [];
  assert.deepEqual(order?.arguments, { node: bump('node-b').node, epoch: 3, why: 'test' });
  assert.equal(order?.deadlineSeconds, 300);
  await members.answer('b', { message: 'it was there' });
  assert.deepEqual(await outcome, { status: 'done', note: 'it was there' });
  assert.deepEqual(members.ordersOf('b'), []);
});

test('a node without an agent cannot be given anything', async () => {
  const { executor, members } = scene();
  const outcome = await ended(executor.start(bump('node-c'), never));
  assert.ok(outcome.status === 'failed');
  assert.equal(outcome.code, 'AGENT_MISSING');
  assert.deepEqual([members.ordersOf('a'), members.ordersOf('b')], [[], []]);
});

test('an order whose write is not known to have happened is taken back before the next plan is made', async () => {
  const { members, executor, clock } = scene();
  members.lost = 1;
  let outcome: Outcome | undefined;
  void ended(executor.start(bump('node-a'), never)).then((one) => (outcome = one));
  await clock.advance(100);
  assert.deepEqual([members.ordersOf('a'), outcome], [['bump-epoch!'], undefined]);
  await members.answer('a', { phase: 'Cancelled' });
  await clock.advance(100);
  assert.equal(outcome?.status, 'stale');
  assert.deepEqual(members.ordersOf('a'), []);
});

test('while the API server does not answer, it is asked again', async () => {
  const { members, executor, clock } = scene();
  members.lost = 2;
  let outcome: Outcome | undefined;
  void ended(executor.start(bump('node-a'), never)).then((one) => (outcome = one));
  await clock.advance(5_000);
  assert.deepEqual(members.ordersOf('a'), ['bump-epoch!']);
  await members.answer('a', { phase: 'Cancelled' });
  await clock.advance(100);
  assert.equal(outcome?.status, 'stale');
});

test('a named run is found again by the next process, and withdrawn by one that never knew where it was', async () => {
  const { members, orders, ports, refs } = scene();
  const run = { id: 'task.a', attempt: 1 };
  const first = memberExecutors(ports, orders, () => refs).of('cluster');
  const second = memberExecutors(ports, orders, () => refs).of('cluster');
  void first.start(bump('node-a'), never, run);
  await settled();
  const outcome = ended(second.start(bump('node-a'), never, run));
  await members.answer('a', {});
  assert.deepEqual(await outcome, { status: 'done' });
  assert.deepEqual(members.ordersOf('a'), ['bump-epoch'], 'its owner lets it go');
  const third = memberExecutors(ports, orders, () => refs).of('cluster');
  await third.withdraw?.(run.id, never);
  await third.release?.(run.id, never);
  assert.deepEqual(members.ordersOf('a'), []);
});

test('a manager that ends leaves its orders to the next one; one that changes its mind cancels them', async () => {
  for (const reason of ['shutdown', 'deleted'] as const) {
    const { members, executor } = scene();
    const stop = new AbortController();
    const outcome = ended(executor.start(bump('node-a'), stop.signal));
    await settled();
    stop.abort(new Cancelled(reason, 'cluster'));
    await settled();
    assert.deepEqual(members.ordersOf('a'), [reason === 'deleted' ? 'bump-epoch!' : 'bump-epoch']);
    if (reason === 'deleted') await members.answer('a', { phase: 'Cancelled' });
    const { status } = await outcome;
    assert.deepEqual([status, members.ordersOf('a').length], ['failed', reason === 'deleted' ? 0 : 1]);
  }
});
