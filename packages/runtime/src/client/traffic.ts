/** What a request is, seen from outside: by it budgets, guards and metrics decide, whoever sent it. */
import type { TransportRequest } from '@reeve/kube';

/** From the most urgent to the least: a lease that is renewed late ends a term, a delete frees what others wait for. */
export const trafficClasses = ['lease', 'delete', 'write', 'read', 'event'] as const;
export type TrafficClass = (typeof trafficClasses)[number];

const leases = /^\/apis\/coordination\.k8s\.io\/[^/]+\/(?:namespaces\/[^/]+\/)?leases(?:\/|$)/;
const events = /^\/apis\/events\.k8s\.io\//;

export function classOf({ method, path }: Pick<TransportRequest, 'method' | 'path'>): TrafficClass {
  const [where = ''] = path.split('?', 1);
  if (leases.test(where)) return 'lease';
  if (events.test(where)) return 'event';
  if (method === 'GET') return 'read';
  return method === 'DELETE' ? 'delete' : 'write';
}

export function isRead({ method }: Pick<TransportRequest, 'method'>): boolean {
  return method === 'GET';
}
