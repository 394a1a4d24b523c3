/** The history of a set as revisions: pure decisions about which one is now, which is new, and which may be forgotten. */
import type { Stored } from '@reeve/kube';
import { canonicalJson, digest } from '@reeve/runtime';
import type { Revision } from '../../kinds/revision.ts';
import type { PodTemplate } from '../../kinds/template.ts';

export const REVISION_LABEL = 'controller-revision-hash';
export const HASH_LABEL = 'controller.kubernetes.io/hash';

/** As Kubernetes stores it: a patch that replaces the template. */
export function revisionData(template: PodTemplate): object {
  return { spec: { template: { ...template, $patch: 'replace' } } };
}

export function templateOf({ data }: Pick<Revision, 'data'>): PodTemplate | undefined {
  const stored = (data as { readonly spec?: { readonly template?: PodTemplate & { $patch?: string } } } | undefined)
    ?.spec;
  if (!stored?.template) return undefined;
  const { $patch: _patch, ...template } = stored.template;
  return template;
}

/** A short name for a template. The count of collisions makes another one of the same template. */
export function hashOf(value: unknown, collisions = 0): string {
  return digest(collisions === 0 ? value : [value, collisions])
    .replace(/^v1-/, '')
    .slice(0, 10);
}

export type RevisionStep =
  /** This one says exactly what is wanted and is the newest. */
  | { readonly type: 'keep'; readonly revision: Stored<Revision> }
  /** An older one says what is wanted: it becomes the newest again. */
  | { readonly type: 'renew'; readonly revision: Stored<Revision>; readonly number: number }
  | { readonly type: 'create'; readonly data: object; readonly number: number };

export function nextRevision(known: readonly Stored<Revision>[], template: PodTemplate): RevisionStep {
  const sorted = byNumber(known);
  const last = sorted.at(-1);
  const number = (last?.revision ?? 0) + 1;
  const data = revisionData(template);
  const wanted = canonicalJson(data);
  const equal = sorted.findLast((one) => canonicalJson(one.data) === wanted);
  if (!equal) return { type: 'create', data, number };
  return equal === last ? { type: 'keep', revision: equal } : { type: 'renew', revision: equal, number };
}

export function byNumber(known: readonly Stored<Revision>[]): readonly Stored<Revision>[] {
  return known.toSorted((a, b) => a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** The oldest ones beyond the limit that nobody uses. */
export function forgettable(
  known: readonly Stored<Revision>[],
  used: ReadonlySet<string>,
  limit: number,
): readonly Stored<Revision>[] {
  const unused = byNumber(known).filter(({ metadata }) => !used.has(metadata.name));
  return unused.slice(0, Math.max(0, unused.length - limit));
}
