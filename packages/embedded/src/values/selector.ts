/** Label selectors in specs: what may stand in them, and whether they match. */
import { type JsonObject, objectOf, textOf, textsOf } from '../object/draft.ts';
import { labelValueProblems, qualifiedName } from '../object/names.ts';
import type { Part } from './part.ts';
import { labelErrors } from './rules.ts';

export function checkSelector(selector: Part): void {
  selector.note(...labelErrors(objectOf(selector.object.matchLabels), selector.at('matchLabels')));
  for (const one of selector.list('matchExpressions')) checkRequirement(one);
}

function checkRequirement(one: Part): void {
  const values = one.texts('values');
  switch (one.object.operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) one.missing('values', "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        one.forbid('values', "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      break;
    default:
      one.wrong('operator', one.text('operator'), 'not a valid selector operator');
  }
  one.wrong('key', one.text('key'), ...qualifiedName(one.text('key')));
  for (const [index, value] of values.entries()) {
    one.wrong(`values[${index}]`, value, ...labelValueProblems(value));
  }
}

export function isEmptySelector({ matchLabels, matchExpressions }: JsonObject): boolean {
  return (
    Object.keys(objectOf(matchLabels)).length + (Array.isArray(matchExpressions) ? matchExpressions.length : 0) === 0
  );
}

/**
 * Whether the selector of a spec selects the pods of its template; notes it if not. One that is not there selects nothing.
 * @returns false if it makes no sense.
 */
export function checkOwnSelector(spec: Part): boolean {
  const before = spec.errors.length;
  const selector = objectOf(spec.object.selector);
  const { labels } = objectOf(objectOf(spec.object.template).metadata);
  if (!spec.has('selector')) spec.missing('selector');
  else {
    checkSelector(spec.within('selector'));
    if (spec.errors.length > before) return false;
  }
  if (!spec.has('selector') || !doesMatch(selector, objectOf(labels))) {
    spec.wrong('template.metadata.labels', labels ?? null, '`selector` does not match template `labels`');
  }
  return true;
}

/** The selector must make sense. */
export function doesMatch(selector: JsonObject, labels: JsonObject): boolean {
  const expressions = Array.isArray(selector.matchExpressions) ? selector.matchExpressions.map(objectOf) : [];
  const isMatched = Object.entries(objectOf(selector.matchLabels)).every(([key, value]) => labels[key] === value);
  return (
    isMatched &&
    expressions.every(({ key, operator, values }) => {
      const given = labels[textOf(key)];
      const isThere = typeof given === 'string';
      const isListed = isThere && textsOf(values).includes(given);
      if (operator === 'In') return isListed;
      if (operator === 'NotIn') return !isListed;
      return operator === 'Exists' ? isThere : !isThere;
    })
  );
}
