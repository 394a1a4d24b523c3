/** The language as Kubernetes has it: compiles an expression against its variables, and runs it. */
import { childrenOf, type Expr } from './ast.ts';
import { check } from './checker.ts';
import { type Activation, Frame, plan, type Step } from './evaluator.ts';
import type { Overload } from './function.ts';
import { describeIssues } from './issue.ts';
import { authorizer } from './library/authorizer.ts';
import { conversions } from './library/conversions.ts';
import { formats } from './library/formats.ts';
import { kubernetes, kubernetesTypes } from './library/kubernetes.ts';
import { lists } from './library/lists.ts';
import { operators } from './library/operators.ts';
import { optionals } from './library/optionals.ts';
import { patterns } from './library/patterns.ts';
import { strings } from './library/strings.ts';
import { times } from './library/times.ts';
import { checkLiterals } from './literals.ts';
import { CostExceeded, EvaluationError, type Limits, Meter } from './meter.ts';
import { parse } from './parser.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from './type.ts';
import type { Value } from './value.ts';

const functions: ReadonlyMap<string, readonly Overload[]> = Map.groupBy(
  [
    ...operators,
    ...conversions,
    ...times,
    ...strings,
    ...lists,
    ...patterns,
    ...optionals,
    ...kubernetes,
    ...formats,
    ...authorizer,
  ],
  ({ name }) => name,
);

const types: ReadonlyMap<string, CelType> = new Map(
  [BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, UINT, ...kubernetesTypes]
    .map((type) => [type.name, typeOf(type)] as const)
    .concat([
      ['list', typeOf(listOf(DYN))],
      ['map', typeOf(mapOf(DYN, DYN))],
      ['type', typeOf(DYN)],
    ]),
);

/** An expression that cannot be run. */
export interface Uncompiled {
  /** `program` when it is right by its types and yet a constant in it can never be converted. */
  readonly reason: 'issues' | 'program';
  readonly problem: string;
}

/** What came of an evaluation. Never both a value and an error. */
export interface Outcome {
  readonly value?: Value;
  readonly error?: string;
  /** The budget was used up; `error` says so. */
  readonly exceeded: boolean;
  readonly cost: number;
  /** What it took of our own measure of work. */
  readonly steps: number;
}

export interface Program {
  readonly text: string;
  readonly type: CelType;
  /** For those who estimate its cost. */
  readonly tree: Expr;
  uses(variable: string): boolean;
  evaluate(activation: Activation, limits?: Limits): Outcome;
}

export function compile(text: string, variables: ReadonlyMap<string, CelType>): Program | Uncompiled {
  const { expr, issues } = parse(text);
  if (!expr) return { reason: 'issues', problem: describeIssues(text, issues) };
  const names = (name: string): CelType | undefined => variables.get(name) ?? types.get(name);
  const wrong = check(expr, { names, functions: (name) => functions.get(name) });
  const problems = wrong.length > 0 ? wrong : checkLiterals(expr);
  if (problems.length > 0) return { reason: 'issues', problem: describeIssues(text, problems) };
  try {
    const step = plan(expr);
    const used = new Set<string>();
    collectNames(expr, used);
    return {
      text,
      type: expr.type as CelType,
      tree: expr,
      uses: (variable) => used.has(variable),
      evaluate: (activation, limits) => evaluate(step, activation, limits),
    };
  } catch (error) {
    if (error instanceof EvaluationError) return { reason: 'program', problem: error.message };
    throw error;
  }
}

function collectNames(expr: Expr, into: Set<string>): void {
  if (expr.kind === 'ident') into.add(expr.name);
  if (expr.kind === 'select' && expr.whole !== undefined) into.add(expr.whole);
  for (const child of childrenOf(expr)) collectNames(child, into);
}

function evaluate(step: Step, activation: Activation, limits: Limits | undefined): Outcome {
  const meter = new Meter(limits);
  try {
    const value = step(new Frame(activation, meter));
    return { value, exceeded: false, cost: meter.cost, steps: meter.steps };
  } catch (error) {
    // A text or a stack too large for this machine is as good as too dear.
    const exceeded = error instanceof CostExceeded || error instanceof RangeError;
    if (!exceeded && !(error instanceof EvaluationError)) throw error;
    return {
      error: exceeded ? new CostExceeded().message : error.message,
      exceeded,
      cost: meter.cost,
      steps: meter.steps,
    };
  }
}
