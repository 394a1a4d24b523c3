/** Label selectors: which labels they select. */
import type { LabelSelector, SelectorRequirement } from './pod.ts';

export type Labels = Readonly<Record<string, string>> | undefined;

/** No selector selects nothing, an empty one everything: as Kubernetes has it. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (!selector) return false;
  const isEqual = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels?.[key] === value);
  return isEqual && (selector.matchExpressions ?? []).every((one) => meets(one, labels));
}

/** Operators of label selectors and those that only nodes are selected by (`Gt`, `Lt`). An unknown one selects nothing. */
export function meets({ key, operator, values = [] }: SelectorRequirement, labels: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compare(value, values, (a, b) => a > b);
    case 'Lt':
      return compare(value, values, (a, b) => a < b);
    default:
      return false;
  }
}

function compare(
  value: string | undefined,
  values: readonly string[],
  holds: (a: bigint, b: bigint) => boolean,
): boolean {
  const [limit] = values;
  const whole = /^-?\d+$/;
  if (value === undefined || limit === undefined || values.length !== 1) return false;
  return whole.test(value) && whole.test(limit) && holds(BigInt(value), BigInt(limit));
}
