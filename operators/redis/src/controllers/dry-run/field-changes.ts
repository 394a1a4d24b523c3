/** What differs between an object as it is and as it would be, field by field. Pure. */
import { canonicalJson } from '@reeve/runtime';

export interface FieldChange {
  /** `spec.replicas`, `spec.template.spec.containers[0].image`. */
  readonly path: string;
  /** Undefined: it is not there. Long texts are only said to be others. */
  readonly before?: string;
  readonly after?: string;
}

const MOST_TEXT = 60;

export function fieldChanges(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (isFolder(before) && isFolder(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    const step = (name: string): string =>
      Array.isArray(after) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    return names.flatMap((name) => fieldChanges(before[name], after[name], step(name)));
  }
  const [was, is] = [textOf(before), textOf(after)];
  if (was === is) return [];
  const isLong = [was, is].some((text) => text !== undefined && (text.length > MOST_TEXT || text.includes('\n')));
  if (isLong && was !== undefined && is !== undefined) return [{ path, before: '…', after: '…' }];
  return [{ path, ...(was !== undefined && { before: short(was) }), ...(is !== undefined && { after: short(is) }) }];
}

const isFolder = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : canonicalJson(value);
}

function short(text: string): string {
  return text.length > MOST_TEXT || text.includes('\n') ? '…' : text;
}
