/** The order of things around a finalizer: first on the object, then work; on deletion first clean-up, then off the object. */
import type { KubeObject, Stored } from '@reeve/kube';
import { type Condition, setCondition } from '../conditions/conditions.ts';
import { asReeveError, ReeveError } from '../errors/errors.ts';
import {
  addPatch,
  blockedCondition,
  changeFinalizers,
  hasFinalizer,
  isBeingDeleted,
  removePatch,
} from '../finalizer/finalizer.ts';
import { finished, type Verdict } from '../queue/verdict.ts';
import { type DeepReadonly, keyOf } from '../resource/resource.ts';
import type { Reconcile } from './context.ts';
import type { FinalizerOptions } from './parts.ts';
import type { Around } from './reconcile-context.ts';

type Subject = DeepReadonly<Stored<KubeObject>>;

export async function guardDeletion(
  finalizer: FinalizerOptions<KubeObject>,
  object: Subject,
  around: Around,
  contextOf: (object: Subject) => Reconcile<KubeObject>,
  act: (work: Reconcile<KubeObject>) => Promise<Verdict | undefined | void>,
  signal: AbortSignal,
): Promise<Verdict | undefined | void> {
  const { of } = around.kind;
  const api = around.environment.api.resource(of.kind, object.metadata.namespace);
  if (isBeingDeleted(object)) {
    if (!hasFinalizer(object, finalizer.name)) return finished; // others still have something to do
    const verdict = await cleanUp(finalizer, contextOf(object), around);
    if (verdict.next !== 'done') return verdict;
    // Cancelled work may have stopped in the middle, whatever it returned.
    signal.throwIfAborted();
    const left = await changeFinalizers(api, object, removePatch, finalizer.name, signal);
    // With the last finalizer the object goes: another run before the watch tells must not clean up again.
    if (left?.metadata.finalizers?.length) of.cache.wrote(left as Stored<KubeObject>);
    else of.cache.deleted(keyOf(object), object.metadata.uid);
    return finished;
  }
  if (hasFinalizer(object, finalizer.name)) return act(contextOf(object));
  let guarded: Subject | undefined;
  // The work goes on in this run, so the event of this write need not wake the key again.
  await around.kind.quiet.during(keyOf(object), async () => {
    guarded = await changeFinalizers(api, object, addPatch, finalizer.name, signal);
    if (guarded) of.cache.wrote(guarded as Stored<KubeObject>);
    return guarded?.metadata.resourceVersion;
  });
  if (!guarded || isBeingDeleted(guarded)) return finished; // gone or going meanwhile: its event comes
  return act(contextOf(guarded));
}

async function cleanUp(
  finalizer: FinalizerOptions<KubeObject>,
  work: Reconcile<KubeObject>,
  around: Around,
): Promise<Verdict> {
  try {
    const verdict = (await finalizer.finalize(work)) ?? finished;
    if (verdict.next !== 'done') {
      const error = new ReeveError('FINALIZER_BLOCKED', 'the clean-up is not finished');
      await tell(finalizer, work, error, around);
    }
    return verdict;
  } catch (error) {
    if (!work.signal.aborted) await tell(finalizer, work, asReeveError(error), around);
    throw error;
  }
}

/** Best effort: that a deletion is blocked must not itself block anything. */
async function tell(
  finalizer: FinalizerOptions<KubeObject>,
  work: Reconcile<KubeObject>,
  error: ReeveError,
  { environment: { clock, log }, controller }: Around,
): Promise<void> {
  const status = (work.object as { readonly status?: { readonly conditions?: readonly Condition[] } }).status ?? {};
  const { generation } = work.object.metadata;
  const of = { finalizer: finalizer.name, error, ...(generation !== undefined && { generation }) };
  const blocked = blockedCondition(status.conditions, of, clock.now());
  work.events.warning('FinalizerBlocked', blocked.message, 'Finalize');
  try {
    await work.status({ ...status, conditions: setCondition(status.conditions, blocked, clock.now()) });
  } catch (cause) {
    log('that a deletion is blocked could not be written', { controller, key: work.key, message: String(cause) });
  }
}
