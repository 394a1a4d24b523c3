/** What a service asks for and what it holds. */
import { type Draft, type JsonObject, numberOf, objectOf, textOf, textsOf } from '../object/draft.ts';
import { each } from '../kinds/defaults/fill.ts';
import { heldPort } from './ranges.ts';

export const NONE = 'None';

export const needsAddress = (spec: JsonObject): boolean => spec.type !== 'ExternalName';

/** It shall have no address: clients find its pods by name. */
export const isHeadless = (spec: JsonObject): boolean => sameTexts(spec.clusterIPs, [NONE]);

/** Nobody knows its pods: somebody else writes where it leads. */
export const hasNoSelector = (spec: JsonObject): boolean => Object.keys(objectOf(spec.selector)).length === 0;

export const hasNodePorts = ({ type }: JsonObject): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** A load balancer may do without them. */
export const givesNodePorts = (spec: JsonObject): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

export const needsHealthPort = (spec: JsonObject): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

export const isExternal = (spec: JsonObject): boolean =>
  hasNodePorts(spec) || (spec.type === 'ClusterIP' && textsOf(spec.externalIPs).length > 0);

export const nodePortsOf = (spec: JsonObject): readonly number[] =>
  each(spec, 'ports').flatMap(({ nodePort }) => (nodePort ? [nodePort as number] : []));

export const sameTexts = (one: unknown, other: unknown): boolean =>
  JSON.stringify(textsOf(one)) === JSON.stringify(textsOf(other));

/** What no other service may have. */
export function heldBy(service: Draft): readonly string[] {
  const spec = objectOf(service.spec);
  if (textOf(spec.clusterIP) === '' && nodePortsOf(spec).length === 0) return [];
  const health = numberOf(spec.healthCheckNodePort) ?? 0;
  return [
    ...textsOf(spec.clusterIPs).filter((one) => one !== NONE),
    ...nodePortsOf(spec).map(heldPort),
    ...(health === 0 ? [] : [heldPort(health)]),
  ];
}
