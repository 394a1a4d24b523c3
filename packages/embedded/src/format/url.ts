/** Addresses as Go's `url.ParseRequestURI` reads them: an absolute URL, or an absolute path. */
import { goQuote } from './go-text.ts';

export interface ParsedUrl {
  readonly scheme: string;
  /** With the port. */
  readonly host: string;
  readonly escapedPath: string;
  readonly query: string;
  /** All of it, for comparisons. */
  readonly text: string;
}

/** The parts, or what is wrong in Go's words. */
export function parseUrl(text: string): ParsedUrl | string {
  const problem = (message: string): string => `parse ${goQuote(text)}: ${message}`;
  if (Array.from(text).some((one) => one < ' ' || one === '\x7f'))
    return problem('net/url: invalid control character in URL');
  if (text === '') return problem('empty url');
  if (text === '*') return { scheme: '', host: '', escapedPath: '*', query: '', text };
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
  if (!scheme && text.startsWith(':')) return problem('missing protocol scheme');
  const afterScheme = text.slice(scheme?.[0].length ?? 0);
  const question = afterScheme.indexOf('?');
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const query = question < 0 ? '' : afterScheme.slice(question + 1).replace(/#.*$/s, '');
  const name = scheme?.[1]?.toLowerCase() ?? '';
  if (!rest.startsWith('/')) {
    return scheme ? { scheme: name, host: '', escapedPath: '', query, text } : problem('invalid URI for request');
  }
  const authority = /^\/\/([^/]*)/.exec(rest);
  const hasAuthority = authority !== null && (scheme !== null || !rest.startsWith('///'));
  const path = hasAuthority ? rest.slice(authority[0].length) : rest;
  const host = hasAuthority ? (authority[1] as string).replace(/^.*@/, '') : '';
  const wrong = hostProblem(host) ?? escapeProblem(path);
  if (wrong !== undefined) return problem(wrong);
  return { scheme: name, host, escapedPath: escapePath(path.replace(/#.*$/s, '')), query, text };
}

function hostProblem(host: string): string | undefined {
  const bracket = host.lastIndexOf(']');
  if (host.startsWith('[') && bracket < 0) return "missing ']' in host";
  const afterHost = host.startsWith('[') ? host.slice(bracket + 1) : host.slice(colonOf(host));
  if (afterHost !== '' && !/^:\d*$/.test(afterHost)) return `invalid port ${goQuote(afterHost)} after host`;
  const bad = /[\s<>"\\^`{|}]/.exec(host);
  if (bad) return `invalid character ${goQuote(bad[0])} in host name`;
  return escapeProblem(host);
}

function colonOf(host: string): number {
  const colon = host.lastIndexOf(':');
  return colon < 0 ? host.length : colon;
}

function escapeProblem(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text);
  return bad ? `invalid URL escape ${goQuote(bad[0])}` : undefined;
}

function escapePath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]%]/gu, (one) => encodeURIComponent(one.toWellFormed()));
}

export function hostnameOf(host: string): string {
  const bracket = host.lastIndexOf(']');
  if (host.startsWith('[') && bracket > 0) return host.slice(1, bracket);
  return host.slice(0, colonOf(host));
}

export function portOf(host: string): string {
  const after = host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : host.slice(colonOf(host));
  return after.slice(1);
}

/** Values by name, in the order given; what cannot be decoded is left out. */
export function queryOf(query: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const equals = part.indexOf('=');
    const key = decode(equals < 0 ? part : part.slice(0, equals));
    const value = decode(equals < 0 ? '' : part.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
