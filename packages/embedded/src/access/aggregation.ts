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
  const rulesOf = new Map(byName.map((role) => [role, ownRules(role)]));
  const gathering = byName.filter(({ aggregationRule }) => isObject(aggregationRule));
  const settle = (role: Draft): boolean => {
    const rules = gathered(role, rulesOf);
    const isSettled = isSame(rules, rulesOf.get(role));
    rulesOf.set(role, rules);
    return isSettled;
  };
  // A role may gather from roles that gather, too. Those that do so in a circle may never agree: turns are counted.
  for (const _turn of gathering) if (gathering.map(settle).every(Boolean)) break;
  return gathering.flatMap((role) => {
    const rules = rulesOf.get(role) ?? [];
    return isSame(rules, ownRules(role)) ? [] : [{ role, rules }];
  });
}

const nameOf = ({ metadata }: Draft): string => textOf(metadata.name);

const ownRules = ({ rules }: Draft): JsonObject[] => (Array.isArray(rules) ? rules.filter(isObject) : []);

function gathered(role: Draft, rulesOf: ReadonlyMap<Draft, readonly JsonObject[]>): JsonObject[] {
  const { clusterRoleSelectors } = objectOf(role.aggregationRule);
  const selectors = Array.isArray(clusterRoleSelectors) ? clusterRoleSelectors.filter(isObject) : [];
  const found: JsonObject[] = [];
  for (const selector of selectors) {
    for (const [one, rules] of rulesOf) {
      if (one === role || !selects(selector as unknown as LabelSelector, objectOf(one.metadata.labels))) continue;
      for (const rule of rules) if (!found.some((known) => isSame(known, rule))) found.push(rule);
    }
  }
  return found;
}
