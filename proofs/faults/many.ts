/** A kind with very many objects: listed, watched, cut off, and listed again after a compaction. */
import { connect, type ResourceClient, systemKubePorts } from '@reeve/kube';
import { type Kube, until } from '@reeve/rig';
import { maps, reflecting, type Thing } from '@reeve/runtime/testing/real';
import { leftOpen, openThings, Scope } from './scope.ts';
import { Writer } from './writer.ts';

export interface ManyResult {
  readonly objects: number;
  readonly filledMs: number;
  /** From the start of the reflector until its cache was the list, which was read to compare. */
  readonly syncedMs: number;
  /** The same after the compaction. */
  readonly againMs: number;
  /** How many events the second list led to, and how many writes there had been. */
  readonly toldAgain: number;
  readonly writes: number;
  readonly problem?: string;
}

const PATIENCE_MS = 300_000;
const LANES = 24;

export async function many(kube: Kube, objects: number, random: () => number): Promise<ManyResult> {
  const namespace = 'many';
  await kube.kubectl(['create', 'namespace', namespace]);
  const filledMs = await timed(() => fill(kube, namespace, objects));
  const before = openThings();
  const result = await watchThem(kube, namespace, random);
  await until('nothing is left open', () => leftOpen(before).length === 0);
  return { objects, filledMs, ...result };
}

async function watchThem(kube: Kube, namespace: string, random: () => number) {
  await using scope = new Scope();
  const started = performance.now();
  const scene = await reflecting(scope, kube, maps, { watches: 'http1', namespace, speed: 1 });
  await scene.equalsServer(PATIENCE_MS);
  const syncedMs = performance.now() - started;
  const writer = new Writer(scene.direct, random);
  scope.after(() => writer.stop());
  writer.start();
  const untilWritten = (count: number) =>
    until('somebody writes', () => writer.writes > count, { timeoutMs: PATIENCE_MS });
  await untilWritten(50);
  scene.relay.cut();
  await untilWritten(100);
  scene.relay.cutAfter(0);
  const { lists } = scene.reflector.state;
  const [told, written] = [scene.told.length, writer.writes];
  await untilWritten(150);
  await writer.stop();
  await kube.compact();
  await kube.apiserver.restart();
  scene.relay.cutAfter(undefined);
  const againMs = await timed(async () => {
    await until('it listed again', () => scene.reflector.state.lists > lists, { timeoutMs: PATIENCE_MS });
    await scene.equalsServer(PATIENCE_MS);
  });
  const toldAgain = scene.told.length - told;
  // A few may have been on their way when the connection was cut.
  const writes = writer.writes - written;
  const problem =
    toldAgain > writes + 20 ? `the second list told ${toldAgain} changes after ${writes} writes` : undefined;
  await scene.end();
  return { syncedMs, againMs, toldAgain, writes, ...(problem !== undefined && { problem }) };
}

async function fill(kube: Kube, namespace: string, count: number): Promise<void> {
  using straight = await connect(systemKubePorts(), { file: kube.kubeconfig, maxSockets: LANES });
  const all: ResourceClient<Thing> = straight.client.resource(maps, namespace);
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < count; at = next++) await all.create({ metadata: { name: `m-${at}` } });
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
