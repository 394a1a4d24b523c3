/** Objects as JSON, YAML or names. */
import type { AnyObject } from '@reeve/kube';
import { kindWord } from './kinds.ts';
import { yamlText } from './yaml.ts';

export type ObjectForm = 'json' | 'yaml' | 'name';

/** Who owns which field is of interest to few; what it is comes first. */
function shown({ apiVersion, kind, metadata, ...rest }: AnyObject): AnyObject {
  const { managedFields: _managed, ...kept } = metadata;
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: kept,
    ...rest,
  };
}

/** One object by itself, several as a list. @param isList also of one or none. */
export function objectsText(objects: readonly AnyObject[], form: ObjectForm, isList: boolean): string {
  if (form === 'name') return objects.map((object) => `${nameOf(object)}\n`).join('');
  const items = objects.map(shown);
  const whole = isList ? { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items } : items[0];
  return documentText(whole, form);
}

export function documentText(value: unknown, form: 'json' | 'yaml'): string {
  return form === 'yaml' ? yamlText(value) : jsonText(value);
}

/** Of a stream of objects: a document each. */
export function objectText(object: AnyObject, form: ObjectForm): string {
  const text = objectsText([object], form, false);
  return form === 'yaml' ? `---\n${text}` : text;
}

/** Large integers are written as they came. */
function jsonText(value: unknown): string {
  const exact = (_name: string, item: unknown): unknown =>
    typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item;
  return `${JSON.stringify(value, exact, 2)}\n`;
}

/** `pod/web-0`, `statefulset.apps/web`. */
export function nameOf({ apiVersion = '', kind = '', metadata }: AnyObject): string {
  const group = apiVersion.includes('/') ? (apiVersion.split('/', 1)[0] ?? '') : '';
  return `${kindWord({ kind, group })}/${metadata.name ?? ''}`;
}
