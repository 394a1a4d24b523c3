/** Quantities that containers and claims ask for. */
import { compareQuantities, parseQuantity, type Quantity } from '../format/quantity.ts';
import { type JsonObject, objectOf } from '../object/draft.ts';
import { qualifiedName } from '../object/names.ts';
import { selectable } from '../kinds/kind.ts';
import { invalid, required } from '../status/field-error.ts';
import { NEGATIVE, type Part } from './part.ts';

const STANDARD = [
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
  'requests.storage',
  'storage',
];
const OF_CONTAINERS = ['cpu', 'memory', 'ephemeral-storage'];
const WHOLE = ['pods', 'services', 'secrets', 'configmaps', 'persistentvolumeclaims', 'resourcequotas'];
const NANO = 1_000_000_000n;

const ZERO: Quantity = { nanos: 0n };

function quantityOf(value: unknown): Quantity {
  const parsed = parseQuantity(selectable(value));
  return typeof parsed === 'string' ? ZERO : parsed;
}

export const isPositive = (value: unknown): boolean => compareQuantities(quantityOf(value), ZERO) > 0;
export const isLess = (one: unknown, other: unknown): boolean =>
  compareQuantities(quantityOf(one), quantityOf(other)) < 0;
/** Thousandths of it: no more is looked at. */
export const isWhole = (value: unknown): boolean => (quantityOf(value).nanos / (NANO / 1000n)) % 1000n === 0n;

const isHuge = (name: string): boolean => name.startsWith('hugepages-');
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
/** What others may lend, because it can be taken back. */
const isShared = (name: string): boolean => isNative(name) && !isHuge(name);

function nameProblems(name: string): readonly string[] {
  const problems = qualifiedName(name);
  if (name.includes('/')) {
    const isExtended = !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;
    const isKnown = isNative(name) || isExtended;
    return isKnown ? problems : [...problems, "doesn't follow extended resource name standard"];
  }
  if (OF_CONTAINERS.includes(name) || isHuge(name)) return problems;
  const isStandard = problems.length > 0 || STANDARD.includes(name);
  return [
    ...problems,
    ...(isStandard ? [] : ['must be a standard resource type or fully qualified']),
    'must be a standard resource for containers',
  ];
}

function checkEach(part: Part, field: string): JsonObject {
  const amounts = objectOf(part.object[field]);
  for (const [name, value] of Object.entries(amounts)) {
    const at = `${field}[${name}]`;
    part.wrong(at, name, ...nameProblems(name));
    if (isLess(value, '0')) part.wrong(at, selectable(value), NEGATIVE);
    const mustBeWhole = WHOLE.includes(name) || (name.includes('/') && !isNative(name));
    if (mustBeWhole && !isWhole(value)) part.wrong(at, selectable(value), 'must be an integer');
  }
  return amounts;
}

export function checkResources(resources: Part): void {
  const limits = checkEach(resources, 'limits');
  const requests = checkEach(resources, 'requests');
  for (const [name, value] of Object.entries(requests)) {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    const at = resources.at('requests');
    const [shown, most] = [selectable(value), selectable(limit)];
    if (limit === undefined) {
      if (!isShared(name)) {
        resources.note(required(resources.at('limits'), 'Limit must be set for non overcommitable resources'));
      }
    } else if (!isShared(name) && (isLess(value, limit) || isLess(limit, value))) {
      resources.note(invalid(at, shown, `must be equal to ${name} limit of ${most}`));
    } else if (isLess(limit, value)) {
      resources.note(invalid(at, shown, `must be less than or equal to ${name} limit of ${most}`));
    }
  }
}
