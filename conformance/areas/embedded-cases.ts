/** The cases of the embedded package as requests: they know one object, `one`, and what is done to it. */
import { builtinKinds } from '@reeve/embedded';
import { type Case as EmbeddedCase, type Step as EmbeddedStep, thingSchema } from '@reeve/embedded/cases';
import type { Json } from '@reeve/kube';
import { definitionOf } from '@reeve/rig';
import { apply, type Case, get, patch, post, type Step } from '../case.ts';

/** A custom kind with every sort of field that ownership knows. All cases share it; each has its own namespace. */
export const thingDefinition: Json = definitionOf({
  group: 'example.com',
  kind: 'Thing',
  schema: { type: 'object', ...thingSchema },
  version: { subresources: { status: {} } },
}) as unknown as Json;

export function requests({ name, steps }: EmbeddedCase): Case {
  const first = steps[0] as EmbeddedStep;
  const collection = collectionOf(objectOf(first) ?? {});
  const isCustom = collection.includes('/things');
  return {
    name,
    ...(isCustom ? { definition: thingDefinition } : {}),
    // What is there after each step is compared, too: a refused one must change nothing.
    steps: steps.flatMap((step) => [request(step, collection), read(step, collection)]),
  };
}

type JsonObject = { [key: string]: Json };

function objectOf(step: EmbeddedStep): JsonObject | undefined {
  if ('apply' in step) return step.apply;
  return 'create' in step ? step.create : undefined;
}

export function collectionOf({ apiVersion, kind }: JsonObject): string {
  const [version = '', group = ''] = (apiVersion as string).split('/').reverse();
  const plural = builtinKinds.find((one) => one.kind === kind && one.group === group)?.plural ?? 'things';
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}/namespaces/<ns>/${plural}`;
}

function request(step: EmbeddedStep, collection: string): Step {
  const query = { fieldManager: step.by };
  const path = `${collection}/one${step.via === undefined ? '' : `/${step.via}`}`;
  const options = { query, ...(step.fails === undefined ? {} : { code: step.fails.code }) };
  if ('apply' in step) {
    return apply(step.by, path, own(step.apply), { ...options, ...(step.force ? { force: true } : {}) });
  }
  if ('create' in step) return post(collection, own(step.create), options);
  if ('update' in step) {
    const change = step.update as Json;
    return { change, path: `${collection}/one`, ...(step.via ? { subresource: step.via } : {}), ...options };
  }
  if ('merge' in step) return patch('merge', path, step.merge, options);
  if ('json' in step) return patch('json', path, step.json, options);
  return patch('strategic', path, step.strategic, options);
}

/** Where nothing was made, nothing is found: that is told by the code. */
function read(step: EmbeddedStep, collection: string): Step {
  const isFirst = step.fails !== undefined && objectOf(step) !== undefined;
  return get(`${collection}/one`, isFirst ? { any: true } : {});
}

function own(object: JsonObject): JsonObject {
  const metadata = object['metadata'] as JsonObject;
  return metadata['namespace'] === 'default' ? { ...object, metadata: { ...metadata, namespace: '<ns>' } } : object;
}
