/** What a schema may say about lists and maps: sets, lists with keys, atomic ones. */
import {
  append,
  child,
  type FieldError,
  forbidden,
  invalid,
  key,
  notSupported,
  required,
} from '../status/field-error.ts';
import { itemsOf, type JsonSchema, listTypeOf, mapKeysOf, propertyOf } from './json-schema.ts';

export function mapTypeErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const errors = mustBe('object', schema, path, 'x-kubernetes-map-type');
  if (mapType === 'atomic' || mapType === 'granular') return errors;
  return [...errors, notSupported(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular'])];
}

function mustBe(type: string, schema: JsonSchema, path: string, because: string): readonly FieldError[] {
  if (schema.type === type) return [];
  const detail = `must be ${type} if ${because} is specified`;
  const place = child(path, 'type');
  return [
    schema.type === undefined || schema.type === '' ? required(place, detail) : invalid(place, schema.type, detail),
  ];
}

export function listTypeErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const listType = listTypeOf(schema);
  const keys = mapKeysOf(schema);
  const errors: FieldError[] = [];
  const place = child(path, 'x-kubernetes-list-type');
  if (listType !== undefined) {
    const wrong = mustBe('array', schema, path, 'x-kubernetes-list-type');
    append(errors, wrong.length > 0 || listType !== 'set' ? wrong : setItemErrors(schema, path));
    if (!['atomic', 'set', 'map'].includes(listType)) {
      errors.push(notSupported(place, listType, ['atomic', 'set', 'map']));
    }
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(listType === undefined ? required(place, detail) : invalid(place, listType, detail));
  }
  if (listType === 'map') append(errors, keyErrors(schema, path));
  return [...errors, ...keyedErrors(schema, path)];
}

/** Items of a set are compared as wholes. */
function setItemErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const items = itemsOf(schema);
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const place = child(path, 'items');
  const itemListType = items && listTypeOf(items);
  if (items?.type === 'array' && itemListType !== undefined && itemListType !== 'atomic') {
    return [invalid(child(place, 'x-kubernetes-list-type'), itemListType, detail)];
  }
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [invalid(child(place, 'x-kubernetes-map-type'), itemListType ?? null, detail)];
  }
  return [];
}

function keyErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const keys = mapKeysOf(schema);
  const items = itemsOf(schema);
  const place = child(path, 'x-kubernetes-list-map-keys');
  const errors: FieldError[] = [];
  if (keys.length === 0) errors.push(required(place, 'must not be empty if x-kubernetes-list-type is map'));
  if (!items) {
    return [...errors, required(child(path, 'items'), 'must have a schema if x-kubernetes-list-type is map')];
  }
  const itemsPath = child(path, 'items');
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalid(child(itemsPath, 'type'), items.type ?? '', detail)];
  }
  const seen = new Set<string>();
  for (const name of keys) {
    const property = propertyOf(items, name);
    if (!property) errors.push(invalid(place, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(child(key(child(itemsPath, 'properties'), name), 'type'), items.type, detail));
    }
    if (seen.has(name)) errors.push(invalid(place, keys, 'must not contain duplicate entries'));
    seen.add(name);
  }
  return errors;
}

/** Items that are found by their keys must have them. */
function keyedErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const listType = listTypeOf(schema);
  const items = itemsOf(schema);
  if (!items || (listType !== 'set' && listType !== 'map')) return [];
  const place = child(path, 'items');
  const errors: FieldError[] = [];
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbidden(child(place, 'nullable'), detail));
  }
  for (const name of listType === 'map' ? mapKeysOf(schema) : []) {
    const property = propertyOf(items, name);
    if (!property) continue;
    const at = key(child(place, 'properties'), name);
    const because = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!(items.required ?? []).includes(name) && property.default === undefined) {
      errors.push(required(child(at, 'default'), `${because} must have a default or be a required property`));
    }
    if (property.nullable === true) errors.push(forbidden(child(at, 'nullable'), `${because} cannot be nullable`));
  }
  return errors;
}
