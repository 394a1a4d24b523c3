/** One rule of a role: which requests it allows. */
import { goQuote } from '../format/go-text.ts';
import { isObject, type JsonObject, textsOf } from '../object/draft.ts';
import type { Attributes } from './access.ts';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly resourceNames: readonly string[];
  readonly verbs: readonly string[];
}

const ALL = '*';

/** Rules as they stand in an object. What is no rule allows nothing. */
export function readRules(value: unknown): readonly PolicyRule[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map((rule) => ({
    apiGroups: textsOf(rule.apiGroups),
    resources: textsOf(rule.resources),
    nonResourceURLs: textsOf(rule.nonResourceURLs),
    resourceNames: textsOf(rule.resourceNames),
    verbs: textsOf(rule.verbs),
  }));
}

const FIELDS = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

/** A rule as objects have it: empty lists are left out, verbs are always there. */
export function ruleJson(rule: PolicyRule): JsonObject {
  const given = FIELDS.filter((field) => field === 'verbs' || rule[field].length > 0);
  return Object.fromEntries(given.map((field) => [field, [...rule[field]]]));
}

export type Asked = Pick<Attributes, 'verb' | 'path' | 'group' | 'resource' | 'subresource' | 'name'>;

export function ruleAllows(rule: PolicyRule, asked: Asked): boolean {
  if (!rule.verbs.includes(ALL) && !rule.verbs.includes(asked.verb)) return false;
  if (asked.path !== undefined) return rule.nonResourceURLs.some((url) => urlCovers(url, asked.path as string));
  return (
    (rule.apiGroups.includes(ALL) || rule.apiGroups.includes(asked.group)) &&
    resourceMatches(rule, asked) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(asked.name))
  );
}

/** `pods` is not `pods/log`; `*` is both, `*\/log` is the latter of all resources. */
function resourceMatches({ resources }: PolicyRule, { resource, subresource }: Asked): boolean {
  if (resources.includes(ALL)) return true;
  if (subresource === '') return resources.includes(resource);
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

/** A star stands at the end, and for anything. */
export function urlCovers(rule: string, path: string): boolean {
  if (rule === ALL || rule === path) return true;
  return rule.endsWith(ALL) && path.startsWith(rule.replace(/\*+$/, ''));
}

/** `["a" "b"]`, as Go prints lists. */
export const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`;

/** `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}` */
export function ruleText(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const;
  const given = parts.filter(([, values]) => values.length > 0);
  return `{${given.map(([name, values]) => `${name}:${goList(values)}`).join(', ')}}`;
}
