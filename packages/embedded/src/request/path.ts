/** What a path names. */
import { badRequest } from '../status/refusal.ts';

export type ApiPath =
  /** An object, a collection, or a subresource. */
  | {
      readonly type: 'resource';
      readonly group: string;
      readonly version: string;
      readonly plural: string;
      readonly namespace: string;
      readonly name: string;
      readonly subresource: string;
    }
  | { readonly type: 'versions' }
  | { readonly type: 'groups' }
  | { readonly type: 'group'; readonly group: string }
  | { readonly type: 'resources'; readonly group: string; readonly version: string }
  | { readonly type: 'other'; readonly path: string };

/** Subresources of a namespace; anything else behind its name is a resource that lives in it. */
const OF_NAMESPACES = ['status', 'finalize'];

export function parsePath(path: string): ApiPath {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const [root, ...rest] = parts;
  if (root === 'api') {
    if (rest.length === 0) return { type: 'versions' };
    const [version, ...below] = rest as [string, ...string[]];
    return below.length === 0 ? { type: 'resources', group: '', version } : resourceOf('', version, below, path);
  }
  if (root === 'apis') {
    const [group, version, ...below] = rest;
    if (group === undefined) return { type: 'groups' };
    if (version === undefined) return { type: 'group', group };
    return below.length === 0 ? { type: 'resources', group, version } : resourceOf(group, version, below, path);
  }
  return { type: 'other', path };
}

function resourceOf(group: string, version: string, parts: readonly string[], path: string): ApiPath {
  const isWithin = parts[0] === 'namespaces' && parts.length > 2 && !OF_NAMESPACES.includes(parts[2] as string);
  const namespace = isWithin ? (parts[1] as string) : '';
  const [plural = '', name = '', subresource = '', ...more] = isWithin ? parts.slice(2) : parts;
  if (more.length > 0) return { type: 'other', path };
  return { type: 'resource', group, version, plural, namespace, name, subresource };
}

function decoded(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`the path has an escape that means nothing: ${part.slice(0, 100)}`);
  }
}
