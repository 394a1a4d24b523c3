/** One size of cluster, in a process of its own: `node --expose-gc measure.ts ORDER`. Says its figures as a line of JSON. */
import { ownCpuMs, ownHeapBytes } from '../process/usage.ts';
import { answer } from '../process/serve.ts';
import { idleAgents } from './agents.ts';
import { SimulatedNodes } from './nodes.ts';
import { ScalePlane } from './plane.ts';

export interface Order {
  readonly nodes: number;
  readonly turns: number;
  /** Of virtual time, for the traffic of a cluster with which nothing happens. */
  readonly idleSeconds: number;
}

export interface ScaleFigures {
  readonly nodes: number;
  readonly turnMs: readonly number[];
  readonly turnCpuMs: readonly number[];
  /** What the operator and its caches keep between turns. */
  readonly keptBytes: number;
  /** The most that a turn had on the heap beyond that. */
  readonly turnBytes: number;
  readonly idle: {
    readonly seconds: number;
    readonly turns: number;
    readonly requests: number;
    readonly sentBytes: number;
    readonly receivedBytes: number;
  };
  /** What as many agents as there are nodes would send and get, by a few of them. */
  readonly agents: { readonly sentPerSecond: number; readonly receivedPerSecond: number };
  readonly objectBytes: number;
  /** With the goal of its creation in its status. */
  readonly creatingBytes: number;
}

/** As often a cluster is looked at when nothing is to be done. */
const LOOK_EVERY_MS = 10_000;
/** Each of them reads its node's table every second of its time. */
const AGENTS = 10;

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const before = ownHeapBytes();
const servers = new SimulatedNodes(order.nodes);
const withServers = ownHeapBytes();
const plane = await ScalePlane.open(servers);
await plane.until('the cluster runs', () => plane.cluster?.status?.phase === 'Running');
// The first turns find code that was never run before.
for (let warm = 0; warm < 3; warm++) await plane.pass(LOOK_EVERY_MS);

const turnMs: number[] = [];
const turnCpuMs: number[] = [];
for (let turn = 0; turn < order.turns; turn++) {
  const looks = servers.tables;
  const [began, cpu] = [performance.now(), ownCpuMs()];
  await plane.pass(LOOK_EVERY_MS);
  turnMs.push(performance.now() - began);
  turnCpuMs.push(ownCpuMs() - cpu);
  if (servers.tables - looks !== order.nodes) throw new Error(`${servers.tables - looks} tables were read in one turn`);
}

const at = { ...plane.counted, tables: servers.tables };
await plane.pass(order.idleSeconds * 1_000);
const idle = {
  seconds: order.idleSeconds,
  turns: (servers.tables - at.tables) / order.nodes,
  requests: plane.counted.requests - at.requests,
  sentBytes: plane.counted.sentBytes - at.sentBytes,
  receivedBytes: plane.counted.receivedBytes - at.receivedBytes,
};

const few = Math.min(order.nodes, AGENTS);
const said = await idleAgents(servers, few, order.idleSeconds);
const perSecond = (bytes: number) => (bytes / order.idleSeconds) * (order.nodes / few);
const agents = { sentPerSecond: perSecond(said.sentBytes), receivedPerSecond: perSecond(said.receivedBytes) };

const kept = ownHeapBytes();
servers.peakHeapBytes = process.memoryUsage().heapUsed;
const resting = servers.peakHeapBytes;
await plane.pass(LOOK_EVERY_MS);
const turnBytes = servers.peakHeapBytes - resting;
const objectBytes = sizeOf(plane.cluster);
await plane[Symbol.asyncDispose]();

const figures: ScaleFigures = {
  nodes: order.nodes,
  turnMs,
  turnCpuMs,
  keptBytes: kept - withServers,
  turnBytes,
  idle,
  agents,
  objectBytes,
  creatingBytes: await creating(order.nodes),
};
process.stderr.write(`${order.nodes} nodes: their texts take ${withServers - before} bytes\n`);
answer(figures);

/** These nodes take no commands: it begins, and goes no further. What else the status says of a cluster is as good as nothing then. */
async function creating(nodes: number): Promise<number> {
  await using fresh = await ScalePlane.open(new SimulatedNodes(nodes, false));
  await fresh.until('creation has begun', () => fresh.cluster?.status?.currentOperation?.kind === 'create');
  return sizeOf(fresh.cluster);
}

function sizeOf(object: object | undefined): number {
  return Buffer.byteLength(JSON.stringify(object ?? {}));
}
