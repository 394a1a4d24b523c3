/** Whether the rules that somebody has cover those that he wants to give. */
import { type PolicyRule, urlCovers } from './rule.ts';

const ALL = '*';
const NOTHING: PolicyRule = { apiGroups: [], resources: [], nonResourceURLs: [], resourceNames: [], verbs: [] };

/** The wanted rules that are not covered, each broken down to one group, resource, name and verb. */
export function uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(breakDown).filter((one) => !owned.some((rule) => covers(rule, one)));
}

function breakDown(rule: PolicyRule): readonly PolicyRule[] {
  const { apiGroups, resources, resourceNames, verbs, nonResourceURLs } = rule;
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({
          ...NOTHING,
          apiGroups: [group],
          resources: [resource],
          resourceNames: name,
          verbs: [verb],
        })),
      ),
    ),
  );
  const ofPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({ ...NOTHING, nonResourceURLs: [url], verbs: [verb] })),
  );
  return [...ofResources, ...ofPaths];
}

/** @param one is broken down. */
function covers(rule: PolicyRule, one: PolicyRule): boolean {
  const hasAll = (having: readonly string[], wanted: readonly string[]): boolean =>
    having.includes(ALL) || wanted.every((each) => having.includes(each));
  return (
    hasAll(rule.verbs, one.verbs) &&
    hasAll(rule.apiGroups, one.apiGroups) &&
    one.resources.every((resource) => resourceCovers(rule.resources, resource)) &&
    // A name of `*` is no wildcard, and rules without names are for all.
    (rule.resourceNames.length === 0 ||
      (one.resourceNames.length > 0 && one.resourceNames.every((name) => rule.resourceNames.includes(name)))) &&
    one.nonResourceURLs.every((url) => rule.nonResourceURLs.some((own) => urlCovers(own, url)))
  );
}

function resourceCovers(having: readonly string[], resource: string): boolean {
  if (having.includes(ALL) || having.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && having.includes(`*/${resource.slice(slash + 1)}`);
}

/** Rules about the same single resource as one, with all their verbs: for people to read. */
export function compacted(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const others: PolicyRule[] = [];
  const simple = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { apiGroups, resources, resourceNames, nonResourceURLs, verbs } = rule;
    const isSimple =
      apiGroups.length === 1 && resources.length === 1 && resourceNames.length < 2 && nonResourceURLs.length === 0;
    if (!isSimple) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([apiGroups, resources, resourceNames]);
    const same = simple.get(key);
    simple.set(key, same === undefined ? rule : { ...same, verbs: [...new Set([...same.verbs, ...verbs])] });
  }
  return [...others, ...simple.values()];
}
