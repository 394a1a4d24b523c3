/** From a request that may be carried out to the operation that does it. */
import type { TransportRequest, TransportResponse } from '@reeve/kube';
import { contentType, negotiate, requireJson } from '../request/media.ts';
import { readWriteOptions } from '../request/write-options.ts';
import type { Context, Target, WriteCheck, WriteOptions } from '../rest/context.ts';
import { createObject } from '../rest/create.ts';
import { parseText } from '../rest/decode.ts';
import { deleteObject, readDeleteOptions } from '../rest/delete.ts';
import { flag, readListOptions } from '../rest/list-options.ts';
import { getEntry, listPage } from '../rest/read.ts';
import { patchScale, readScale, replaceScale } from '../rest/scale.ts';
import { applyObject, patchObject, type PatchType, replaceObject } from '../rest/update.ts';
import { listTexts, viewText } from '../rest/view.ts';
import { forbidden, required } from '../status/field-error.ts';
import {
  badRequest,
  invalidOptions,
  methodNotAllowed,
  notFound,
  Refusal,
  unsupportedMediaType,
} from '../status/refusal.ts';
import { type WatchLimits, watchObjects } from '../watch/watch.ts';
import type { WatchStream } from '../watch/stream.ts';
import { answer, answerError, answerOutcome, answerStream, answerTexts, withWarning } from './answer.ts';

export interface Routing {
  readonly context: Context;
  readonly watchLimits: WatchLimits;
  /** Told of every watch that begins. */
  onWatch(stored: string, stream: WatchStream): void;
}

export interface Call {
  readonly request: TransportRequest;
  readonly query: URLSearchParams;
  readonly target: Target;
  /** get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** Of the one who asks, for writes. */
  readonly check?: WriteCheck | undefined;
}

/** Names in requests are in lower case; a header given twice counts as its first. */
export function header({ headers }: TransportRequest, name: string): string | undefined {
  const value = headers?.[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** Whoever uses a version that is to go is told. */
export async function carryOut(routing: Routing, call: Call): Promise<TransportResponse> {
  const { deprecationWarning } = call.target.served.version;
  if (deprecationWarning === undefined) return perform(routing, call);
  try {
    return withWarning(await perform(routing, call), deprecationWarning);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return withWarning(
      answerError(error, () => undefined),
      deprecationWarning,
    );
  }
}

function perform(routing: Routing, call: Call): TransportResponse | Promise<TransportResponse> {
  const { served, subresource } = call.target;
  if (subresource !== '') return onSubresource(routing, call);
  if (!(served.kind.verbs as readonly string[]).includes(call.verb)) throw methodNotAllowed();
  switch (call.verb) {
    case 'get':
      return get(routing, call);
    case 'list':
    case 'watch':
      return listOrWatch(routing, call);
    case 'create':
      return create(routing, call);
    case 'update':
      return update(routing, call);
    case 'patch':
      return patch(routing, call);
    case 'delete':
      return remove(routing, call);
    case 'deletecollection':
      return removeAll(routing, call);
    default:
      throw methodNotAllowed();
  }
}

function onSubresource(routing: Routing, call: Call): TransportResponse | Promise<TransportResponse> {
  const { verb, target } = call;
  const { version, kind } = target.served;
  const { subresource } = target;
  const isServed =
    (subresource === 'status' && version.status) ||
    (subresource === 'scale' && version.scale !== undefined) ||
    version.others?.includes(subresource) === true;
  // Of custom objects the server looks for one of that name.
  if (!isServed && kind.custom) throw notFound(kind, target.name);
  if (!isServed) {
    const message = `the server could not find the requested resource: ${kind.plural}/${subresource} is not served`;
    throw new Refusal(404, 'NotFound', message, {});
  }
  const isUpdateOnly = version.others?.includes(subresource) === true;
  if (verb === 'update') return update(routing, call);
  if (isUpdateOnly || (verb !== 'get' && verb !== 'patch')) throw methodNotAllowed();
  return verb === 'get' ? get(routing, call) : patch(routing, call);
}

function get({ context }: Routing, { request, query, target }: Call): TransportResponse {
  const { metadataOnly } = negotiate(header(request, 'accept'), false);
  if (target.subresource === 'scale') return answerOutcome(readScale(context, target));
  const entry = getEntry(context, target, query.get('resourceVersion') ?? '');
  return answer(200, viewText({ served: target.served, metadataOnly }, entry));
}

function listOrWatch(routing: Routing, { request, query, target }: Call): TransportResponse {
  const { context, watchLimits, onWatch } = routing;
  const isWatch = flag(query, 'watch') ?? false;
  const { metadataOnly } = negotiate(header(request, 'accept'), !isWatch);
  const view = { served: target.served, metadataOnly };
  const options = readListOptions(query, target.served, target.name);
  if (!isWatch) return answerTexts(listTexts(view, listPage(context, target, options)));
  const stream = watchObjects(context, target, view, options, watchLimits, request.signal);
  onWatch(target.served.kind.stored, stream);
  return answerStream(stream);
}

function writeOptions({ request, query, check }: Call, kind: Parameters<typeof readWriteOptions>[2]): WriteOptions {
  return { ...readWriteOptions(query, header(request, 'user-agent'), kind), check };
}

async function create({ context }: Routing, call: Call): Promise<TransportResponse> {
  const { request, target } = call;
  if (target.served.kind.namespaced && target.namespace === '') throw methodNotAllowed();
  negotiate(header(request, 'accept'), false);
  requireJson(header(request, 'content-type'));
  const options = writeOptions(call, 'CreateOptions');
  return answerOutcome(await createObject(context, target, request.body ?? '', options));
}

async function update({ context }: Routing, call: Call): Promise<TransportResponse> {
  const { request, target } = call;
  negotiate(header(request, 'accept'), false);
  requireJson(header(request, 'content-type'));
  const options = writeOptions(call, 'UpdateOptions');
  const replace = target.subresource === 'scale' ? replaceScale : replaceObject;
  return answerOutcome(await replace(context, target, request.body ?? '', options));
}

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/merge-patch+json': 'merge',
  'application/json-patch+json': 'json',
  'application/strategic-merge-patch+json': 'strategic',
};
const APPLY_TYPE = 'application/apply-patch+yaml';

async function patch({ context }: Routing, call: Call): Promise<TransportResponse> {
  const { request, query, target } = call;
  negotiate(header(request, 'accept'), false);
  const media = contentType(header(request, 'content-type'));
  const type = Object.hasOwn(PATCH_TYPES, media) ? PATCH_TYPES[media] : undefined;
  const { patches, fields } = context.plugins;
  const isApply = media === APPLY_TYPE && fields !== undefined && target.subresource !== 'scale';
  // Custom objects have no strategy: there is no schema that says how lists merge.
  const isOffered = (one: PatchType): boolean =>
    patches?.[one] !== undefined && (one !== 'strategic' || !target.served.kind.custom);
  if (!isApply && (type === undefined || !isOffered(type))) {
    const offered = Object.entries(PATCH_TYPES).filter(([, one]) => isOffered(one));
    throw unsupportedMediaType([...offered.map(([name]) => name), ...(fields === undefined ? [] : [APPLY_TYPE])]);
  }
  const force = flag(query, 'force');
  if (isApply && !query.get('fieldManager')) {
    throw invalidOptions('PatchOptions', [required('fieldManager', 'is required for apply patch')]);
  }
  if (!isApply && force !== undefined) {
    throw invalidOptions('PatchOptions', [forbidden('force', 'may not be specified for non-apply patch')]);
  }
  const options = writeOptions(call, 'PatchOptions');
  // YAML is not read: an apply is sent as JSON, which is YAML, too.
  const value = parseText(request.body ?? '', (why) =>
    isApply
      ? unsupportedMediaType([`${APPLY_TYPE} with a body of JSON (${why})`])
      : badRequest(`error decoding patch: ${why}`),
  );
  if (isApply) return answerOutcome(await applyObject(context, target, value, force ?? false, options));
  const run = target.subresource === 'scale' ? patchScale : patchObject;
  return answerOutcome(await run(context, target, value, type as PatchType, options));
}

async function remove({ context }: Routing, { request, query, target }: Call): Promise<TransportResponse> {
  negotiate(header(request, 'accept'), false);
  if (request.body) requireJson(header(request, 'content-type'));
  const options = readDeleteOptions(request.body ?? '', query);
  return answerOutcome(await deleteObject(context, target, options));
}

/** One after another; what is gone meanwhile is no problem, what is refused ends it. */
async function removeAll({ context }: Routing, { request, query, target }: Call): Promise<TransportResponse> {
  negotiate(header(request, 'accept'), true);
  if (request.body) requireJson(header(request, 'content-type'));
  const options = readDeleteOptions(request.body ?? '', query);
  const page = listPage(context, target, readListOptions(query, target.served, ''));
  await Promise.all(
    page.entries.map(({ key }) =>
      deleteObject(context, { ...target, namespace: key.namespace, name: key.name }, options).catch(
        (error: unknown) => {
          if (!(error instanceof Refusal) || error.status.code !== 404) throw error;
        },
      ),
    ),
  );
  const view = { served: target.served, metadataOnly: false };
  return answerTexts(listTexts(view, { ...page, resourceVersion: String(context.store.revision) }));
}
