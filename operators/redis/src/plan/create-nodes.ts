/** Whether a server may become a member: it answers, is of a supported kind, belongs to nobody, and holds nothing. */
import type { Refusal } from '@reeve/runtime';
import { countSlots, formatSlots } from '../api/slots.ts';
import { type ClusterView, type Endpoint, formatEndpoint, type NodeId } from '../api/view.ts';
import {
  isHandshake,
  isReported,
  keyCount,
  nodeName,
  type ReportedNode,
  refName,
  refOf,
  sameEndpoint,
  whoSay,
} from './topology.ts';

/** The oldest major versions with all that plans rely on (replicated SETSLOT, functions, shards). Tested are Redis 7.0 and Valkey 9. */
const OLDEST_MAJOR = { redis: 7, valkey: 8 } as const;

export type Located = { readonly node: ReportedNode } | { readonly refused: Refusal };

/** The node that answers at an address that was given, or why there is none. */
export function locate(view: ClusterView, endpoint: Endpoint): Located {
  const address = formatEndpoint(endpoint);
  const refused = (code: string, message: string): Located => ({ refused: { code, message, subjects: [address] } });
  const silent = view.silent.find((each) => sameEndpoint(each.endpoint, endpoint));
  if (silent) return refused(silent.code, `${address}: ${silent.why}`);
  const node = view.nodes.find((each) => sameEndpoint(each.endpoint, endpoint));
  if (!node) {
    return refused(
      'NODE_ELSEWHERE',
      `${address} is another address of a node that was reached elsewhere: it was given twice, or announces an address of its own`,
    );
  }
  if (!isReported(node)) {
    const why = node.report.known ? 'it did not report' : node.report.why;
    return refused('NODE_SILENT', `${address} did not report: ${why}`);
  }
  return { node };
}

/** Refusals for the kind of server that it is. */
export function judgeServer(node: ReportedNode): readonly Refusal[] {
  const { product, version } = node.report.value.server;
  const name = refName(refOf(node));
  const refused: Refusal[] = [];
  const major = Number.parseInt(version, 10);
  if (!(major >= OLDEST_MAJOR[product])) {
    refused.push({
      code: 'UNSUPPORTED_VERSION',
      message: `${name} is ${product} ${version === '' ? 'of an unknown version' : version}; supported are Redis ${OLDEST_MAJOR.redis} and Valkey ${OLDEST_MAJOR.valkey} or newer`,
      subjects: [node.id],
    });
  }
  return refused;
}

/** One cluster, one product: their replication streams and files part company. */
export function judgeFamily(nodes: readonly ReportedNode[]): readonly Refusal[] {
  const products = Map.groupBy(nodes, (node) => node.report.value.server.product);
  if (products.size < 2) return [];
  const parts = [...products].map(
    ([product, of]) => `${product}: ${of.map((node) => formatEndpoint(node.endpoint)).join(', ')}`,
  );
  return [
    {
      code: 'MIXED_PRODUCTS',
      message: `servers of different products cannot form one cluster (${parts.join('; ')})`,
      subjects: nodes.map((node) => node.id),
    },
  ];
}

/** Refusals for what it holds, or may hold: not known is not empty. */
export function judgeEmpty(node: ReportedNode): readonly Refusal[] {
  return [...judgeHoldings(node), ...judgeUnknown(node)];
}

/** Whether what it holds cannot be read: by right, or just now. */
export function judgeUnknown(node: ReportedNode): readonly Refusal[] {
  const { functionLibraries } = node.report.value;
  if (functionLibraries.known) return [];
  const message = `whether ${refName(refOf(node))} holds function libraries cannot be read: ${functionLibraries.why}`;
  return [{ code: 'EMPTINESS_UNKNOWN', message, subjects: [node.id] }];
}

/** Refusals for what it holds: keys in any database, function libraries. */
export function judgeHoldings(node: ReportedNode): readonly Refusal[] {
  const { keyspace, functionLibraries } = node.report.value;
  const name = refName(refOf(node));
  const refused: Refusal[] = [];
  if ((keyCount(node) ?? 0) > 0) {
    const databases = Object.entries(keyspace).map(([database, keys]) => `${keys} in database ${database}`);
    refused.push({
      code: 'NODE_NOT_EMPTY',
      message: `${name} holds keys: ${databases.join(', ')}`,
      subjects: [node.id],
    });
  }
  if (functionLibraries.known && functionLibraries.value > 0) {
    refused.push({
      code: 'NODE_NOT_EMPTY',
      message: `${name} holds ${functionLibraries.value} function librar${functionLibraries.value === 1 ? 'y' : 'ies'}`,
      subjects: [node.id],
    });
  }
  return refused;
}

/** Refusals for belonging to somebody already: it knows, or is known by, nodes other than `own`. */
export function judgeStrangers(view: ClusterView, node: ReportedNode, own: ReadonlySet<NodeId>): readonly Refusal[] {
  const strangers = new Map<NodeId, string>();
  for (const line of node.report.value.others) {
    if (isHandshake(line) || own.has(line.id)) continue;
    strangers.set(line.id, refName({ id: line.id, endpoint: line }));
  }
  for (const by of whoSay(node.heard)) if (!own.has(by)) strangers.set(by, nodeName(view, by));
  if (strangers.size === 0) return [];
  const names = [...strangers.values()];
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
  return [
    {
      code: 'NODE_OF_OTHER_CLUSTER',
      message: `${refName(refOf(node))} belongs to a cluster already, with ${shown}`,
      subjects: [node.id, ...strangers.keys()],
    },
  ];
}

/** Refusals for slots that a lonely node owns. */
export function judgeSlots(node: ReportedNode): readonly Refusal[] {
  const { slots } = node.report.value.self;
  if (countSlots(slots) === 0) return [];
  return [
    {
      code: 'NODE_HAS_SLOTS',
      message: `${refName(refOf(node))} owns slots already: ${formatSlots(slots)}`,
      subjects: [node.id],
    },
  ];
}
