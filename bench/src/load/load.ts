/** The load generator: a process of its own, so that what it costs is nobody's. */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { COLLECTIONS, configMapsIn, configMapText, nameOf, objectOf, type Room } from '../kubernetes/objects.ts';
import { Count } from '../process/count.ts';
import { answer, serveOrders } from '../process/serve.ts';
import { Etcd } from './etcd.ts';
import type { LoadOrder, LoadResult } from './orders.ts';
import { type Access, many, Wire } from './wire.ts';

const AT_ONCE = 32;
/** Answers that are waited for at a rate: a server that cannot keep up is not buried. */
const MOST_OPEN = 64;
const TICK_MS = 5;
const PATIENCE_MS = 120_000;

const access = JSON.parse(process.argv[2] ?? '{}') as Access;
const wire = new Wire(access);
let etcd: Etcd | undefined;
let created = 0;

/** Watches that are open, and how many events they were told together. */
const watching = { ends: [] as (() => void)[], heard: new Count() };

const createOne = (room: Room): Promise<number> =>
  wire.send({ method: 'POST', path: configMapsIn(room), body: configMapText(`c-${created++}`) });

async function fill({ resource, from, to }: Extract<LoadOrder, { do: 'fill' }>): Promise<number> {
  wire.connections(AT_ONCE);
  await many(to - from, AT_ONCE, async (number) => {
    const body = JSON.stringify(objectOf(resource, from + number));
    await wire.send({ method: 'POST', path: COLLECTIONS[resource], body });
  });
  return to - from;
}

async function rewrite(order: Extract<LoadOrder, { do: 'rewrite' }>): Promise<number> {
  const { resource, objects, events, revision, perSecond, isShared = false } = order;
  etcd ??= new Etcd(access.etcdUrl ?? '', MOST_OPEN);
  const below = etcd;
  let newest = 0;
  const one = async (number: number): Promise<void> => {
    const next = revision + Math.floor(number / objects);
    const version = await below.rewrite(resource, number % objects, next, isShared);
    newest = Math.max(newest, version);
  };
  if (perSecond !== undefined) await atRate(events, perSecond, one);
  else {
    await many(events, AT_ONCE, one);
    await heardOf(`${COLLECTIONS[resource]}/${nameOf(resource, 0)}?resourceVersion=${newest}`);
  }
  return events;
}

/** Until the server knows a version: it answers from what it keeps for watches, waits for it for some seconds, and refuses then. */
async function heardOf(path: string): Promise<void> {
  const late = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      await wire.send({ method: 'GET', path });
      return;
    } catch (error) {
      if (performance.now() > late) throw error;
    }
  }
}

async function atRate(events: number, perSecond: number, one: (number: number) => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const open = new Set<Promise<unknown>>();
  for (let sent = 0; sent < events; ) {
    const due = Math.min(events, Math.floor(((performance.now() - began) * perSecond) / 1_000));
    while (sent < due && open.size < MOST_OPEN) {
      const answered = one(sent++).finally(() => open.delete(answered));
      open.add(answered);
    }
    if (open.size >= MOST_OPEN) await Promise.race(open);
    else await sleep(TICK_MS);
  }
  await Promise.all(open);
}

async function stock(count: number): Promise<number> {
  wire.connections(AT_ONCE);
  await many(count, AT_ONCE, () => createOne('bench-lists'));
  return count;
}

async function list(times: number): Promise<{ readonly count: number; readonly bytes: number }> {
  wire.connections(1);
  let bytes = 0;
  const path = configMapsIn('bench-lists');
  for (let number = 0; number < times; number++) bytes += await wire.send({ method: 'GET', path });
  return { count: times, bytes };
}

async function watch(watchers: number): Promise<number> {
  const path = configMapsIn('bench-watches');
  const { metadata } = JSON.parse(await wire.read(`${path}?limit=1`)) as { metadata: { resourceVersion: string } };
  const from = `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  for (let number = 0; number < watchers; number++) {
    watching.ends.push(await wire.watch(from, () => watching.heard.add()));
  }
  return watchers;
}

/** Until the last watcher has heard of the last create; they are closed then. */
async function fanOut(events: number): Promise<number> {
  wire.connections(4);
  watching.heard.reset();
  const deliveries = watching.ends.length * events;
  const all = watching.heard.reach(deliveries);
  await many(events, 4, () => createOne('bench-watches'));
  await all;
  for (const end of watching.ends.splice(0)) end();
  return deliveries;
}

async function timed(task: () => Promise<{ readonly count: number; readonly bytes?: number }>): Promise<LoadResult> {
  const began = performance.now();
  const { count, bytes = 0 } = await task();
  return { count, bytes, ms: performance.now() - began };
}

function carryOut(order: LoadOrder): Promise<LoadResult> {
  switch (order.do) {
    case 'fill':
      return timed(async () => ({ count: await fill(order) }));
    case 'rewrite':
      return timed(async () => ({ count: await rewrite(order) }));
    case 'stock':
      return timed(async () => ({ count: await stock(order.count) }));
    case 'list':
      return timed(() => list(order.times));
    case 'watch':
      return timed(async () => ({ count: await watch(order.watchers) }));
    case 'fanOut':
      return timed(async () => ({ count: await fanOut(order.events) }));
  }
}

answer({});
await serveOrders<LoadOrder>(carryOut);
