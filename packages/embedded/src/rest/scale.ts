/** The subresource `scale`: one number of an object, with where its pods are found. */
import type { Json } from '@reeve/kube';
import { goJson } from '../format/go-json.ts';
import { copyOf, type Draft, isObject, type JsonObject, numberOf, objectOf, textOf } from '../object/draft.ts';
import { invalid } from '../status/field-error.ts';
import { badRequest, invalidObject, invalidPatch, notFound, refusalOf, undecodable } from '../status/refusal.ts';
import { scaleType } from '../types/builtin.ts';
import { fitOf } from '../types/fit.ts';
import { type Context, keyOf, type Outcome, type Target, type WriteOptions } from './context.ts';
import { type Decoded, parseText } from './decode.ts';
import { draftFor } from './present.ts';
import { pathsOf, scaleOf } from './scale-object.ts';
import { changeObject, type PatchType } from './update.ts';

const KIND = { group: 'autoscaling', kind: 'Scale' };

export function readScale(context: Context, target: Target): Outcome {
  const entry = context.store.get(keyOf(target));
  if (entry === undefined) throw notFound(target.served.kind, target.name);
  return shown(scaleOf(draftFor(target.served, entry), target));
}

export async function replaceScale(
  context: Context,
  target: Target,
  text: string,
  options: WriteOptions,
): Promise<Outcome> {
  const scale = parseText(text, (why) =>
    badRequest(`the object provided is unrecognized (must be of type Scale): ${why}`),
  );
  if (!isObject(scale)) throw badRequest('the object provided is unrecognized (must be of type Scale)');
  const refuse = (problem: string): Error => undecodable(KIND.kind, 'v1', problem);
  return write(context, target, () => scale, options, refuse);
}

export async function patchScale(
  context: Context,
  target: Target,
  patch: Json,
  type: PatchType,
  options: WriteOptions,
): Promise<Outcome> {
  // A Scale has no lists: both merges are one.
  const apply = context.plugins.patches?.[type === 'strategic' ? 'merge' : type];
  return write(
    context,
    target,
    (current) => {
      const result = apply?.(copyOf(current), patch, target.served);
      if (result !== undefined && 'status' in result) throw refusalOf(result.status);
      return result?.object ?? current;
    },
    options,
    (problem, scale) => invalidPatch(goJson(scale), problem),
  );
}

/** Only the number goes into the object, on its newest state: whoever else writes it is not in the way. */
async function write(
  context: Context,
  target: Target,
  wanted: (current: JsonObject) => JsonObject,
  options: WriteOptions,
  refuse: (problem: string, scale: JsonObject) => Error,
): Promise<Outcome> {
  const { served, name } = target;
  const paths = pathsOf(target);
  const parentOf = (old: Draft | undefined): Decoded => {
    if (old === undefined) throw notFound(served.kind, name);
    const scale = wanted(scaleOf(old, target));
    const { problem } = fitOf(scale, scaleType);
    if (problem !== undefined) throw refuse(problem, scale);
    const replicas = numberOf(objectOf(scale.spec).replicas) ?? 0;
    const isWrong = replicas < 0;
    if (isWrong && !served.kind.custom) {
      throw invalidObject(KIND, name, [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]);
    }
    const { uid, resourceVersion } = objectOf(scale.metadata);
    const object = copyOf(old);
    if (textOf(uid) !== '') object.metadata.uid = textOf(uid);
    if (textOf(resourceVersion) !== '') object.metadata.resourceVersion = textOf(resourceVersion);
    setAt(object, paths.spec, replicas);
    if (isWrong) {
      const errors = served.version.rules?.validateUpdate(object, old) ?? [];
      const error = invalid(paths.spec, replicas, 'should be a non-negative integer');
      throw invalidObject(served.kind, name, [error, ...errors]);
    }
    return { object, unknown: [] };
  };
  const { text, ...changed } = await changeObject(context, target, parentOf, options, false);
  return { ...changed, text: JSON.stringify(scaleOf(JSON.parse(text) as Draft, target)) };
}

const shown = (scale: JsonObject): Outcome => ({ code: 200, text: JSON.stringify(scale), warnings: [] });

function setAt(object: JsonObject, path: string, value: Json): void {
  const steps = path.split('.').filter((step) => step !== '');
  let here = object;
  for (const step of steps.slice(0, -1)) {
    const next = objectOf(here[step]);
    here[step] = next;
    here = next;
  }
  here[steps.at(-1) as string] = value;
}
