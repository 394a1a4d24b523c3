/** Runs the expressions of a policy for one request and one parameter. */
import type { Activation } from '../cel/evaluator.ts';
import { AUTHORIZER, type CheckAccess, Question, RESOURCE_CHECK } from '../cel/library/authorizer.ts';
import { EvaluationError, WorkBudget } from '../cel/meter.ts';
import { fromJson, MapValue, type Value } from '../cel/value.ts';
import type { JsonObject } from '../object/draft.ts';
import type { CompiledPolicy, CompiledValidation, Expression } from './compiled-policy.ts';
import type { Match } from './match.ts';
import { type AdmissionRequest, requestJson } from './request.ts';

/** What all validations of a policy may cost together, and its match conditions, as on the real server. */
const VALIDATION_BUDGET = 10_000_000;
const CONDITION_BUDGET = 2_500_000;
const LONGEST_MESSAGE = 5 * 1024;
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

export interface Decision {
  readonly message: string;
  /** Absent when the policy itself failed: then `failurePolicy` decides. */
  readonly reason?: string;
  readonly isFailure: boolean;
}

export interface EvaluationInput {
  readonly request: AdmissionRequest;
  readonly match: Match;
  readonly params: JsonObject | undefined;
  readonly authorize: CheckAccess;
}

/** Every validation that does not hold. Nothing when the match conditions say that it is not about this request. */
export function evaluatePolicy(policy: CompiledPolicy, input: EvaluationInput): readonly Decision[] {
  const failed = (message: string): readonly Decision[] => [{ message, isFailure: true }];
  const condition = new Run(policy, input, CONDITION_BUDGET, { hasNamespace: false }).conditions();
  if (typeof condition === 'string') return failed(condition);
  if (!condition) return [];
  const run = new Run(policy, input, VALIDATION_BUDGET, { hasNamespace: true });
  const decisions: Decision[] = [];
  const broken: CompiledValidation[] = [];
  for (const validation of policy.validations) {
    const result = run.evaluate(validation.expression);
    if (result === OUT_OF_BUDGET_RESULT) return failed(OUT_OF_BUDGET);
    if ('error' in result) decisions.push({ message: result.error, isFailure: true });
    else if (result.value !== true) {
      broken.push(validation);
      decisions.push({ message: '', isFailure: false, reason: validation.source.reason ?? 'Invalid' });
    }
  }
  return run.withMessages(decisions, broken);
}

type Result = { readonly value: Value } | { readonly error: string };
const OUT_OF_BUDGET_RESULT: Result = { error: OUT_OF_BUDGET };

class Run {
  readonly #policy: CompiledPolicy;
  readonly #values: ReadonlyMap<string, Value>;
  readonly #variables: Variables;
  readonly #work = new WorkBudget();
  #budget: number;

  constructor(policy: CompiledPolicy, input: EvaluationInput, budget: number, options: { hasNamespace: boolean }) {
    const { request, match, params, authorize } = input;
    this.#policy = policy;
    this.#budget = budget;
    this.#values = new Map<string, Value>([
      ['object', fromJson(match.object ?? null)],
      ['oldObject', fromJson(match.oldObject ?? null)],
      ['request', fromJson(requestJson(request, match.kind, match.resource))],
      ['params', fromJson(params ?? null)],
      ['namespaceObject', fromJson((options.hasNamespace ? request.namespaceObject : undefined) ?? null)],
      ['authorizer', new Question(AUTHORIZER, authorize)],
      ['authorizer.requestResource', new Question(RESOURCE_CHECK, authorize, resourceParts(request))],
    ]);
    this.#variables = new Variables(policy, this.#work, (name) => this.#values.get(name));
  }

  /** Whether all hold; a text when one could not be evaluated and none said no. */
  conditions(): boolean | string {
    const errors: string[] = [];
    for (const condition of this.#policy.matchConditions) {
      const result = this.evaluate(condition);
      if (result === OUT_OF_BUDGET_RESULT) return OUT_OF_BUDGET;
      if ('error' in result) errors.push(result.error);
      else if (result.value === false) return false;
    }
    if (errors.length === 0) return true;
    return errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]`;
  }

  evaluate(expression: Expression): Result {
    if ('problem' in expression) return { error: `compilation error: ${expression.problem}` };
    const outcome = expression.program.evaluate(this.#activation, this.#work.limits());
    this.#work.take(outcome.steps);
    const cost = outcome.cost + this.#variables.takeCost();
    if (cost > this.#budget) return OUT_OF_BUDGET_RESULT;
    this.#budget -= cost;
    if (outcome.error !== undefined) {
      return { error: `expression '${expression.text}' resulted in error: ${outcome.error}` };
    }
    return { value: outcome.value as Value };
  }

  /** Gives every refusal its text. */
  withMessages(decisions: readonly Decision[], broken: readonly CompiledValidation[]): readonly Decision[] {
    const texts = broken.map((validation) => this.#message(validation));
    let next = 0;
    return decisions.map((decision) => {
      if (decision.isFailure) return decision;
      const text = texts[next++];
      return text === undefined
        ? { message: `failed messageExpression: ${OUT_OF_BUDGET}`, isFailure: true }
        : { ...decision, message: text };
    });
  }

  #message({ source, message }: CompiledValidation): string | undefined {
    const result = message && this.evaluate(message);
    if (result === OUT_OF_BUDGET_RESULT) return undefined;
    const text = result && 'value' in result && typeof result.value === 'string' ? result.value.trim() : '';
    if (text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= LONGEST_MESSAGE) return text;
    return source.message?.trim() || `failed expression: ${source.expression.trim()}`;
  }

  readonly #activation: Activation = (name) => (name === 'variables' ? this.#variables : this.#values.get(name));
}

function resourceParts({ resource, subResource, namespace, name }: AdmissionRequest): JsonObject {
  return {
    group: resource.group,
    resource: resource.resource,
    ...(subResource ? { subresource: subResource } : {}),
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
  };
}

/** Variables are evaluated when they are asked for, once. */
class Variables extends MapValue {
  readonly #policy: CompiledPolicy;
  readonly #activation: Activation;
  readonly #known = new Map<string, Value | EvaluationError>();
  readonly #work: WorkBudget;
  #cost = 0;

  constructor(policy: CompiledPolicy, work: WorkBudget, values: Activation) {
    super();
    this.#work = work;
    this.#policy = policy;
    this.#activation = (name) => (name === 'variables' ? this : values(name));
  }

  override get size(): number {
    return this.#policy.variables.size;
  }

  override keys(): Iterable<Value> {
    return this.#policy.variables.keys();
  }

  override has(key: Value): boolean {
    return this.#policy.variables.has(key as string);
  }

  override get(key: Value): Value | undefined {
    const name = key as string;
    const expression = this.#policy.variables.get(name);
    if (!expression) return undefined;
    const value = this.#known.get(name) ?? this.#evaluate(name, expression);
    this.#known.set(name, value);
    if (value instanceof EvaluationError) throw value;
    return value;
  }

  /** What variables cost since this was asked last. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  #evaluate(name: string, expression: Expression): Value | EvaluationError {
    if ('problem' in expression) {
      return new EvaluationError(`composited variable "${name}" fails to compile: ${expression.problem}`);
    }
    const outcome = expression.program.evaluate(this.#activation, this.#work.limits());
    this.#work.take(outcome.steps);
    this.#cost += outcome.cost;
    if (outcome.error === undefined) return outcome.value as Value;
    return new EvaluationError(`composited variable "${name}" fails to evaluate: ${outcome.error}`);
  }
}
