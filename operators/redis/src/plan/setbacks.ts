/**
 * What stands in the way of the operations that a cluster wishes for: what they refused, and what they failed with. Kept by kind until that
 * kind is done or not wished for any more, whatever else happens meanwhile, and told as conditions with what to do. Pure.
 */
import { kubeErrors } from '@reeve/kube';
import { type ErrorCatalog, type NewCondition, type Refusal, runtimeErrors } from '@reeve/runtime';
import type { RedisClusterStatus } from '../api/cluster.ts';
import { redisErrors } from '../api/errors.ts';
import { conditionType } from './cluster-status.ts';
import type { Next } from './next.ts';

export type Setback = NonNullable<RedisClusterStatus['setbacks']>[number];

/** What one turn found out about the wishes of a cluster. */
export interface Choosing {
  /** The kinds of operations that are wished for. */
  readonly wished: ReadonlySet<string>;
  /** Those of them that were asked in this turn, and what they refused. Others were not come to. */
  readonly asked: ReadonlyMap<string, readonly Refusal[]>;
}

/** What was in the way before anybody was asked counts as what was refused. */
export function choosingOf(
  { wishes, refused = [], unasked = [] }: Omit<Next, 'waitingFor'>,
  asked: Choosing['asked'],
): Choosing {
  const all = new Map(asked);
  for (const { kind, refusal } of refused) all.set(kind, [...(all.get(kind) ?? []), refusal]);
  const wished = wishes.flatMap((wish) => (wish.what === 'operation' ? [wish.kind] : []));
  const standing = [...refused.map(({ kind }) => kind), ...unasked];
  return { wished: new Set([...wished, ...standing]), asked: all };
}

export const MOST_SETBACKS = 16;
const MOST_TEXT = 512;
const MOST_MESSAGE = 4_096;

const catalog: ErrorCatalog = { ...kubeErrors, ...runtimeErrors, ...redisErrors };

export function remedyOf(code: string): string {
  return catalog[code]?.remedy ?? '';
}

/** A message with what to do. */
export function withRemedy(code: string, message: string): string {
  const remedy = remedyOf(code);
  return remedy === '' ? message : `${message}${/[.!?…]$/.test(message) ? '' : '.'} ${remedy}`;
}

/** What failed is over when it is done, or when nobody wishes for it; what was refused also when it is not refused any more. */
export function setbacksAfterChoice(before: readonly Setback[], { wished, asked }: Choosing): readonly Setback[] {
  const standing = before.filter(({ kind, stage }) => wished.has(kind) && (stage === 'run' || !asked.has(kind)));
  const refused = [...asked].flatMap(([kind, refusals]) =>
    refusals.map(({ code, message }): Setback => setback(kind, 'proposal', { code, message })),
  );
  return bounded([...standing, ...refused]);
}

/** @param failed undefined: it was done. */
export function setbacksAfterRun(
  before: readonly Setback[],
  kind: string,
  failed: readonly Pick<Refusal, 'code' | 'message'>[] | undefined,
): readonly Setback[] {
  const others = before.filter((one) => one.kind !== kind || (failed && one.stage === 'proposal'));
  return bounded([...(failed ?? []).map((one) => setback(kind, 'run', one)), ...others]);
}

function setback(kind: string, stage: Setback['stage'], { code, message }: Pick<Refusal, 'code' | 'message'>): Setback {
  return { kind, stage, code: code.slice(0, 63), message: message.slice(0, MOST_TEXT) };
}

/** What failed comes first: it was begun, and may have changed something. */
function bounded(setbacks: readonly Setback[]): readonly Setback[] {
  const failed = setbacks.filter(({ stage }) => stage === 'run');
  return [...failed, ...setbacks.filter(({ stage }) => stage !== 'run')].slice(0, MOST_SETBACKS);
}

export function setbackConditions(setbacks: readonly Setback[]): readonly NewCondition[] {
  return [
    conditionOf(
      'Refused',
      'NothingRefused',
      setbacks.filter(({ stage }) => stage === 'proposal'),
    ),
    conditionOf(
      'OperationFailed',
      'NoneFailed',
      setbacks.filter(({ stage }) => stage === 'run'),
    ),
  ];
}

function conditionOf(type: string, otherwise: string, setbacks: readonly Setback[]): NewCondition {
  const [first] = setbacks;
  if (!first) return { type, status: 'False', reason: otherwise, message: '' };
  const lines = setbacks.map(({ kind, code, message }) => withRemedy(code, `${kind}: ${code}: ${message}`));
  const message = lines.join(' ').slice(0, MOST_MESSAGE);
  return { type, status: 'True', reason: conditionType(first.code), message };
}
