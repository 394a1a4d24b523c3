/** Many answers as one view. Pure. A node is the id of its own `myself` line, wherever it answered. */
import { type Knowledge, known, unknown } from '@reeve/runtime';
import {
  type ClusterView,
  type Endpoint,
  formatEndpoint,
  type Heard,
  type NodeId,
  type NodeLine,
  type NodeReport,
  type NodeView,
} from '../api/view.ts';
import type { Answer } from './node.ts';

export interface Answered extends Answer {
  readonly endpoint: Endpoint;
}

export interface Failed {
  readonly endpoint: Endpoint;
  readonly code: string;
  readonly why: string;
}

type Silent = ClusterView['silent'][number];

interface MergeOptions {
  /** Higher than every number of a line. */
  readonly lineCount: number;
  readonly annotate?: (endpoint: Endpoint) => Readonly<Record<string, string>>;
}

export function mergeViews(
  answered: readonly Answered[],
  failed: readonly Failed[],
  { lineCount, annotate = () => ({}) }: MergeOptions,
): Pick<ClusterView, 'nodes' | 'silent'> {
  const answers = byId(answered);
  const heard = heardBy(answers, lineCount);
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
      report: own[0] ? reportOf(own, own[0]) : unknown(whySilent(addresses, atAddress, failures)),
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

/** Of several answers of one process the first counts, as for what is heard of others. */
function reportOf(answers: readonly Answered[], first: Answered): Knowledge<NodeReport> {
  if (!areTwo(answers)) return known(first.report);
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

/**
 * What each node that is read says of the others. Of a million lines nearly all are what everybody says of a node: those are only
 * counted, and who says them follows, because no id is in a table twice.
 */
function heardBy(
  answers: ReadonlyMap<NodeId, readonly Answered[]>,
  lineCount: number,
): ReadonlyMap<NodeId, readonly Heard[]> {
  const readers = [...answers.values()]
    .flatMap((own) => (own[0] && !areTwo(own) ? [own[0]] : []))
    .sort((a, b) => compare(a.report.self.id, b.report.self.id));
  const ids = readers.map(({ report }) => report.self.id);
  const places = new Map(ids.map((id, index) => [id, index]));
  const heard = new Map<NodeId, readonly Heard[]>();
  const counts = new Uint32Array(lineCount);
  const disputed = new Array<NodeId[] | undefined>(lineCount).fill(undefined);
  for (const [id, lines] of linesById(readers, counts)) {
    const place = places.get(id);
    const [first] = lines;
    const isUndisputed =
      lines.length === 1 && first && counts[first.number] === ids.length - (place === undefined ? 0 : 1);
    if (isUndisputed) {
      heard.set(id, [{ line: first.line, by: place === undefined ? ids : ids.toSpliced(place, 1) }]);
      continue;
    }
    const about = lines.map(({ line, number }) => {
      const by: NodeId[] = [];
      disputed[number] = by;
      return { line, by };
    });
    heard.set(id, about);
  }
  if (disputed.some((by) => by !== undefined)) {
    for (const { report, numbers } of readers) for (const number of numbers) disputed[number]?.push(report.self.id);
  }
  return heard;
}

/** The different lines about each node, in the order of who says them first; and how many say each, by its number. */
function linesById(
  readers: readonly Answered[],
  counts: Uint32Array,
): ReadonlyMap<NodeId, readonly { readonly line: NodeLine; readonly number: number }[]> {
  const lines = new Map<NodeId, { readonly line: NodeLine; readonly number: number }[]>();
  for (const { report, numbers } of readers) {
    for (let index = 0; index < numbers.length; index++) {
      const number = numbers[index] as number;
      const count = counts[number] as number;
      counts[number] = count + 1;
      if (count > 0) continue;
      const line = report.others[index] as NodeLine;
      // The id of a handshake is made up: there is no such node.
      if (line.flags.includes('handshake')) continue;
      const about = lines.get(line.id);
      if (about) about.push({ line, number });
      else lines.set(line.id, [{ line, number }]);
    }
  }
  return lines;
}

function hasAddress(line: NodeLine): boolean {
  return line.host !== '' && line.port !== 0;
}

/** Where the others say a node is: the address that most say first. */
function addressesOf(heard: readonly Heard[]): readonly string[] {
  const votes = new Map<string, number>();
  for (const { line, by } of heard) {
    if (!hasAddress(line)) continue;
    const address = formatEndpoint(line);
    votes.set(address, (votes.get(address) ?? 0) + by.length);
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
