/** Whether a policy, or a binding, is about a request. */
import { isObject, type JsonObject } from '../object/draft.ts';
import type { LabelSelector, MatchResources, ResourceRule } from './policy.ts';
import type { AdmissionRequest, EquivalentRequest, GroupVersionResource } from './request.ts';
import { isEmptySelector, selects } from './selector.ts';

/** The request in the version that the policy names. */
export type Match = EquivalentRequest;

/** `problem` when it cannot be said, because the namespace is not there. */
export function matches(
  constraints: MatchResources,
  request: AdmissionRequest,
): Match | { problem: string } | undefined {
  const inNamespace = matchesNamespace(constraints.namespaceSelector ?? {}, request);
  if (inNamespace === false || !matchesLabels(constraints.objectSelector ?? {}, request)) return undefined;
  if (matchRules(constraints.excludeResourceRules ?? [], constraints, request)) return undefined;
  const rules = constraints.resourceRules ?? [];
  const match = rules.length === 0 ? request : matchRules(rules, constraints, request);
  return match && typeof inNamespace === 'string' ? { problem: inNamespace } : match;
}

function matchesNamespace(selector: LabelSelector, request: AdmissionRequest): boolean | string {
  const isNamespace = request.resource.resource === 'namespaces';
  if ((request.namespace === '' && !isNamespace) || isEmptySelector(selector)) return true;
  const isWritten = request.operation === 'CREATE' || request.operation === 'UPDATE';
  const namespace = isNamespace && !request.subResource && isWritten ? request.object : request.namespaceObject;
  return namespace ? selects(selector, labelsOf(namespace)) : `namespaces "${request.namespace}" not found`;
}

function matchesLabels(selector: LabelSelector, { object, oldObject }: AdmissionRequest): boolean {
  if (isEmptySelector(selector)) return true;
  return [object, oldObject].some((one) => one !== undefined && selects(selector, labelsOf(one)));
}

/** Of any object. */
export function labelsOf(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  const labels = isObject(metadata) ? metadata['labels'] : undefined;
  return isObject(labels) ? labels : {};
}

function matchRules(
  rules: readonly ResourceRule[],
  { matchPolicy = 'Equivalent' }: MatchResources,
  request: AdmissionRequest,
): Match | undefined {
  const isMeant = (rule: ResourceRule, resource: GroupVersionResource): boolean =>
    matchesRule(rule, request, resource) && isNamed(rule, request.name);
  if (rules.some((rule) => isMeant(rule, request.resource))) return request;
  if (matchPolicy === 'Exact') return undefined;
  return request.equivalents?.find(({ resource }) => rules.some((rule) => isMeant(rule, resource)));
}

const isNamed = ({ resourceNames = [] }: ResourceRule, name: string): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name);

function matchesRule(rule: ResourceRule, request: AdmissionRequest, resource: GroupVersionResource): boolean {
  const has = (items: readonly string[] = [], wanted: string): boolean => items.includes('*') || items.includes(wanted);
  return (
    matchesScope(rule.scope, request, resource) &&
    has(rule.operations, request.operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((name) => matchesResource(name, resource.resource, request.subResource ?? ''))
  );
}

function matchesScope(scope = '*', { namespace }: AdmissionRequest, resource: GroupVersionResource): boolean {
  const isCluster = namespace === '' || (resource.group === '' && resource.resource === 'namespaces');
  return scope === '*' || scope === (isCluster ? 'Cluster' : 'Namespaced');
}

/** `pods`, `pods/status`, `*`, `*` with a slash: the part after the slash must be there if one is asked for. */
function matchesResource(pattern: string, resource: string, subResource: string): boolean {
  const slash = pattern.indexOf('/');
  const [main, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (main === '*' || main === resource) && (sub === '*' || sub === subResource);
}
