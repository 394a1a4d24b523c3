/** Addresses, node names and host annotations as typed on the command line. */
import { isIP } from 'node:net';
import { type ClusterView, type Endpoint, formatEndpoint, type NodeId } from '@reeve/redis';
import { cliError, usage } from '../errors.ts';

/** `10.0.0.1:6379`, `host:6379`, `[::1]:6379`. */
export function parseEndpoint(text: string): Endpoint {
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port < 1 || port > 65535) throw usage(`'${text}' is not an address: HOST:PORT`);
  if (match?.[1] !== undefined && isIP(host) !== 6) throw usage(`'${text}' is not an address: brackets are for IPv6`);
  return { host, port };
}

/** A node by its address, or by a unique prefix of its id. */
export function resolveNode(view: ClusterView, wanted: Endpoint | string): NodeId {
  if (typeof wanted !== 'string') {
    const found = view.nodes.filter(({ endpoint }) => endpoint.host === wanted.host && endpoint.port === wanted.port);
    const [only] = found;
    if (only && found.length === 1) return only.id;
    const address = formatEndpoint(wanted);
    throw cliError(only ? 'NODE_AMBIGUOUS' : 'NODE_UNKNOWN', `${found.length} nodes of the cluster are at ${address}`, [
      address,
    ]);
  }
  return nodeByPrefix(view, wanted);
}

function nodeByPrefix(view: ClusterView, text: string): NodeId {
  if (!/^[0-9a-f]{1,40}$/i.test(text)) throw usage(`'${text}' is neither a node id (hex digits) nor HOST:PORT`);
  const prefix = text.toLowerCase();
  const matching = view.nodes.filter(({ id }) => id.startsWith(prefix));
  const [only] = matching;
  if (only && matching.length === 1) return only.id;
  if (!only) throw cliError('NODE_UNKNOWN', `no node of the cluster has an id that starts with ${text}`, [text]);
  const names = matching.map(({ id, endpoint }) => `${id.slice(0, 12)} (${formatEndpoint(endpoint)})`).join(', ');
  throw cliError('NODE_AMBIGUOUS', `several nodes have an id that starts with ${text}: ${names}`, [text]);
}

/** One fact about where nodes live: `address` is a host, or one node's host:port. */
export interface Annotation {
  readonly address: string;
  readonly key: string;
  readonly value: string;
}

/** Annotations by node or by host; the closer one wins, key by key, and of equals the last. */
export function annotationsOf(all: readonly Annotation[]): (endpoint: Endpoint) => Readonly<Record<string, string>> {
  const byAddress = new Map<string, Record<string, string>>();
  for (const { address, key, value } of all) byAddress.set(address, { ...byAddress.get(address), [key]: value });
  return (endpoint) => ({ ...byAddress.get(endpoint.host), ...byAddress.get(formatEndpoint(endpoint)) });
}

/** `ADDR=KEY=VALUE`. */
export function parseAnnotation(text: string): Annotation {
  const match = /^([^=\s]+)=([A-Za-z][\w./-]*)=(.+)$/.exec(text);
  if (!match) throw usage(`--annotate '${text}': ADDR=KEY=VALUE, for example 10.0.0.1:6379=zone=a`);
  return { address: match[1] as string, key: match[2] as string, value: match[3] as string };
}

/** JSON `{"ADDR": {"KEY": "VALUE"}}`, or lines `ADDR KEY=VALUE …` with `#` for comments. */
export function parseHostsFile(text: string, path: string): readonly Annotation[] {
  if (text.trimStart().startsWith('{')) return parseHostsJson(text, path);
  return text.split('\n').flatMap((line, index) => {
    const [address, ...pairs] = line.replace(/#.*/, '').trim().split(/\s+/) as [string, ...string[]];
    return pairs.map((pair) => {
      const match = /^([A-Za-z][\w./-]*)=(.+)$/.exec(pair);
      if (!match) throw usage(`${path}:${index + 1}: '${pair}' is not KEY=VALUE`);
      return { address, key: match[1] as string, value: match[2] as string };
    });
  });
}

function parseHostsJson(text: string, path: string): readonly Annotation[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw usage(`${path} is not JSON: ${(error as Error).message}`);
  }
  return Object.entries(parsed as Record<string, unknown>).flatMap(([address, annotations]) => {
    if (typeof annotations !== 'object' || annotations === null) {
      throw usage(`${path}: '${address}' holds no object of annotations`);
    }
    return Object.entries(annotations).map(([key, value]: [string, unknown]) => {
      if (typeof value !== 'string') throw usage(`${path}: '${key}' of '${address}' is not text`);
      return { address, key, value };
    });
  });
}

/** `zone,host`; with nothing said: zones if any are annotated, and hosts. */
export function spreadKeys(text: string | undefined, annotations: readonly Annotation[]): readonly string[] {
  if (text === undefined) return annotations.some(({ key }) => key === 'zone') ? ['zone', 'host'] : ['host'];
  const keys = text.split(',').map((key) => key.trim());
  if (keys.some((key) => key === ''))
    throw usage(`--spread-by '${text}': keys with commas between them, for example zone,host`);
  return keys;
}
