/** What may not stand in a service. Its addresses were looked at when they were given, and are again, as the server does. */
import { type Draft, type JsonObject, numberOf, objectOf, textOf } from '../object/draft.ts';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../object/names.ts';
import type { FieldError } from '../status/field-error.ts';
import { PROTOCOLS } from '../values/container.ts';
import { Part } from '../values/part.ts';
import { ipAddress, labelErrors, portErrors, portNumber } from '../values/rules.ts';
import { addressErrors } from './address-errors.ts';
import { hasNodePorts, isExternal, isHeadless, needsAddress, needsHealthPort, NONE, sameTexts } from './service.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const BALANCED = "may only be used when `type` is 'LoadBalancer'";
const MOST_AFFINITY = 86_400;

export function serviceErrors(service: Draft, old: Draft | undefined, subresource: string): readonly FieldError[] {
  if (subresource === 'status') return statusErrors(service);
  const spec = new Part(service).within('spec');
  const before = old === undefined ? undefined : objectOf(old.spec);
  if (before !== undefined) checkChange(spec, before);
  checkType(spec);
  const names = new Set<string>();
  const ports = spec.list('ports');
  for (const port of ports) checkPort(port, ports.length > 1, names);
  spec.note(...labelErrors(objectOf(spec.object.selector), spec.at('selector')));
  checkAffinity(spec);
  spec.note(...addressErrors(spec.object, before));
  for (const [index, address] of spec.texts('externalIPs').entries()) {
    spec.wrong(`externalIPs[${index}]`, address, ...ipAddress(address));
  }
  spec.oneOf('type', TYPES);
  checkPortsTogether(spec);
  checkBalancing(spec);
  checkPolicies(spec);
  return spec.errors;
}

function statusErrors(service: Draft): readonly FieldError[] {
  const ingress = new Part(service).within('status').within('loadBalancer');
  if (objectOf(service.spec).type !== 'LoadBalancer' && ingress.list('ingress').length > 0) {
    ingress.forbid('ingress', "may only be used when `spec.type` is 'LoadBalancer'");
  }
  return ingress.errors;
}

function checkType(spec: Part): void {
  if (needsAddress(spec.object)) {
    if (spec.list('ports').length === 0 && !isHeadless(spec.object)) spec.missing('ports');
    if (isHeadless(spec.object) && hasNodePorts(spec.object)) {
      spec.wrong('clusterIPs[0]', NONE, `may not be set to 'None' for ${spec.text('type')} services`);
    }
    return;
  }
  for (const field of ['clusterIPs', 'ipFamilies']) {
    if (spec.texts(field).length > 0) spec.forbid(field, 'may not be set for ExternalName services');
  }
  if (spec.has('ipFamilyPolicy')) spec.forbid('ipFamilyPolicy', 'may not be set for ExternalName services');
  const name = spec.text('externalName').replace(/\.$/, '');
  if (name === '') spec.missing('externalName');
  else spec.wrong('externalName', name, ...dnsSubdomain(name, false));
}

function checkPort(port: Part, needsName: boolean, names: Set<string>): void {
  const name = port.text('name');
  if (needsName) port.needs('name');
  if (name !== '') {
    port.named('name', dnsLabel);
    if (names.has(name)) port.duplicate('name', name);
    names.add(name);
  }
  port.wrong('port', port.number('port'), ...portNumber(port.number('port')));
  port.oneOf('protocol', PROTOCOLS);
  port.note(...portErrors(port.object.targetPort, port.at('targetPort')));
  if (port.has('appProtocol'))
    port.wrong('appProtocol', port.text('appProtocol'), ...qualifiedName(port.text('appProtocol')));
}

function checkAffinity(spec: Part): void {
  const affinity = spec.text('sessionAffinity');
  if (affinity === '') return spec.missing('sessionAffinity');
  if (affinity === 'None') {
    if (spec.has('sessionAffinityConfig')) {
      spec.forbid('sessionAffinityConfig', 'must not be set when session affinity is None');
    }
    return;
  }
  if (affinity !== 'ClientIP') return spec.unsupported('sessionAffinity', affinity, ['ClientIP', 'None']);
  const seconds = numberOf(objectOf(objectOf(spec.object.sessionAffinityConfig).clientIP).timeoutSeconds);
  const at = 'sessionAffinityConfig.clientIP.timeoutSeconds';
  if (seconds !== undefined && (seconds <= 0 || seconds > MOST_AFFINITY)) {
    spec.wrong(at, seconds, `must be greater than 0 and less than ${MOST_AFFINITY}`);
  }
}

function checkPortsTogether(spec: Part): void {
  const ports = spec.list('ports');
  const [nodePorts, numbers] = [new Set<string>(), new Set<string>()];
  for (const port of ports) {
    const nodePort = port.number('nodePort');
    if (nodePort === 0) continue;
    if (spec.object.type === 'ClusterIP') port.forbid('nodePort', "may not be used when `type` is 'ClusterIP'");
    const key = `${port.text('protocol')} ${nodePort}`;
    if (nodePorts.has(key)) port.duplicate('nodePort', nodePort);
    nodePorts.add(key);
  }
  for (const port of ports) {
    const key = `${port.text('protocol')} ${port.number('port')}`;
    if (numbers.has(key)) port.isDuplicate(shownPort(port));
    numbers.add(key);
  }
}

/** A struct of Go's, of which protocol and port are filled in. */
const shownPort = (port: Part): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ['Name', ''],
    ['Protocol', port.text('protocol')],
    ['AppProtocol', null],
    ['Port', port.number('port')],
    ['TargetPort', 0],
    ['NodePort', 0],
  ]);

function checkBalancing(spec: Part): void {
  const isBalanced = spec.object.type === 'LoadBalancer';
  if (spec.texts('loadBalancerSourceRanges').length > 0 && !isBalanced)
    spec.forbid('LoadBalancerSourceRanges', BALANCED);
  if (spec.has('allocateLoadBalancerNodePorts') && !isBalanced) spec.forbid('allocateLoadBalancerNodePorts', BALANCED);
  if (!spec.has('loadBalancerClass')) return;
  const name = spec.text('loadBalancerClass');
  if (isBalanced) spec.wrong('loadBalancerClass', name, ...qualifiedName(name));
  else spec.forbid('loadBalancerClass', BALANCED);
}

function checkPolicies(spec: Part): void {
  const external = spec.text('externalTrafficPolicy');
  if (isExternal(spec.object)) spec.oneOf('externalTrafficPolicy', ['Cluster', 'Local']);
  else if (external !== '') {
    spec.wrong('externalTrafficPolicy', external, 'may only be set for externally-accessible services');
  }
  const port = spec.number('healthCheckNodePort');
  if (needsHealthPort(spec.object)) {
    if (port === 0) spec.missing('healthCheckNodePort');
    else spec.wrong('healthCheckNodePort', port, ...portNumber(port));
  } else if (port !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    spec.wrong('healthCheckNodePort', port, detail);
  }
  const internal = spec.text('internalTrafficPolicy');
  const isRouted = hasNodePorts(spec.object) || spec.object.type === 'ClusterIP';
  if (isRouted || internal !== '') spec.oneOf('internalTrafficPolicy', ['Cluster', 'Local']);
  const spread = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  const wanted = spec.text('trafficDistribution');
  if (spec.has('trafficDistribution') && !spread.includes(wanted)) {
    spec.unsupported('trafficDistribution', wanted, spread);
  }
}

/** An address stays, once given. */
function checkChange(spec: Part, before: JsonObject): void {
  const now = spec.object;
  if (needsAddress(now) && needsAddress(before)) {
    if (!(isHeadless(now) && isHeadless(before))) checkAddresses(spec, before);
    if (!isHeadless(now) && !isHeadless(before) && !sameTexts(now.ipFamilies, before.ipFamilies)) {
      const first = textOf((now.ipFamilies as readonly unknown[] | undefined)?.[0]);
      const had = textOf((before.ipFamilies as readonly unknown[] | undefined)?.[0]);
      if (first !== had) spec.wrong('ipFamilies[0]', spec.texts('ipFamilies'), 'may not change once set');
    }
  }
  if (now.type === 'LoadBalancer' && before.type === 'LoadBalancer') {
    if (now.loadBalancerClass !== before.loadBalancerClass) {
      spec.wrong('loadBalancerClass', now.loadBalancerClass ?? null, 'may not change once set');
    }
  }
  if (needsHealthPort(now) && needsHealthPort(before) && now.healthCheckNodePort !== before.healthCheckNodePort) {
    spec.forbid('healthCheckNodePort', 'field is immutable');
  }
}

function checkAddresses(spec: Part, before: JsonObject): void {
  const now = spec.texts('clusterIPs');
  const had = new Part(before).texts('clusterIPs');
  if (now.length === 0 && had.length > 0) {
    return spec.wrong('clusterIPs[0]', [], 'primary clusterIP can not be unset');
  }
  const compared = now.length === had.length ? now.length : Math.min(1, had.length);
  for (let index = 0; index < compared; index++) {
    if (now[index] !== had[index]) spec.wrong(`clusterIPs[${index}]`, now, 'may not change once set');
  }
}
