/** Creating a cluster of 30 nodes: ten primaries with two replicas each. */
import { type Endpoint, redisCli, runProgram, type Server, startServers, waitUntilAgreed } from '@reeve/rig';
import { Child } from './child.ts';
import type { OurAnswer, OurOrder } from './ours.ts';

export const CREATE_NODES = 30;
const REPLICAS = 2;

export type Creator = 'redis-cli' | 'reeve';

/** Milliseconds until the tool says that it is done; then the cluster must agree, whatever the tool said. */
export async function raceCreate(creator: Creator): Promise<number> {
  const servers = await startServers(CREATE_NODES, { product: 'redis', nodeTimeoutMs: 15_000 });
  try {
    const ms = creator === 'reeve' ? await ours(servers) : await theirs(servers);
    await waitUntilAgreed(servers);
    return ms;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function endpointsOf(servers: readonly Server[]): readonly Endpoint[] {
  return servers.map(({ endpoint }) => endpoint);
}

async function theirs(servers: readonly Server[]): Promise<number> {
  const cli = await redisCli();
  const addresses = endpointsOf(servers).map(({ host, port }) => `${host}:${port}`);
  const began = performance.now();
  const args = ['--cluster', 'create', ...addresses, '--cluster-replicas', String(REPLICAS), '--cluster-yes'];
  const { code, stdout, stderr } = await runProgram(cli, args, 300_000);
  const ms = performance.now() - began;
  if (code !== 0) throw new Error(`redis-cli create ended with ${code}: ${(stdout + stderr).slice(-400)}`);
  return ms;
}

async function ours(servers: readonly Server[]): Promise<number> {
  const child = new Child('./ours.ts');
  try {
    await child.next();
    const order: OurOrder = { order: 'create', endpoints: endpointsOf(servers), replicas: REPLICAS };
    const { ms, status, detail } = await child.ask<OurAnswer>(order);
    if (status !== 'reached') throw new Error(`reeve create: ${status}: ${detail}`);
    return ms;
  } finally {
    await child.end();
  }
}
