/** Kinds of which little can be wrong. */
import { parseAddress } from '../format/address.ts';
import { type Draft, isObject, isSame, numberOf, objectOf, textOf } from '../object/draft.ts';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../object/names.ts';
import type { FieldError } from '../status/field-error.ts';
import { PROTOCOLS } from './container.ts';
import { Part } from './part.ts';
import { ipAddress, portNumber } from './rules.ts';
import { checkSelector } from './selector.ts';
import { checkShare, isMoreThanAll } from './workloads.ts';

export function leaseErrors(lease: Draft): readonly FieldError[] {
  const spec = new Part(lease).within('spec');
  const seconds = spec.number('leaseDurationSeconds');
  if (spec.has('leaseDurationSeconds') && seconds <= 0) {
    spec.wrong('leaseDurationSeconds', seconds, 'must be greater than 0');
  }
  spec.notNegative('leaseTransitions');
  return spec.errors;
}

export function budgetErrors(budget: Draft, _old: Draft | undefined, subresource: string): readonly FieldError[] {
  const spec = new Part(budget).within('spec');
  if (subresource === 'status') return [];
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec.object;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = new Map<string, unknown>([
      ['MinAvailable', minAvailable],
      ['Selector', selector ?? null],
      ['MaxUnavailable', maxUnavailable],
      ['UnhealthyPodEvictionPolicy', unhealthyPodEvictionPolicy ?? null],
    ]);
    spec.isWrong(shown, 'minAvailable and maxUnavailable cannot be both set');
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    if (!spec.has(field)) continue;
    checkShare(spec, field);
    if (isMoreThanAll(spec.object[field])) spec.wrong(field, spec.object[field], 'must not be greater than 100%');
  }
  for (const one of spec.maybe('selector')) checkSelector(one);
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  const policy = spec.text('unhealthyPodEvictionPolicy');
  if (policy !== '' && !policies.includes(policy)) spec.unsupported('unhealthyPodEvictionPolicy', policy, policies);
  return spec.errors;
}

const MOST_PRIORITY = 1_000_000_000;
const SYSTEM = 'system-';
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

export function priorityClassErrors(priority: Draft, old: Draft | undefined): readonly FieldError[] {
  const whole = new Part(priority);
  const name = textOf(priority.metadata.name);
  if (old !== undefined) {
    if (whole.number('value') !== (numberOf(old.value) ?? 0)) {
      whole.forbid('value', 'may not be changed in an update.');
    }
    whole.keeps('preemptionPolicy', old);
    return whole.errors;
  }
  if (name.startsWith(SYSTEM)) {
    if (SYSTEM_CLASSES[name] !== whole.number('value')) {
      const why =
        name in SYSTEM_CLASSES
          ? `value of ${name} PriorityClass must be ${SYSTEM_CLASSES[name]}`
          : `${name} is not a known system priority class`;
      whole.forbid(
        'metadata.name',
        `priority class names with '${SYSTEM}' prefix are reserved for system use only. error: ${why}`,
      );
    }
  } else if (whole.number('value') > MOST_PRIORITY) {
    whole.forbid('value', `maximum allowed value of a user defined priority is ${MOST_PRIORITY}`);
  }
  if (whole.has('preemptionPolicy')) whole.oneOf('preemptionPolicy', ['PreemptLowerPriority', 'Never']);
  return whole.errors;
}

export function storageClassErrors(storage: Draft, old: Draft | undefined): readonly FieldError[] {
  const whole = new Part(storage);
  if (old !== undefined) {
    for (const field of ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']) whole.keeps(field, old);
    return whole.errors;
  }
  const provisioner = whole.text('provisioner').toLowerCase();
  if (whole.needs('provisioner')) whole.wrong('provisioner', provisioner, ...qualifiedName(provisioner));
  const reclaim = whole.text('reclaimPolicy');
  if (reclaim !== '' && !['Delete', 'Retain'].includes(reclaim)) {
    whole.unsupported('reclaimPolicy', reclaim, ['Delete', 'Retain']);
  }
  const modes = ['Immediate', 'WaitForFirstConsumer'];
  const mode = whole.text('volumeBindingMode');
  if (!modes.includes(mode)) whole.unsupported('volumeBindingMode', mode, modes);
  return whole.errors;
}

export function revisionErrors(revision: Draft, old: Draft | undefined): readonly FieldError[] {
  const whole = new Part(revision);
  whole.notNegative('revision');
  if (old !== undefined) whole.keeps('data', old);
  else if (!whole.has('data')) whole.missing('data', 'data is mandatory');
  else if (!isObject(revision.data)) whole.missing('data', 'data must be a valid JSON object');
  return whole.errors;
}

/** Addresses of loopback are taken: pods of a local node have no others. */
function checkAddress(address: Part): void {
  const ip = address.text('ip');
  address.wrong('ip', ip, ...ipAddress(ip));
  if (ipAddress(ip).length > 0) address.wrong('ip', ip, 'must be a valid IP address');
  address.named('hostname', dnsLabel);
  address.named('nodeName', dnsSubdomain);
}

export function endpointsErrors(endpoints: Draft, old: Draft | undefined): readonly FieldError[] {
  const whole = new Part(endpoints);
  for (const subset of whole.list('subsets')) {
    const addresses = [...subset.list('addresses'), ...subset.list('notReadyAddresses')];
    if (addresses.length === 0) subset.isMissing('must specify `addresses` or `notReadyAddresses`');
    for (const address of addresses) checkAddress(address);
    const ports = subset.list('ports');
    for (const port of ports) {
      if (ports.length > 1) port.needs('name');
      port.named('name', dnsLabel);
      port.wrong('port', port.number('port'), ...portNumber(port.number('port')));
      port.oneOf('protocol', PROTOCOLS);
    }
  }
  return old !== undefined && isSame(old.subsets, endpoints.subsets) ? [] : whole.errors;
}

const MOST_ENDPOINTS = 1_000;
const TYPES = ['FQDN', 'IPv4', 'IPv6'];

export function sliceErrors(slice: Draft, old: Draft | undefined): readonly FieldError[] {
  const whole = new Part(slice);
  whole.oneOf('addressType', TYPES);
  const names = new Set<string>();
  for (const port of whole.list('ports')) {
    port.named('name', dnsLabel);
    if (names.has(port.text('name'))) port.duplicate('name', port.text('name'));
    names.add(port.text('name'));
    port.oneOf('protocol', PROTOCOLS);
  }
  if (old === undefined || !isSame(old.endpoints, slice.endpoints)) checkEndpoints(whole);
  if (old !== undefined) whole.keeps('addressType', old);
  return whole.errors;
}

function checkEndpoints(slice: Part): void {
  const endpoints = slice.list('endpoints');
  if (endpoints.length > MOST_ENDPOINTS) return slice.tooMany('endpoints', endpoints.length, MOST_ENDPOINTS);
  const type = slice.text('addressType');
  for (const endpoint of endpoints) {
    const addresses = endpoint.texts('addresses');
    if (addresses.length === 0) endpoint.missing('addresses', 'must contain at least 1 address');
    for (const [index, address] of addresses.entries()) {
      if (type !== 'IPv4' && type !== 'IPv6') continue;
      const problems = ipAddress(address);
      endpoint.wrong(`addresses[${index}]`, address, ...problems);
      if (problems.length === 0 && bitsOf(address) !== (type === 'IPv4' ? 32 : 128)) {
        endpoint.wrong('addresses', address, `must be an ${type} address`);
      }
    }
    endpoint.named('nodeName', dnsSubdomain);
    endpoint.named('hostname', dnsLabel);
  }
}

function bitsOf(text: string): number {
  const address = parseAddress(text);
  return typeof address === 'string' ? 0 : address.bits;
}

/** An event belongs to the namespace of what it is about. */
export function eventErrors(event: Draft): readonly FieldError[] {
  const whole = new Part(event);
  const about = textOf(objectOf(event.involvedObject).namespace);
  const namespace = textOf(event.metadata.namespace);
  const isNewer = textOf(event.eventTime) !== '';
  const isFree = isNewer ? about !== '' || namespace === 'kube-system' : false;
  const fits = about === '' ? namespace === 'default' : about === namespace;
  if (!fits && !isFree) whole.wrong('involvedObject.namespace', about, 'does not match event.namespace');
  if (!isNewer) return whole.errors;
  for (const field of ['reportingComponent', 'reportingInstance', 'action', 'reason']) whole.needs(field);
  whole.wrong(
    'reportingComponent',
    whole.text('reportingComponent'),
    ...qualifiedName(whole.text('reportingComponent')),
  );
  return whole.errors;
}
