/** The fields of a service that say how many addresses it has, and of which families. Here there is one family, IPv4. */
import { type Draft, type JsonObject, textOf, textsOf } from '../object/draft.ts';
import { type FieldError, invalid } from '../status/field-error.ts';
import { addressErrors } from './address-errors.ts';
import { hasNoSelector, hasNodePorts, needsAddress, NONE, sameTexts } from './service.ts';

const FAMILY = 'IPv4';
const OTHER: ReadonlyMap<string, string> = new Map([
  ['IPv4', 'IPv6'],
  ['IPv6', 'IPv4'],
]);
const POLICY = 'spec.ipFamilyPolicy';

/** Of the two fields for addresses, one is enough. */
export function alignAddresses(spec: JsonObject, before: JsonObject | undefined): void {
  const given = textOf(spec.clusterIP);
  if (before === undefined) {
    if (given !== '' && textsOf(spec.clusterIPs).length === 0) spec.clusterIPs = [given];
    return;
  }
  const had = textOf(before.clusterIP);
  const isCleared = textsOf(before.clusterIPs).length > 0 && textsOf(spec.clusterIPs).length === 0;
  if (isCleared && had === given) spec.clusterIPs = [...textsOf(before.clusterIPs)];
  if (had === given || !sameTexts(before.clusterIPs, spec.clusterIPs)) return;
  if (given === '') delete spec.clusterIPs;
  else spec.clusterIPs = [given];
}

/** Fills in what is not said. What does not go together is answered, and then nothing more is to be done. */
export function settleFamilies(service: Draft, old: Draft | undefined): readonly FieldError[] {
  const spec = service.spec as JsonObject;
  const before = old?.spec as JsonObject | undefined;
  if (!needsAddress(spec) || isLeftAlone(spec, before)) return [];
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? policyOf(spec);
  const wrong = addressErrors(spec, before);
  if (wrong.length > 0) return wrong;
  const odd = [...(before === undefined ? [] : reduced(spec, before)), ...crowded(spec), ...inferred(spec)];
  if (odd.length > 0) return odd;
  if (isOpen(spec)) {
    openFamilies(spec);
    return [];
  }
  const missing = unavailable(spec);
  if (missing.length === 0 && textsOf(spec.ipFamilies).length === 0) spec.ipFamilies = [FAMILY];
  return missing;
}

/** A service that prefers two families gets a second one when it asks for it, not when the cluster changes. */
export function isLeftAlone(spec: JsonObject, before: JsonObject | undefined): boolean {
  return (
    before !== undefined &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (before.ipFamilyPolicy ?? spec.ipFamilyPolicy) === spec.ipFamilyPolicy &&
    before.type === spec.type &&
    (spec.type === 'ClusterIP' || hasNodePorts(spec)) &&
    sameTexts(before.clusterIPs, spec.clusterIPs) &&
    sameTexts(before.ipFamilies, spec.ipFamilies)
  );
}

const isOpen = (spec: JsonObject): boolean => spec.clusterIP === NONE && hasNoSelector(spec);

const policyOf = (spec: JsonObject): string => (isOpen(spec) ? 'RequireDualStack' : 'SingleStack');

/** Who goes back to one family has to say so. */
function reduced(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  const [addresses, families] = [textsOf(spec.clusterIPs), textsOf(spec.ipFamilies)];
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (addresses.length > 1 && sameTexts(before.clusterIPs, addresses)) spec.clusterIPs = addresses.slice(0, 1);
    if (families.length > 1 && sameTexts(before.ipFamilies, families)) spec.ipFamilies = families.slice(0, 1);
    return [];
  }
  const isLess = (now: readonly string[], then: unknown): boolean =>
    now.length > 0 && now.length < textsOf(then).length;
  const refused = (what: string): FieldError =>
    invalid(POLICY, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(isLess(addresses, before.clusterIPs) ? [refused('cluster IP')] : []),
    ...(isLess(families, before.ipFamilies) ? [refused('IP family')] : []),
  ];
}

function crowded(spec: JsonObject): readonly FieldError[] {
  if (spec.ipFamilyPolicy !== 'SingleStack') return [];
  const refused = (what: string): FieldError =>
    invalid(
      POLICY,
      spec.ipFamilyPolicy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(textsOf(spec.clusterIPs).length === 2 ? [refused('cluster IPs')] : []),
    ...(textsOf(spec.ipFamilies).length === 2 ? [refused('IP families')] : []),
  ];
}

/** An address says its family. */
function inferred(spec: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [at, address] of textsOf(spec.clusterIPs).entries()) {
    if (address === NONE) break;
    const families = textsOf(spec.ipFamilies);
    if (at < families.length) continue;
    const family = address.includes(':') ? 'IPv6' : FAMILY;
    if (family === FAMILY) spec.ipFamilies = [...families, family];
    else errors.push(invalid(`spec.clusterIPs[${at}]`, spec.clusterIPs, `${family} is not configured on this cluster`));
  }
  return errors;
}

/** Where a service without selector leads is not our business: it may be both families. */
function openFamilies(spec: JsonObject): void {
  const given = textsOf(spec.ipFamilies);
  const families = given.length === 0 ? [FAMILY] : given;
  const [first = FAMILY] = families;
  const isSingle = families.length > 1 || spec.ipFamilyPolicy === 'SingleStack';
  spec.ipFamilies = isSingle ? [...families] : [first, OTHER.get(first) ?? FAMILY];
}

function unavailable(spec: JsonObject): readonly FieldError[] {
  const detail = 'this cluster is not configured for dual-stack services';
  return [
    ...(spec.ipFamilyPolicy === 'RequireDualStack' ? [invalid(POLICY, spec.ipFamilyPolicy, detail)] : []),
    ...textsOf(spec.ipFamilies).flatMap((family, at) =>
      family === FAMILY ? [] : [invalid(`spec.ipFamilies[${at}]`, family, 'not configured on this cluster')],
    ),
  ];
}
