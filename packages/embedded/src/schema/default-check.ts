/** Defaults in a schema must be what the schema itself allows. */
import { copy } from './default.ts';
import { checkEmbedded, coerceEmbedded } from './embedded.ts';
import { deepEqual } from './equal.ts';
import { append, child, type FieldError, invalid, key } from '../status/field-error.ts';
import { isEmbedded, itemsOf, type JsonSchema, metaFields, propertiesOf } from './json-schema.ts';
import { pruneValue } from './prune.ts';
import { compileRules, OBJECT_BUDGET, runRules } from './rules.ts';
import { validateValue } from './validate.ts';

export function defaultErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const checker = new DefaultChecker();
  checker.visit({ ...schema, 'x-kubernetes-embedded-resource': true }, path, false, true);
  return checker.errors;
}

class DefaultChecker {
  readonly errors: FieldError[] = [];
  #budget = OBJECT_BUDGET;

  visit(schema: JsonSchema, path: string, insideMeta: boolean, isRoot = false): void {
    const inMeta = insideMeta && !isEmbedded(schema);
    if (schema.default != null) this.#check(schema, child(path, 'default'), inMeta, isRoot || isEmbedded(schema));
    if (this.#budget < 0) return;
    const items = itemsOf(schema);
    if (items) this.visit(items, child(path, 'items'), inMeta);
    for (const [name, property] of propertiesOf(schema)) {
      const isMeta = isEmbedded(schema) && metaFields.includes(name);
      this.visit(property, key(child(path, 'properties'), name), inMeta || isMeta);
    }
  }

  #check(schema: JsonSchema, path: string, inMeta: boolean, isResource: boolean): void {
    const value = copy(schema.default);
    if (!inMeta) {
      const pruned = copy(schema.default);
      pruneValue(pruned, schema, '', []);
      if (!deepEqual(pruned, value)) this.errors.push(invalid(path, value, 'must not have unknown fields'));
    }
    const coerced = coerceEmbedded(value, schema, path, []);
    const problems = coerced ? [coerced] : checkEmbedded(value, schema, path);
    const all = problems.length > 0 ? problems : validateValue(value, schema, undefined, path);
    append(this.errors, all);
    if (all.length === 0) this.#rules(schema, value, path, isResource);
  }

  /** As if the default was there before, and as if it was new. */
  #rules(schema: JsonSchema, value: unknown, path: string, isResource: boolean): void {
    const tree = compileRules(schema, isResource);
    if (!tree) return;
    const unchanged = runRules(tree, value, value, { path, budget: this.#budget });
    append(this.errors, unchanged.errors);
    const created =
      unchanged.errors.length === 0 ? runRules(tree, value, undefined, { path, budget: this.#budget }) : unchanged;
    if (created !== unchanged) append(this.errors, created.errors);
    this.#budget = Math.min(unchanged.budget, created.budget);
  }
}
