/** Turns a checked tree into functions and runs them, counting what it costs. */
import type { Call, Expr, Fold, Select } from './ast.ts';
import { LIST_COST, MAP_COST, SELECT_COST } from './costs.ts';
import { convertConstant, planCall } from './dispatch.ts';
import { at, optionallyAt } from './index-step.ts';
import { EvaluationError, type Meter, noSuchOverload } from './meter.ts';
import {
  ArrayList,
  EntryMap,
  keyOf,
  ListValue,
  MapValue,
  NONE,
  Optional,
  TypeValue,
  typeName,
  type Value,
} from './value.ts';

/** The values of the variables. Asked once for each use; what it does not know is an error. */
export type Activation = (name: string) => Value | undefined;

/** A variable of a fold. An error is thrown when it is looked at; what is bound by name is evaluated then. */
type Slot = Value | EvaluationError | Pending;

class Pending {
  readonly step: Step;
  constructor(step: Step) {
    this.step = step;
  }
}

export class Frame {
  readonly meter: Meter;
  readonly activation: Activation;
  readonly slots: Slot[] = [];

  constructor(activation: Activation, meter: Meter) {
    this.activation = activation;
    this.meter = meter;
  }
}

export type Step = (frame: Frame) => Value;

/** Throws EvaluationError for constants that cannot be converted: the program cannot be made. */
export function plan(expr: Expr): Step {
  return new Planner().plan(expr);
}

class Planner {
  readonly #scopes: string[] = [];
  /** What is known without running anything: it costs nothing. */
  readonly #constants = new Map<Expr, Value>();

  plan(expr: Expr): Step {
    const step = this.#plan(expr);
    const constant = this.#constants.get(expr);
    return constant === undefined ? step : () => constant;
  }

  #plan(expr: Expr): Step {
    switch (expr.kind) {
      case 'literal': {
        const { value } = expr;
        this.#constants.set(expr, value);
        return () => value;
      }
      case 'ident':
        return this.#name(expr.name, expr.type?.kind === 'type');
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'fold':
        return this.#fold(expr);
      case 'struct':
        throw new EvaluationError(`unexpected failed resolution of '${expr.name}'`);
    }
  }

  #name(name: string, mayBeType: boolean): Step {
    const slot = this.#scopes.lastIndexOf(name);
    if (slot >= 0) {
      return (frame) => {
        const { meter, slots } = frame;
        meter.charge(SELECT_COST);
        if (slots[slot] instanceof Pending) slots[slot] = capture(slots[slot].step, frame);
        const value = slots[slot] as Value | EvaluationError;
        if (value instanceof EvaluationError) throw value;
        return value;
      };
    }
    return ({ meter, activation }) => {
      const value = activation(name);
      if (value === undefined && mayBeType) return new TypeValue(name);
      meter.charge(SELECT_COST);
      if (value !== undefined) return value;
      throw new EvaluationError(`no such attribute(s): ${name}`);
    };
  }

  #select(expr: Select): Step {
    if (expr.whole !== undefined) return this.#name(expr.whole, expr.type?.kind === 'type');
    const operand = this.plan(expr.operand);
    const { field, test } = expr;
    const base = baseCost(expr.operand);
    if (test) return (frame) => hasField(operand(frame), field);
    return (frame) => {
      const value = operand(frame);
      frame.meter.charge(base);
      if (value instanceof Optional) return optionalField(frame.meter, value, field);
      frame.meter.charge(SELECT_COST);
      return getField(value, field);
    };
  }

  #call(expr: Call): Step {
    const args = (expr.target ? [expr.target, ...expr.args] : expr.args).map((arg) => this.plan(arg));
    const [one, two, three] = args as [Step, Step, Step];
    switch (expr.name) {
      case '_&&_':
        return logical(one, two, false);
      case '_||_':
        return logical(one, two, true);
      case '_?_:_': {
        const yes = asBranch(expr.args[1] as Expr, two);
        const no = asBranch(expr.args[2] as Expr, three);
        return (frame) => {
          const condition = one(frame);
          if (typeof condition !== 'boolean') throw noSuchOverload();
          return condition ? yes(frame) : no(frame);
        };
      }
      case '@not_strictly_false':
        return (frame) => {
          const value = capture(one, frame);
          frame.meter.charge(1);
          return value !== false;
        };
      case '_?._': {
        const field = (expr.args[1] as Extract<Expr, { kind: 'literal' }>).value as string;
        const base = baseCost(expr.args[0] as Expr);
        return (frame) => {
          const value = one(frame);
          frame.meter.charge(base);
          return optionalField(frame.meter, value instanceof Optional ? value : new Optional(value), field);
        };
      }
      case '_[_]':
      case '_[?_]': {
        const base = baseCost(expr.args[0] as Expr);
        const index = asBranch(expr.args[1] as Expr, two);
        const look = expr.name === '_[_]' ? at : optionallyAt;
        return (frame) => {
          const container = one(frame);
          const key = index(frame);
          const isOptional = look === optionallyAt || container instanceof Optional;
          frame.meter.charge(isOptional ? base : base + SELECT_COST);
          const found = look(container, key);
          if (isOptional && (found as Optional).value !== undefined) frame.meter.charge(SELECT_COST);
          return found;
        };
      }
      case 'or':
      case 'orValue':
        return (frame) => {
          const value = one(frame);
          if (!(value instanceof Optional)) throw noSuchOverload();
          if (value.value === undefined) return two(frame);
          return expr.name === 'or' ? value : value.value;
        };
      default:
        return this.#planned(expr, args);
    }
  }

  #planned(expr: Call, args: readonly Step[]): Step {
    const parts = expr.target ? [expr.target, ...expr.args] : expr.args;
    const constants = parts.map((part) => this.#constants.get(part));
    const constant = convertConstant(expr, constants);
    if (constant !== undefined) this.#constants.set(expr, constant);
    return planCall(expr, args, constants);
  }

  #list(expr: Extract<Expr, { kind: 'list' }>): Step {
    const elements = expr.elements.map((element) => this.plan(element));
    const constants = expr.elements.map((element) => this.#constants.get(element));
    if (expr.optional.size === 0 && !constants.includes(undefined)) {
      this.#constants.set(expr, new ArrayList(constants as Value[]));
    }
    return (frame) => {
      const items: Value[] = [];
      for (const [index, element] of elements.entries()) {
        const value = element(frame);
        if (!expr.optional.has(index)) items.push(value);
        else if (!(value instanceof Optional)) throw noSuchOverload();
        else if (value.value !== undefined) items.push(value.value);
      }
      frame.meter.charge(LIST_COST);
      return new ArrayList(items);
    };
  }

  #map(expr: Extract<Expr, { kind: 'map' }>): Step {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }));
    // Not among the constants: a fold may begin with it and insert into it.
    const isConstant = expr.entries.every(({ key, value }) => this.#constants.has(key) && this.#constants.has(value));
    return (frame) => {
      const made = new Map<string, readonly [Value, Value]>();
      for (const { key, value, optional } of entries) {
        const name = key(frame);
        const canonical = keyOf(name);
        if (canonical === undefined) throw new EvaluationError('unsupported key type');
        let item = value(frame);
        if (optional) {
          if (!(item instanceof Optional)) throw noSuchOverload();
          if (item.value === undefined) continue;
          item = item.value;
        }
        made.set(canonical, [name, item]);
      }
      frame.meter.charge(isConstant ? 0 : MAP_COST);
      return new EntryMap(made);
    };
  }

  #fold(expr: Fold): Step {
    const range = this.plan(expr.range);
    const start = this.plan(expr.start);
    const slot = this.#scopes.length;
    this.#scopes.push(expr.accumulator, expr.variable, expr.second ?? '');
    const condition = this.plan(expr.condition);
    const step = this.plan(expr.step);
    this.#scopes.length = slot + 1;
    const result = this.plan(expr.result);
    this.#scopes.length = slot;
    if (isBinding(expr)) {
      return (frame) => {
        frame.slots[slot] = new Pending(start);
        return result(frame);
      };
    }
    const turn = (frame: Frame, first: Value, second: Value): boolean => {
      const { slots } = frame;
      slots[slot + 1] = first;
      slots[slot + 2] = second;
      if (condition(frame) !== true) return false;
      slots[slot] = capture(step, frame);
      return true;
    };
    return (frame) => {
      const over = range(frame);
      frame.slots[slot] = capture(start, frame);
      if (over instanceof ListValue) {
        for (let i = 0; i < over.length; i++) {
          const [first, second] = expr.second === undefined ? [over.at(i), null] : [BigInt(i), over.at(i)];
          frame.meter.work(1);
          if (!turn(frame, first, second)) break;
        }
      } else if (over instanceof MapValue) {
        for (const key of over.keys()) {
          frame.meter.work(1);
          if (!turn(frame, key, expr.second === undefined ? null : (over.get(key) ?? null))) break;
        }
      } else {
        throw new EvaluationError(`got '${typeName(over)}', expected iterable type`);
      }
      return result(frame);
    };
  }
}

/** The value, or the error that came instead. A used up budget is neither. */
function capture(step: Step, frame: Frame): Value | EvaluationError {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof EvaluationError) return error;
    throw error;
  }
}

/** `decisive` settles the question whatever the other side says, even if that fails. */
function logical(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    const one = capture(left, frame);
    if (one === decisive) return decisive;
    const other = capture(right, frame);
    if (other === decisive) return decisive;
    for (const value of [one, other]) {
      if (value instanceof EvaluationError) throw value;
      if (typeof value !== 'boolean') throw noSuchOverload();
    }
    return !decisive;
  };
}

/** A variable or field that is a branch of a condition is one unit cheaper on the real server. */
function asBranch(expr: Expr, step: Step): Step {
  const isAttribute =
    expr.kind === 'ident' || (expr.kind === 'select' && !expr.test) || (expr.kind === 'call' && expr.name === '_[_]');
  if (!isAttribute) return step;
  return (frame) => {
    frame.meter.charge(-SELECT_COST);
    return step(frame);
  };
}

function getField(value: Value, field: string): Value {
  const found = value instanceof MapValue ? value.get(field) : undefined;
  if (found === undefined) throw new EvaluationError(`no such key: ${field}`);
  return found;
}

/** Costs nothing when there is nothing. */
function optionalField(meter: Meter, optional: Optional, field: string): Optional {
  const { value } = optional;
  if (value === undefined || value === null) return NONE;
  if (!(value instanceof MapValue)) throw noSuchOverload();
  const found = value.get(field);
  if (found === undefined) return NONE;
  meter.charge(SELECT_COST);
  return new Optional(found);
}

/** Selecting from what is no variable begins a chain of its own. */
function baseCost(operand: Expr): number {
  const goesOn =
    operand.kind === 'ident' ||
    operand.kind === 'select' ||
    (operand.kind === 'call' && ['_[_]', '_[?_]', '_?._'].includes(operand.name));
  return goesOn ? 0 : SELECT_COST;
}

/** A fold over nothing only gives a name to its beginning. */
function isBinding({ range, condition }: Fold): boolean {
  return (
    range.kind === 'list' && range.elements.length === 0 && condition.kind === 'literal' && condition.value === false
  );
}

function hasField(value: Value, field: string): boolean {
  const target = value instanceof Optional ? value.value : value;
  return target instanceof MapValue && target.has(field);
}
