/** Which nodes a pod selects, by labels and by fields. */
import type { NodeSelectorTerm, Pod } from '../kinds/pod.ts';
import { meets } from '../kinds/selector.ts';
import { nodeName } from './cluster.ts';
import type { Node } from '../kinds/node.ts';

export function selectsNode({ spec }: Pick<Pod, 'spec'>, node: Node): boolean {
  const { labels } = node.metadata;
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {})) if (labels?.[key] !== value) return false;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || meetsAnyTerm(required.nodeSelectorTerms, node);
}

/** One term is enough; all of a term must hold; a term that says nothing selects nothing. */
export function meetsAnyTerm(terms: readonly NodeSelectorTerm[], node: Node): boolean {
  return terms.some((term) => meetsTerm(term, node));
}

export function meetsTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': nodeName(node) };
  return (
    matchExpressions.every((one) => meets(one, node.metadata.labels)) && matchFields.every((one) => meets(one, fields))
  );
}
