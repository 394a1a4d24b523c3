/** Gives a new or changed service what the server must choose for it: an address, ports on the nodes. */
import { type Draft, isSame, type JsonObject, numberOf, objectOf, textOf, textsOf } from '../object/draft.ts';
import { each, within } from '../kinds/defaults/fill.ts';
import type { Allocation } from '../kinds/kind.ts';
import { type FieldError, invalid } from '../status/field-error.ts';
import { internalError, invalidObject } from '../status/refusal.ts';
import { alignAddresses, isLeftAlone, settleFamilies } from './families.ts';
import { giveHealthPort, giveNodePorts, NodePorts } from './node-ports.ts';
import { addressNumber, addressText, chosen, isWithin } from './ranges.ts';
import {
  givesNodePorts,
  hasNodePorts,
  isExternal,
  needsAddress,
  needsHealthPort,
  NONE,
  nodePortsOf,
  sameTexts,
} from './service.ts';

const KIND = { group: '', kind: 'Service' };

/** Throws the refusal when what it asks for cannot be had. */
export function allocateService(service: Draft, old: Draft | undefined, at: Allocation): void {
  const spec = within(service, 'spec');
  const before = old === undefined ? undefined : objectOf(old.spec);
  const refuse = (errors: readonly FieldError[]): void => {
    if (errors.length > 0) throw invalidObject(KIND, textOf(service.metadata.name), errors);
  };
  if (before !== undefined) keepAllocated(spec, before);
  alignAddresses(spec, before);
  refuse(settleFamilies(service, old));
  if (wantsAddress(spec, before)) refuse(giveAddress(spec, textOf(service.metadata.name), at));
  const ports = new NodePorts(at, before === undefined ? [] : nodePortsOf(before));
  if (hasNodePorts(spec)) refuse(giveNodePorts(spec, ports, before !== undefined));
  if (needsHealthPort(spec) && !(before !== undefined && needsHealthPort(before))) giveHealthPort(spec, ports);
  if (before !== undefined) forgetOthers(service, spec, before);
  if (!needsAddress(spec)) delete spec.internalTrafficPolicy;
}

/** Who sends the same again without what was given to him keeps it. */
function keepAllocated(spec: JsonObject, before: JsonObject): void {
  if (needsAddress(spec) && needsAddress(before)) {
    if (textOf(spec.clusterIP) === '' && textOf(before.clusterIP) !== '') spec.clusterIP = textOf(before.clusterIP);
    const had = textsOf(before.clusterIPs);
    if (textsOf(spec.clusterIPs).length === 0 && had.length > 0) spec.clusterIPs = [...had];
  }
  if (givesNodePorts(spec) && givesNodePorts(before)) {
    const had = nodePortsOf(before);
    const used = nodePortsOf(spec).filter((port) => had.includes(port));
    const byName = new Map(each(before, 'ports').map(({ name, nodePort }) => [textOf(name), numberOf(nodePort) ?? 0]));
    for (const port of each(spec, 'ports')) {
      const kept = byName.get(textOf(port.name)) ?? 0;
      if (!port.nodePort && kept !== 0 && !used.includes(kept)) port.nodePort = kept;
    }
  }
  if (needsHealthPort(spec) && needsHealthPort(before) && !spec.healthCheckNodePort && before.healthCheckNodePort) {
    spec.healthCheckNodePort = before.healthCheckNodePort;
  }
}

/** What has one has it for good; only what had none because it was a mere name gets one later. */
function wantsAddress(spec: JsonObject, before: JsonObject | undefined): boolean {
  if (!needsAddress(spec) || textsOf(spec.clusterIPs)[0] === NONE) return false;
  return before === undefined || (!needsAddress(before) && !isLeftAlone(spec, before));
}

function giveAddress(spec: JsonObject, name: string, { dryRun, random, ranges, taken }: Allocation) {
  const { addresses } = ranges;
  const asked = textsOf(spec.clusterIPs)[0] ?? '';
  const number = addressNumber(asked);
  if (asked === '') {
    const held = dryRun ? undefined : taken();
    const free = held ? chosen(addresses, (one) => held.has(addressText(one)), random) : addresses.network;
    if (free === undefined) {
      throw internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`);
    }
    spec.clusterIP = addressText(free);
    spec.clusterIPs = [spec.clusterIP];
    return [];
  }
  const refused = (why: string): readonly FieldError[] => [
    invalid('spec.clusterIPs', textsOf(spec.clusterIPs), `failed to allocate IP ${asked}: ${why}`),
  ];
  if (number === undefined || !isWithin(addresses, number)) {
    // A dry run asks another part of the real server.
    const outside = `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${addresses.text}`;
    return refused(dryRun ? outside : 'the provided network does not match the current range');
  }
  return !dryRun && taken().has(asked) ? refused('provided IP is already allocated') : [];
}

/** What a service of another type had, and did not change, goes with the type. */
function forgetOthers(service: Draft, spec: JsonObject, before: JsonObject): void {
  if (needsAddress(before) && !needsAddress(spec)) {
    if (spec.clusterIP === before.clusterIP && sameTexts(spec.clusterIPs, before.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (isSame(spec.ipFamilies, before.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === before.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  const had = nodePortsOf(before);
  if (hasNodePorts(before) && !hasNodePorts(spec) && nodePortsOf(spec).every((port) => had.includes(port))) {
    for (const port of each(spec, 'ports')) delete port.nodePort;
  }
  const drop = (field: string, applied: boolean, applies: boolean): void => {
    if (applied && !applies && isSame(spec[field], before[field])) delete spec[field];
  };
  const [wasBalanced, isBalanced] = [before.type === 'LoadBalancer', spec.type === 'LoadBalancer'];
  drop('healthCheckNodePort', needsHealthPort(before), needsHealthPort(spec));
  drop('allocateLoadBalancerNodePorts', wasBalanced, isBalanced);
  drop('loadBalancerClass', wasBalanced, isBalanced);
  drop('externalTrafficPolicy', isExternal(before), isExternal(spec));
  if (!isBalanced) service.status = { ...objectOf(service.status), loadBalancer: {} };
}
