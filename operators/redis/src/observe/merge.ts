/** Many answers as one view. Pure. A node is the id of its own `myself` line, wherever it answered. */
import { type Knowledge, known, unknown } from '@reeve/runtime';
import {
  type ClusterView,
  type Endpoint,
  formatEndpoint,
  type NodeId,
  type NodeLine,
  type NodeReport,
  type NodeView,
} from '../api/view.ts';

export interface Answered {
  readonly endpoint: Endpoint;
  readonly report: NodeReport;
  readonly runId: string;
}

export interface Failed {
  readonly endpoint: Endpoint;
  readonly code: string;
  readonly why: string;
}

type Heard = NodeView['heard'][number];
type Silent = ClusterView['silent'][number];
type Annotate = (endpoint: Endpoint) => Readonly<Record<string, string>>;

export function mergeViews(
  answered: readonly Answered[],
  failed: readonly Failed[],
  annotate: Annotate = () => ({}),
): Pick<ClusterView, 'nodes' | 'silent'> {
  const answers = byId(answered);
  const heard = heardBy(answers);
  const atAddress = new Map<string, NodeId>();
  for (const { endpoint, report } of answered) atAddress.set(formatEndpoint(endpoint), report.self.id);
  const failures = new Map(failed.map((failure) => [formatEndpoint(failure.endpoint), failure]));

  const places = new Map([...heard].map(([id, about]) => [id, addressesOf(about)]));
  const ids = [...new Set([...answers.keys(), ...heard.keys()])].sort();
  const nodes = ids.map((id): NodeView => {
    const about = heard.get(id) ?? [];
    const addresses = places.get(id) ?? [];
    const own = answers.get(id) ?? [];
    const chosen = own.find(({ endpoint }) => addresses.includes(formatEndpoint(endpoint))) ?? own[0];
    const endpoint = chosen?.endpoint ?? endpointOf(about, addresses[0]);
    return {
      id,
      endpoint,
      report: chosen ? reportOf(own, chosen) : unknown(whySilent(addresses, atAddress, failures)),
      heard: about,
      annotations: { host: endpoint.host, ...annotate(endpoint) },
    };
  });
  return { nodes, silent: [...unplaced(failed, places), ...twice(answers)] };
}

function byId(answered: readonly Answered[]): ReadonlyMap<NodeId, readonly Answered[]> {
  const answers = new Map<NodeId, Answered[]>();
  const inOrder = [...answered].sort((a, b) => compare(formatEndpoint(a.endpoint), formatEndpoint(b.endpoint)));
  for (const answer of inOrder) {
    const { id } = answer.report.self;
    const known = answers.get(id);
    if (known) known.push(answer);
    else answers.set(id, [answer]);
  }
  return answers;
}

/** Two processes with one id: a copied nodes.conf. Nobody can say what "the node" thinks. */
function areTwo(answers: readonly Answered[]): boolean {
  return new Set(answers.map(({ runId }) => runId)).size > 1;
}

function reportOf(answers: readonly Answered[], chosen: Answered): Knowledge<NodeReport> {
  if (!areTwo(answers)) return known(chosen.report);
  const places = answers.map(({ endpoint }) => formatEndpoint(endpoint)).join(' and ');
  return unknown(`several servers answer with this id: at ${places}`);
}

function twice(answers: ReadonlyMap<NodeId, readonly Answered[]>): readonly Silent[] {
  return [...answers].flatMap(([id, own]) =>
    areTwo(own)
      ? own.map(({ endpoint }) => ({
          endpoint,
          code: 'REDIS_ID_TWICE',
          why: `several servers answer with the id ${id}`,
        }))
      : [],
  );
}

/** What each node that is read says of the others, in the order of the ids. */
function heardBy(answers: ReadonlyMap<NodeId, readonly Answered[]>): ReadonlyMap<NodeId, readonly Heard[]> {
  const heard = new Map<NodeId, Heard[]>();
  for (const by of [...answers.keys()].sort()) {
    const own = answers.get(by) ?? [];
    if (areTwo(own)) continue;
    for (const line of own[0]?.report.others ?? []) {
      // The id of a handshake is made up: there is no such node.
      if (line.flags.includes('handshake')) continue;
      const known = heard.get(line.id);
      if (known) known.push({ by, line });
      else heard.set(line.id, [{ by, line }]);
    }
  }
  return heard;
}

function hasAddress(line: NodeLine): boolean {
  return line.host !== '' && line.port !== 0;
}

/** Where the others say a node is: the address that most say first. */
function addressesOf(heard: readonly Heard[]): readonly string[] {
  // Equal lines are one object: a thousand listeners, a few different lines.
  const listeners = new Map<NodeLine, number>();
  for (const { line } of heard) listeners.set(line, (listeners.get(line) ?? 0) + 1);
  const votes = new Map<string, number>();
  for (const [line, count] of listeners) {
    if (!hasAddress(line)) continue;
    const address = formatEndpoint(line);
    votes.set(address, (votes.get(address) ?? 0) + count);
  }
  return [...votes].sort((a, b) => b[1] - a[1] || compare(a[0], b[0])).map(([address]) => address);
}

function endpointOf(heard: readonly Heard[], address: string | undefined): Endpoint {
  const line = heard.map(({ line: about }) => about).find((about) => formatEndpoint(about) === address);
  return line ? { host: line.host, port: line.port } : { host: '', port: 0 };
}

function whySilent(
  addresses: readonly string[],
  atAddress: ReadonlyMap<string, NodeId>,
  failures: ReadonlyMap<string, Failed>,
): string {
  if (addresses.length === 0) return 'no node knows its address';
  const reasons = addresses.map((address) => {
    const other = atAddress.get(address);
    if (other !== undefined) return `at ${address} another node answers: ${other}`;
    return failures.get(address)?.why ?? `${address} was not asked`;
  });
  return reasons.join('; ');
}

/** Failures at addresses where nobody says a node is. The others are told in the report of that node. */
function unplaced(failed: readonly Failed[], places: ReadonlyMap<NodeId, readonly string[]>): readonly Silent[] {
  const known = new Set([...places.values()].flat());
  return failed
    .filter(({ endpoint }) => !known.has(formatEndpoint(endpoint)))
    .sort((a, b) => compare(formatEndpoint(a.endpoint), formatEndpoint(b.endpoint)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
