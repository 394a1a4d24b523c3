/** The parameters of a binding: none, one by its name, or all that a selector finds. */
import type { JsonObject } from '../object/draft.ts';
import { labelsOf } from './match.ts';
import type { ParamKind, ValidatingAdmissionPolicyBinding } from './policy.ts';
import { selects } from './selector.ts';

/** The port to what is stored: all objects of one kind. A Lease is as good a parameter as any other object. */
export interface ParamSource {
  readonly isNamespaced: boolean;
  get(namespace: string, name: string): JsonObject | undefined;
  /** Of one namespace; of the whole cluster when that is empty. */
  list(namespace: string): Iterable<JsonObject>;
}

export type ParamLookup = (kind: ParamKind) => ParamSource | undefined;

/** `undefined` among them stands for no parameter; a text says why there are none. */
export function collectParams(
  kind: ParamKind | undefined,
  binding: ValidatingAdmissionPolicyBinding,
  namespace: string,
  lookup: ParamLookup,
): readonly (JsonObject | undefined)[] | string {
  const { paramRef } = binding.spec;
  if (!kind || !paramRef) return [undefined];
  const source = lookup(kind);
  if (!source) return `paramKind kind \`${kind.apiVersion}, Kind=${kind.kind}\` not known`;
  const given = paramRef.namespace ?? '';
  if (!source.isNamespaced && given !== '') {
    return 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`';
  }
  const place = source.isNamespaced ? given || namespace : '';
  if (source.isNamespaced && place === '') {
    return 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources';
  }
  const { name = '', selector } = paramRef;
  if (name !== '' && selector) return 'paramRef.name and paramRef.selector are mutually exclusive';
  if (name === '' && !selector) return 'one of name or selector must be provided';
  const one = name === '' ? undefined : source.get(place, name);
  const found =
    name === ''
      ? Array.from(source.list(place)).filter((object) => selects(selector ?? {}, labelsOf(object)))
      : one
        ? [one]
        : [];
  if (found.length === 0 && paramRef.parameterNotFoundAction === 'Deny') {
    return 'no params found for policy binding with `Deny` parameterNotFoundAction';
  }
  return found;
}
