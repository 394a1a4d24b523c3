/** What MIGRATE between two servers needs to know of them. */
import type { Endpoint, NodeRef, NodeReport } from '../../api/view.ts';
import { nameOf, type NodeTable, StaleEvidence } from '../evidence.ts';

/** Where CONFIG is denied: the server's default is 15 s; a third of it is safe for most who changed it. */
const UNKNOWN_NODE_TIMEOUT_MS = 5_000;

/** The shorter one of the two: a server that is blocked longer than this is failed over. */
export function sharedNodeTimeoutMs(...reports: readonly NodeReport[]): number {
  const each = ({ server }: NodeReport) =>
    server.nodeTimeoutMs.known ? server.nodeTimeoutMs.value : UNKNOWN_NODE_TIMEOUT_MS;
  return Math.min(...reports.map(each));
}

/** Where one server reaches the other, which need not be where we reach it. */
export function addressSeenBy(from: NodeRef, table: NodeTable, to: NodeRef): Endpoint {
  const line = table.others.find((other) => other.id === to.id);
  if (!line) throw new StaleEvidence(`${nameOf(from)} does not know ${nameOf(to)}`);
  return line.host === '' ? to.endpoint : { host: line.host, port: line.port };
}
