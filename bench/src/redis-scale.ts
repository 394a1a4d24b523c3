/**
 * What a large cluster costs the Redis operator: one turn (look at every node, check, decide), memory, what goes to the API server
 * while nothing happens, the size of the resource; and whether all that grows with the number of nodes and not faster.
 *
 *     npm run bench -- redis-scale [--nodes 10,100,300,1000] [--turns 9] [--idle 300]
 *
 * `--idle` is in seconds of the cluster's time. Nodes are simulated: they answer with the texts of real ones, made before.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LineProcess } from './process/line-process.ts';
import { barsOf, kilobytesPerSecond, LARGEST, perNodeMs, SMALLER } from './redis-scale/figures.ts';
import type { Order, ScaleFigures } from './redis-scale/measure.ts';
import { median } from './report/bars.ts';
import { printBars, printTable, say } from './report/print.ts';

const PATIENCE_MS = 30 * 60_000;

export default async function redisScale(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      nodes: { type: 'string', default: `10,${SMALLER},300,${LARGEST}` },
      turns: { type: 'string', default: '9' },
      idle: { type: 'string', default: '300' },
    },
  });
  const all: ScaleFigures[] = [];
  for (const nodes of values.nodes.split(',').map(Number)) {
    const figures = await measured({ nodes, turns: Number(values.turns), idleSeconds: Number(values.idle) });
    say(JSON.stringify({ ...figures, turnMs: figures.turnMs.map(Math.round) }));
    all.push(figures);
  }
  printTable([
    [
      'nodes',
      'turn, p50',
      'processor',
      'per node',
      'kept',
      'in a turn',
      'to and from the API, idle',
      'requests a minute',
      'agents, to the API',
      'from it',
      'resource',
      'while creating',
    ],
    ...all.map(row),
  ]);
  process.stdout.write(
    `Turn: all that the operator does when it is a cluster's time: declare, read every node's own view, check, decide, compare the status. ` +
      `Median of ${values.turns}. Simulated nodes answer at once, so this is processor time of the operator; of it, comparing and reading texts is a part, network and TLS are not. ` +
      `Kept: heap of the operator, its caches and the API server in memory beside it. In a turn: the most on the heap beyond that, garbage included; tables, which come as bytes, lie outside of it. ` +
      `API: paths and bodies of all requests and watches over ${values.idle} s, headers not counted; nothing happens to pods or worker nodes meanwhile. ` +
      `Agents: one beside each node, where there are any; measured with ten, which have nothing to do with each other.\n`,
  );
  printBars('redis-scale', barsOf(all), {
    nodes: all.map(({ nodes }) => nodes),
    turnMs: all.map(({ turnMs }) => Math.round(median(turnMs))),
    keptMb: all.map(({ keptBytes }) => Math.round(keptBytes / 1e6)),
    turnMb: all.map(({ turnBytes }) => Math.round(turnBytes / 1e6)),
  });
}

async function measured(order: Order): Promise<ScaleFigures> {
  const script = fileURLToPath(new URL('./redis-scale/measure.ts', import.meta.url));
  const args = ['--expose-gc', '--max-old-space-size=8192', script, JSON.stringify(order)];
  await using child = new LineProcess(`${order.nodes} nodes`, { command: process.execPath, args });
  return await child.next<ScaleFigures>(PATIENCE_MS);
}

function row(figures: ScaleFigures): readonly string[] {
  const { nodes, turnMs, turnCpuMs, keptBytes, turnBytes, idle, agents, objectBytes, creatingBytes } = figures;
  return [
    String(nodes),
    `${median(turnMs).toFixed(0)} ms`,
    `${median(turnCpuMs).toFixed(0)} ms`,
    `${perNodeMs(figures).toFixed(3)} ms`,
    `${(keptBytes / 1e6).toFixed(1)} MB`,
    `${(turnBytes / 1e6).toFixed(0)} MB`,
    `${kilobytesPerSecond(figures).toFixed(2)} KB/s`,
    ((idle.requests * 60) / idle.seconds).toFixed(1),
    `${(agents.sentPerSecond / 1_000).toFixed(1)} KB/s`,
    `${(agents.receivedPerSecond / 1_000).toFixed(1)} KB/s`,
    `${(objectBytes / 1_024).toFixed(0)} KB`,
    `${(creatingBytes / 1_024).toFixed(0)} KB`,
  ];
}
