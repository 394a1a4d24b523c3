/** Creating a cluster of 30 nodes: ten primaries with two replicas each. */
import {
  type Endpoint,
  redisCli,
  runProgram,
  type Server,
  startServers,
  waitUntilAgreed,
  waitUntilFormed,
} from '@reeve/rig';
import { Child } from './child.ts';
import type { OurAnswer, OurOrder } from './ours.ts';

export const CREATE_NODES = 30;
const REPLICAS = 2;

export type Creator = 'redis-cli' | 'reeve';

export interface Creation {
  /** Until every node has the same picture and every replica its link: seen by us from outside, whatever the tool says. */
  readonly formedMs: number;
  /** Until every node serves, too. */
  readonly servingMs: number;
  /** Until the tool says that it is done. */
  readonly toolMs: number;
}

export async function raceCreate(creator: Creator): Promise<Creation> {
  const servers = await startServers(CREATE_NODES, { product: 'redis', nodeTimeoutMs: 15_000 });
  try {
    const child = creator === 'reeve' ? new Child('./ours.ts') : undefined;
    try {
      await child?.next();
      const began = performance.now();
      const since = () => performance.now() - began;
      const [formedMs, toolMs] = await Promise.all([
        waitUntilFormed(servers).then(since),
        (child ? ours(child, servers) : theirs(servers)).then(since),
      ]);
      await waitUntilAgreed(servers);
      return { formedMs, toolMs, servingMs: since() };
    } finally {
      await child?.end();
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function endpointsOf(servers: readonly Server[]): readonly Endpoint[] {
  return servers.map(({ endpoint }) => endpoint);
}

async function theirs(servers: readonly Server[]): Promise<void> {
  const cli = await redisCli();
  const addresses = endpointsOf(servers).map(({ host, port }) => `${host}:${port}`);
  const args = ['--cluster', 'create', ...addresses, '--cluster-replicas', String(REPLICAS), '--cluster-yes'];
  const { code, stdout, stderr } = await runProgram(cli, args, 300_000);
  if (code !== 0) throw new Error(`redis-cli create ended with ${code}: ${(stdout + stderr).slice(-400)}`);
}

async function ours(child: Child, servers: readonly Server[]): Promise<void> {
  const order: OurOrder = { order: 'create', endpoints: endpointsOf(servers), replicas: REPLICAS };
  const { status, detail } = await child.ask<OurAnswer>(order);
  if (status !== 'reached') throw new Error(`reeve create: ${status}: ${detail}`);
}
