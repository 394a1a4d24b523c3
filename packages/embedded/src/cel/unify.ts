/** Whether a type may stand where another is expected, and what type parameters have to be for that. */
import { type CelType, DYN, isDyn, sameType } from './type.ts';

/** Type parameters and what they stand for. Immutable: a failed attempt leaves no trace. */
export type Substitution = ReadonlyMap<string, CelType>;

/** `substitution` with what makes the types fit, or nothing when they do not. */
export function assign(
  substitution: Substitution,
  from: readonly CelType[],
  to: readonly CelType[],
): Substitution | undefined {
  const attempt = new Map(substitution);
  return fitsAll(attempt, from, to) ? attempt : undefined;
}

type Attempt = Map<string, CelType>;

function fitsAll(attempt: Attempt, from: readonly CelType[], to: readonly CelType[]): boolean {
  return from.length === to.length && from.every((type, index) => fits(attempt, type, to[index] as CelType));
}

function fits(attempt: Attempt, from: CelType, to: CelType): boolean {
  if (to.kind === 'param') {
    const outcome = bind(attempt, from, to);
    if (outcome !== 'unbound') return outcome === 'yes';
  }
  if (from.kind === 'param') return bind(attempt, to, from) === 'yes';
  if (isDyn(from) || isDyn(to) || from.kind === 'error' || to.kind === 'error') return true;
  if (from.kind === 'null') return takesNull(to);
  if (to.kind === 'null') return takesNull(from);
  switch (from.kind) {
    case 'type':
      return to.kind === 'type';
    case 'list':
    case 'map':
    case 'opaque':
      return from.kind === to.kind && from.name === to.name && fitsAll(attempt, from.params, to.params);
    default:
      return from.kind === to.kind && from.name === to.name;
  }
}

function takesNull(type: CelType): boolean {
  return ['duration', 'null', 'object', 'opaque', 'timestamp'].includes(type.kind);
}

/** Lets the parameter be `type`; `unbound` when it could not become it for it stands within it. */
function bind(attempt: Attempt, type: CelType, param: CelType): 'yes' | 'no' | 'unbound' {
  if (sameType(type, param)) return 'yes';
  const known = attempt.get(param.name);
  if (known === undefined) {
    if (occurs(attempt, param, type)) return 'unbound';
    attempt.set(param.name, type);
    return 'yes';
  }
  if (sameType(type, known)) return 'yes';
  if (!fits(attempt, type, known)) return 'no';
  const wider = moreGeneral(type, known);
  if (!occurs(attempt, param, wider)) attempt.set(param.name, wider);
  return 'yes';
}

function occurs(attempt: Attempt, param: CelType, within: CelType): boolean {
  if (sameType(param, within)) return true;
  if (within.kind !== 'param') return within.params.some((inner) => occurs(attempt, param, inner));
  const known = attempt.get(within.name);
  return known !== undefined && occurs(attempt, param, known);
}

/** Of two types that fit each other the one that says less. */
export function moreGeneral(one: CelType, other: CelType): CelType {
  return saysNoMore(one, other) ? one : other;
}

function saysNoMore(one: CelType, other: CelType): boolean {
  if (isDyn(one) || one.kind === 'param') return true;
  if (isDyn(other) || other.kind === 'param' || one.kind !== other.kind) return false;
  if (one.kind === 'type') return true;
  return (
    one.name === other.name &&
    one.params.length === other.params.length &&
    one.params.every((param, index) => saysNoMore(param, other.params[index] as CelType))
  );
}

/** `type` with its parameters replaced; `open: 'dyn'` makes those dyn about which nothing is known. */
export function substitute(substitution: Substitution, type: CelType, open: 'keep' | 'dyn' = 'keep'): CelType {
  if (type.kind === 'param') {
    const known = substitution.get(type.name);
    if (known !== undefined) return substitute(substitution, known, open);
    return open === 'dyn' ? DYN : type;
  }
  if (type.params.length === 0) return type;
  const params = type.params.map((param) => substitute(substitution, param, open));
  return params.every((param, index) => param === type.params[index]) ? type : { ...type, params };
}
