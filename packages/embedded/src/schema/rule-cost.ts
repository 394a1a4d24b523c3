/** What rules may cost at worst, before they ever run: too dear ones are refused with the definition. */
import { estimateCost, type SizeOf } from '../cel/estimate.ts';
import type { DeclaredType } from './declared-type.ts';
import { LARGEST_REQUEST } from './declared-type.ts';
import { child, type FieldError, forbidden } from '../status/field-error.ts';
import type { CompiledRule } from './rule.ts';

const RULE_LIMIT = 10_000_000;
const DEFINITION_LIMIT = 100_000_000;
const MOST_NAMED = 4;

export class RuleCosts {
  #total = 0;
  #dearest: { readonly path: string; readonly cost: number }[] = [];

  /** What is wrong with the price of one rule; all of them are added up. */
  observe(
    rule: CompiledRule,
    declared: DeclaredType,
    cardinality: number | undefined,
    path: string,
  ): readonly FieldError[] {
    if (!rule.program) return [];
    const errors: FieldError[] = [];
    const sizeOf = sizesOf(declared);
    const times = cardinality ?? Math.floor(LARGEST_REQUEST / (declared.minSize + 1));
    const cost = estimateCost(rule.program.tree, sizeOf) * times;
    this.#add(child(path, 'rule'), cost);
    if (cost > RULE_LIMIT) {
      errors.push(forbidden(child(path, 'rule'), costMessage('estimated rule cost', cost / RULE_LIMIT)));
    }
    if (!rule.message) return errors;
    const messageCost = estimateCost(rule.message.tree, sizeOf);
    this.#add(child(path, 'messageExpression'), messageCost);
    if (messageCost > RULE_LIMIT) {
      const text = costMessage('estimated messageExpression cost', messageCost / RULE_LIMIT);
      errors.push(forbidden(child(path, 'messageExpression'), text));
    }
    return errors;
  }

  totalErrors(path: string): readonly FieldError[] {
    if (this.#total <= DEFINITION_LIMIT) return [];
    const text = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.#dearest.map((one) => forbidden(one.path, text)),
      forbidden(path, costMessage(what, this.#total / DEFINITION_LIMIT)),
    ];
  }

  #add(path: string, cost: number): void {
    this.#total += cost;
    if (cost < DEFINITION_LIMIT / 100) return;
    this.#dearest = [...this.#dearest, { path, cost }]
      .toSorted((one, other) => other.cost - one.cost)
      .slice(0, MOST_NAMED);
  }
}

/** How large values can be, by their path from `self`. */
function sizesOf(declared: DeclaredType): SizeOf {
  return (path) => {
    let current: DeclaredType | undefined = declared;
    for (const part of path.slice(1)) {
      current = part === '@items' || part === '@values' ? current.element : current.fields?.get(part);
      if (!current) return undefined;
    }
    return current.maxElements;
  };
}

function costMessage(what: string, factor: number): string {
  const times = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${times} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
