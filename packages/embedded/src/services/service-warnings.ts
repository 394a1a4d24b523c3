/** What is odd about a service, but not wrong. */
import { type Draft, objectOf, textOf, textsOf } from '../object/draft.ts';
import { needsAddress, NONE } from './service.ts';

export function serviceWarnings(service: Draft): readonly string[] {
  const spec = objectOf(service.spec);
  const isHeadless = spec.type === 'ClusterIP' && spec.clusterIP === NONE;
  const external = textsOf(spec.externalIPs);
  const ignored = (what: string): string => `spec.${what} is ignored for headless services`;
  const has = (field: string): boolean => textOf(spec[field]) !== '';
  return [
    ...(isHeadless
      ? [
          ...(has('loadBalancerIP') ? [ignored('loadBalancerIP')] : []),
          ...(external.length > 0 ? [ignored('externalIPs')] : []),
          ...(spec.sessionAffinity === 'None' ? [] : [ignored('SessionAffinity')]),
        ]
      : []),
    ...(external.length > 0 && !isHeadless && needsAddress(spec)
      ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
      : []),
    ...(external.length > 0 && !needsAddress(spec)
      ? ['spec.externalIPs is ignored when spec.type is "ExternalName"']
      : []),
    ...(needsAddress(spec) && has('externalName')
      ? ['spec.externalName is ignored when spec.type is not "ExternalName"']
      : []),
    ...(spec.trafficDistribution === 'PreferClose'
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ];
}
