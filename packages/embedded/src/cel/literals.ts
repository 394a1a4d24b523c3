/** What can be seen of a checked expression without running it: constants that never work, mixed lists, bad formats. */
import { type Call, childrenOf, type Expr } from './ast.ts';
import { parseDuration, parseInstant } from '../format/time.ts';
import { Pattern } from '../format/pattern.ts';
import type { Issue } from './issue.ts';
import { clauses, parseFormat } from './library/format-string.ts';
import { type CelType, formatType, isDyn, sameType, unwrapOptional } from './type.ts';

type Checked = readonly [CelType, Expr];

export function checkLiterals(expr: Expr): readonly Issue[] {
  const issues: Issue[] = [];
  visit(expr, false, issues);
  return issues;
}

/** Arguments of `format` may be of different types. */
function visit(expr: Expr, mayBeMixed: boolean, issues: Issue[]): void {
  if (expr.kind === 'call') checkCall(expr, issues);
  if (expr.kind === 'list' && !mayBeMixed) {
    sameTypes(
      expr.elements.map((element, index) => [typeIn(element, expr.optional.has(index)), element]),
      issues,
    );
  }
  if (expr.kind === 'map' && !mayBeMixed) {
    sameTypes(
      expr.entries.map(({ key }) => [typeIn(key, false), key]),
      issues,
    );
    sameTypes(
      expr.entries.map(({ value, optional }) => [typeIn(value, optional), value]),
      issues,
    );
  }
  const isFormat = expr.kind === 'call' && expr.name === 'format';
  for (const child of childrenOf(expr)) visit(child, mayBeMixed || isFormat, issues);
}

function typeIn(expr: Expr, isOptional: boolean): CelType {
  const type = expr.type as CelType;
  return isOptional ? unwrapOptional(type)[0] : type;
}

function sameTypes(items: readonly Checked[], issues: Issue[]): void {
  const [first, ...rest] = items;
  const other = rest.find(([type]) => !sameType(type, (first as Checked)[0]));
  if (!first || !other) return;
  const [expected, found] = [first[0], other[0]].map(formatType);
  issues.push({ at: other[1].at, message: `expected type '${expected}' but found '${found}'` });
}

function checkCall(expr: Call, issues: Issue[]): void {
  const [arg] = expr.args;
  const text = arg?.kind === 'literal' && typeof arg.value === 'string' ? arg.value : undefined;
  if (expr.name === 'format' && expr.target !== undefined) checkFormat(expr, issues);
  if (arg === undefined || text === undefined) return;
  const isWrong =
    (expr.name === 'duration' && parseDuration(text) === undefined) ||
    (expr.name === 'timestamp' && parseInstant(text) === undefined) ||
    (expr.name === 'matches' && expr.target !== undefined && typeof Pattern.compile(text) === 'string');
  if (isWrong) issues.push({ at: arg.at, message: `invalid ${expr.name} argument` });
}

function checkFormat(expr: Call, issues: Issue[]): void {
  const { target } = expr;
  const [list] = expr.args;
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return;
  const pieces = parseFormat(target.value);
  if (typeof pieces === 'string') {
    issues.push({ at: expr.at, message: pieces });
    return;
  }
  const used = pieces.flatMap((piece) => ('clause' in piece ? [piece.clause] : []));
  for (const [index, clause] of used.entries()) {
    const arg = list.elements[index];
    if (!arg) {
      issues.push({ at: expr.at, message: `index ${index} out of range` });
      return;
    }
    const type = arg.type as CelType;
    const known = clauses[clause];
    if (!known || isDyn(type) || known.takes.includes(type.name)) continue;
    const message = `error during formatting: ${known.complaint}, was given ${formatType(type)}`;
    issues.push({ at: arg.at, message });
    return;
  }
  if (list.elements.length > used.length) {
    const counts = `(expected ${used.length}, got ${list.elements.length})`;
    issues.push({ at: expr.at, message: `too many arguments supplied to string.format ${counts}` });
  }
}
