/** Label selectors. */
import type { LabelSelector } from './policy.ts';

/** Whether nothing is asked for: then everything matches. */
export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

export function selects(selector: LabelSelector, labels: Readonly<Record<string, unknown>>): boolean {
  const has = (key: string): boolean => Object.hasOwn(labels, key);
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (Object.entries(matchLabels).some(([key, value]) => !has(key) || labels[key] !== value)) return false;
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const isIn = has(key) && values.includes(labels[key] as string);
    switch (operator) {
      case 'In':
        return isIn;
      case 'NotIn':
        return !isIn;
      case 'Exists':
        return has(key);
      case 'DoesNotExist':
        return !has(key);
      default:
        return false;
    }
  });
}
