/** What may not stand in the addresses and families of a service, whatever the cluster has. */
import { type JsonObject, textOf, textsOf } from '../object/draft.ts';
import { duplicate, type FieldError, invalid, notSupported, required } from '../status/field-error.ts';
import { ipAddress } from '../values/rules.ts';
import { isHeadless, needsAddress, NONE } from './service.ts';

const FAMILIES = ['IPv4', 'IPv6'];
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const ADDRESSES = 'spec.clusterIPs';

export function addressErrors(spec: JsonObject, before: JsonObject | undefined): readonly FieldError[] {
  if (!needsAddress(spec)) return [];
  const { errors: wrong, areBroken } = eachAddress(spec, before);
  const errors = [...agreement(spec), ...families(spec), ...wrong];
  return areBroken ? errors : [...errors, ...together(spec)];
}

function agreement(spec: JsonObject): readonly FieldError[] {
  const one = textOf(spec.clusterIP);
  const all = textsOf(spec.clusterIPs);
  if (one === '') {
    return all.length === 0 ? [] : [invalid(ADDRESSES, all, 'must be empty when `clusterIP` is not specified')];
  }
  if (all.length === 0) return [required(ADDRESSES)];
  return all[0] === one ? [] : [invalid(ADDRESSES, all, 'first value must match `clusterIP`')];
}

function families(spec: JsonObject): readonly FieldError[] {
  const given = textsOf(spec.ipFamilies);
  const errors = given.flatMap((family, at): readonly FieldError[] => {
    const path = `spec.ipFamilies[${at}]`;
    return [
      ...(FAMILIES.includes(family) ? [] : [notSupported(path, family, FAMILIES)]),
      ...(given.indexOf(family) < at ? [duplicate(path, family)] : []),
    ];
  });
  const policy = spec.ipFamilyPolicy;
  if (policy === undefined || POLICIES.includes(textOf(policy))) return errors;
  return [...errors, notSupported('spec.ipFamilyPolicy', policy, POLICIES)];
}

function eachAddress(spec: JsonObject, before: JsonObject | undefined) {
  const all = textsOf(spec.clusterIPs);
  const known = textsOf(before?.clusterIPs);
  const errors: FieldError[] = [];
  for (const [at, address] of all.entries()) {
    if (at === 0 && address === NONE) {
      if (all.length > 1) errors.push(invalid(ADDRESSES, all, "'None' must be the first and only value"));
    } else if (!known.includes(address)) {
      errors.push(...ipAddress(address).map((problem) => invalid(`${ADDRESSES}[${at}]`, address, problem)));
    }
  }
  const areBroken = errors.length > 0;
  if (all.length > 2) errors.push(invalid(ADDRESSES, all, 'may only hold up to 2 values'));
  return { errors, areBroken };
}

const isV6 = (address: string): boolean => address.includes(':');

function together(spec: JsonObject): readonly FieldError[] {
  const all = textsOf(spec.clusterIPs);
  const errors: FieldError[] = [];
  if (all.length > 1 && !(all.some(isV6) && !all.every(isV6))) {
    errors.push(invalid(ADDRESSES, all, 'may specify no more than one IP for each IP family'));
  }
  if (isHeadless(spec)) return errors;
  for (const [at, family] of textsOf(spec.ipFamilies).entries()) {
    const address = all[at];
    if (address === undefined) break;
    const expected = isV6(address) ? 'IPv6' : 'IPv4';
    if (FAMILIES.includes(family) && expected !== family) {
      const detail = `expected an ${family} value as indicated by \`ipFamilies[${at}]\``;
      errors.push(invalid(`${ADDRESSES}[${at}]`, address, detail));
    }
  }
  return errors;
}
