/** POST: a new object. */
import { awaitAccount } from '../accounts/admit.ts';
import { bodyOf, copyOf, type Draft, draftOf, textOf } from '../object/draft.ts';
import { finalizerWarnings } from '../object/metadata.ts';
import { dedupeOwners } from '../object/owners.ts';
import {
  alreadyExists,
  forbiddenRequest,
  generateNameConflict,
  notFound,
  Refusal,
  withWarnings,
} from '../status/refusal.ts';
import type { Entry } from '../store/entry.ts';
import { type Context, keyOf, type Outcome, type Target, type WriteOptions } from './context.ts';
import { type Decoded, decodeObject } from './decode.ts';
import { generatedName, judgeUnknown, prepareNew, settleNamespace, settleNewMetadata } from './prepare.ts';
import { factsOf, textFor } from './present.ts';

const NAMESPACES = { group: '', plural: 'namespaces' };
/** How often a generated name that is taken is thrown again. */
const MOST_NAMES = 8;

export async function createObject(
  context: Context,
  target: Target,
  text: string,
  options: WriteOptions,
): Promise<Outcome> {
  const told: string[] = [];
  try {
    return await create(context, target, text, options, told);
  } catch (error) {
    throw withWarnings(error, told);
  }
}

async function create(
  context: Context,
  target: Target,
  text: string,
  options: WriteOptions,
  told: string[],
): Promise<Outcome> {
  const { kind } = target.served;
  const { object, unknown } = decodeObject(text, target.served);
  const warnings = judgeUnknown({ object, unknown }, target, options);
  told.push(...warnings);
  settleNamespace(object.metadata, target);
  refuseInNamespace(context, target, object);
  if (kind.terminating) {
    const why = 'create not allowed while custom resource definition is terminating';
    throw forbiddenRequest(kind, textOf(object.metadata.name), why);
  }
  options.check?.(object, undefined);
  await awaitAccount(context, target, object);
  const base = textOf(object.metadata.generateName);
  const generates = textOf(object.metadata.name) === '' && base !== '';
  for (let attempt = 1; ; attempt++) {
    // Only a name that is thrown again needs the object as it came.
    const fresh = generates ? copyOf(object) : object;
    if (generates) fresh.metadata.name = generatedName(base, context);
    const name = textOf(fresh.metadata.name);
    told.length = warnings.length;
    try {
      const made = await store(
        context,
        { ...target, name },
        { object: fresh, unknown, ...(generates && { generateName: base }) },
        options,
        told,
      );
      return { code: 201, text: made, warnings: told };
    } catch (error) {
      const isTaken = error instanceof Refusal && error.status.reason === 'AlreadyExists';
      if (!generates || !isTaken) throw error;
      if (attempt >= MOST_NAMES) throw generateNameConflict(kind, name);
    }
  }
}

async function store(
  context: Context,
  target: Target,
  decoded: Decoded,
  options: WriteOptions,
  told: string[],
): Promise<string> {
  if (textOf(decoded.object.metadata.resourceVersion) !== '') {
    // Strange, but the server's own: not a 400.
    throw new Refusal(500, '', 'resourceVersion should not be set on objects to be created');
  }
  const created = newEntry(context, target, decoded, options, told);
  let text = '';
  await context.store.write(keyOf(target), (current, revision) => {
    if (current) throw takenBy(current, target);
    const stored = created(revision);
    text = textFor(target.served, stored);
    return options.dryRun ? { type: 'keep' } : { type: 'put', ...stored };
  });
  return text;
}

/**
 * A new object, ready to be stored under whatever revision it gets.
 * @param told gets what is odd about it as it is found: it is told also when the object is refused.
 */
export function newEntry(
  context: Context,
  target: Target,
  decoded: Decoded,
  options: WriteOptions,
  told: string[],
): (revision: number) => Stored {
  const { kind, version } = target.served;
  told.push(...dedupeOwners(decoded.object, decoded.isPatched === true));
  settleNewMetadata(decoded.object.metadata, context, kind);
  const ready = prepareNew(decoded, target, context, options);
  const { dryRun } = options;
  told.push(...(kind.warn?.(ready, undefined) ?? []));
  told.push(...(context.admit?.({ operation: 'CREATE', target, object: ready, dryRun }) ?? []));
  if (kind.custom) told.push(...finalizerWarnings(ready.metadata, {}));
  const stored = version.conversion?.toStored(ready) ?? ready;
  const note = factsOf(target.served, stored);
  return (revision) => ({ body: bodyOf(stored, dryRun ? '' : String(revision)), note });
}

interface Stored {
  readonly body: string;
  readonly note: unknown;
}

function takenBy(current: Entry, { served, name }: Target): Refusal {
  return alreadyExists(served.kind, name, draftOf(current.body).metadata.deletionTimestamp !== undefined);
}

/** Nothing is made in a namespace that is not there, or no longer. */
export function refuseInNamespace(context: Context, { served, namespace }: Target, object: Draft): void {
  if (!served.kind.namespaced) return;
  const found = context.store.get({ resource: 'namespaces', namespace: '', name: namespace });
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (!found.body.includes('"deletionTimestamp"')) return;
  if (draftOf(found.body).metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbiddenRequest(served.kind, textOf(object.metadata.name), why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}
