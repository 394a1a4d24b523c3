/** Taints keep pods away that do not tolerate them. */
import type { Pod, Toleration } from '../kinds/pod.ts';
import type { Node, Taint } from '../kinds/node.ts';

export function untolerated({ spec }: Pick<Pod, 'spec'>, node: Node, effects: readonly string[]): readonly Taint[] {
  const tolerations = spec?.tolerations ?? [];
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effects.includes(effect));
  return taints.filter((taint) => !tolerations.some((one) => tolerates(one, taint)));
}

export function tolerates({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  // Without a key only `Exists` is a toleration: of everything.
  return (operator === '' || operator === 'Equal') && key !== '' && value === (taint.value ?? '');
}
