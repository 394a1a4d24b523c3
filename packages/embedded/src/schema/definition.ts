/** What a CustomResourceDefinition may say in a schema: everything that the server refuses when one is created. */
import { defaultErrors } from './default-check.ts';
import { append, child, type FieldError, forbidden, index, invalid, key, notSupported } from '../status/field-error.ts';
import {
  additionalOf,
  hasAdditional,
  isEmbedded,
  itemsOf,
  type JsonSchema,
  listTypeOf,
  metaFields,
  propertiesOf,
} from './json-schema.ts';
import { listTypeErrors, mapTypeErrors } from './list-type-declaration.ts';
import { RuleDeclarations } from './rule-declaration.ts';
import { structuralErrors, unsupportedField } from './structural.ts';

export interface DefinitionOptions {
  /** With the status subresource only some things may be said at the root. */
  readonly hasStatus?: boolean;
}

/** `path` is where the schema stands: `spec.validation.openAPIV3Schema` for a definition with one version. */
export function definitionErrors(
  schema: JsonSchema,
  path: string,
  options: DefinitionOptions = {},
): readonly FieldError[] {
  const errors = rootErrors(schema, path, options);
  const unsupported = unsupportedField(schema);
  if (unsupported === undefined) {
    const structural = structuralErrors(schema, path);
    append(errors, structural.length > 0 ? structural : defaultErrors(schema, path));
  }
  const rules = errors.length === 0 && unsupported === undefined ? new RuleDeclarations() : undefined;
  const checker = new DefinitionChecker(rules);
  checker.visit(schema, path, { isRoot: true, forbidDefaults: undefined, insideMeta: false, uncorrelated: undefined });
  append(errors, checker.errors);
  if (rules) append(errors, rules.check(schema, path));
  if (errors.length === 0 && unsupported !== undefined) errors.push(invalid(path, '', unsupported));
  return errors;
}

const atRoot = [
  ...['description', 'type', 'format', 'title', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'multipleOf', 'required', 'items'],
  ...['properties', 'externalDocs', 'example', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-validations'],
];

/** As the server writes it: the names of its own fields. */
const atRootText =
  '[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]';

function rootErrors(schema: JsonSchema, path: string, { hasStatus = false }: DefinitionOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus && schema.type !== undefined && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.push(invalid(child(path, 'type'), schema.type, detail));
  } else if (hasStatus && Object.keys(schema).some((name) => !atRoot.includes(name))) {
    const detail = `only ${atRootText} fields are allowed at the root of the schema if the status subresource is enabled`;
    errors.push(invalid(path, schema, detail));
  }
  if (schema.nullable === true) errors.push(forbidden(child(path, 'nullable'), 'nullable cannot be true at the root'));
  return errors;
}

interface Surroundings {
  readonly isRoot: boolean;
  /** Why there may be no default here. */
  readonly forbidDefaults: string | undefined;
  readonly insideMeta: boolean;
  /** The nearest list or map around in which items cannot be found again. */
  readonly uncorrelated: string | undefined;
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const refused = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

class DefinitionChecker {
  readonly errors: FieldError[] = [];
  readonly #rules: RuleDeclarations | undefined;

  constructor(rules: RuleDeclarations | undefined) {
    this.#rules = rules;
  }

  visit(schema: JsonSchema, path: string, around: Surroundings): void {
    const before = this.errors.length;
    this.#ownErrors(schema, path, around);
    const { uncorrelated } = around;
    const inner = { ...around, isRoot: false };
    const additional = additionalOf(schema);
    if (hasAdditional(schema) && propertiesOf(schema).length > 0 && schema.additionalProperties !== true) {
      const detail = 'additionalProperties and properties are mutual exclusive';
      this.errors.push(forbidden(child(path, 'additionalProperties'), detail));
    }
    if (additional) {
      const forbidDefaults = around.insideMeta
        ? 'inside additionalProperties applying to object metadata'
        : around.forbidDefaults;
      this.visit(additional, child(path, 'additionalProperties'), { ...inner, forbidDefaults });
    }
    for (const [name, property] of propertiesOf(schema)) {
      const isMeta = (around.isRoot || isEmbedded(schema)) && metaFields.includes(name);
      this.visit(property, key(child(path, 'properties'), name), {
        ...inner,
        insideMeta: around.insideMeta || isMeta,
        forbidDefaults: isMeta && around.isRoot ? `in top-level ${name}` : around.forbidDefaults,
      });
    }
    const { allOf = [], anyOf = [], oneOf = [], not } = schema;
    if (not) this.visit(not, child(path, 'not'), inner);
    for (const [name, branches] of [
      ['allOf', allOf],
      ['oneOf', oneOf],
      ['anyOf', anyOf],
    ] as const) {
      for (const [at, branch] of branches.entries()) this.visit(branch, index(child(path, name), at), inner);
    }
    const items = itemsOf(schema);
    if (items) {
      const isLost = listTypeOf(schema) !== 'map';
      const place = uncorrelated ?? (isLost ? path : undefined);
      this.visit(items, child(path, 'items'), { ...inner, uncorrelated: place });
    }
    append(this.errors, mapTypeErrors(schema, path));
    append(this.errors, listTypeErrors(schema, path));
    this.#rules?.declare(schema, path, uncorrelated, this.errors, before);
  }

  #ownErrors(schema: JsonSchema, path: string, around: Surroundings): void {
    const at = (name: string): string => child(path, name);
    const { type } = schema;
    if (type !== undefined && type !== '' && !types.includes(type)) {
      this.errors.push(notSupported(at('type'), type, types));
    }
    if (schema.default !== undefined && around.forbidDefaults !== undefined) {
      this.errors.push(forbidden(at('default'), `must not be set ${around.forbidDefaults}`));
    }
    for (const name of refused) {
      if (schema[name] !== undefined) this.errors.push(forbidden(at(name), `${name} is not supported`));
    }
    if (type === 'null') {
      this.errors.push(forbidden(at('type'), 'type cannot be set to null, use nullable as an alternative'));
    }
    if (Array.isArray(schema.items)) {
      this.errors.push(forbidden(at('items'), 'items must be a schema object and not an array'));
    }
    if (around.insideMeta && isEmbedded(schema)) {
      this.errors.push(forbidden(at('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
    }
    if (schema.uniqueItems === true) {
      const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
      this.errors.push(forbidden(at('uniqueItems'), detail));
    }
    if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
      this.errors.push(invalid(at('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
    }
  }
}
