/** Roles that are made of others, found by their labels. */
import { selects } from '../admission/selector.ts';
import type { LabelSelector } from '../admission/policy.ts';
import { type Draft, isObject, isSame, type JsonObject, objectOf, textOf } from '../object/draft.ts';

export interface Aggregated {
  readonly role: Draft;
  /** As they should be. */
  readonly rules: readonly JsonObject[];
}

/** What is to be written so that all roles of roles have the rules of those they select. */
export function aggregated(roles: readonly Draft[]): readonly Aggregated[] {
  const byName = [...roles].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return byName.flatMap((role) => {
    if (!isObject(role.aggregationRule)) return [];
    const rules = gathered(role, byName);
    const own = Array.isArray(role.rules) ? role.rules : [];
    return isSame([...rules], own) ? [] : [{ role, rules }];
  });
}

const nameOf = ({ metadata }: Draft): string => textOf(metadata.name);

function gathered(role: Draft, roles: readonly Draft[]): readonly JsonObject[] {
  const { clusterRoleSelectors } = objectOf(role.aggregationRule);
  const selectors = Array.isArray(clusterRoleSelectors) ? clusterRoleSelectors.filter(isObject) : [];
  const rules: JsonObject[] = [];
  for (const selector of selectors) {
    for (const one of roles) {
      if (one === role || !selects(selector as unknown as LabelSelector, objectOf(one.metadata.labels))) continue;
      const own = Array.isArray(one.rules) ? one.rules.filter(isObject) : [];
      for (const rule of own) if (!rules.some((known) => isSame(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
