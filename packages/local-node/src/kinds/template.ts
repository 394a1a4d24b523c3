/** What a pod is made from. */
import type { ObjectMeta } from '@reeve/kube';
import type { PodSpec } from './pod.ts';

export interface PodTemplate {
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'annotations' | 'finalizers' | 'name' | 'namespace'>;
  readonly spec?: PodSpec;
}

/** A number, or a share of another number: `25%`. */
export type IntOrPercent = number | string;

export function scaled(value: IntOrPercent | undefined, of: number, round: 'up' | 'down'): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number') return value;
  const share = /^(\d+)%$/.exec(value)?.[1];
  if (share === undefined) return undefined;
  const exact = (Number(share) * of) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
