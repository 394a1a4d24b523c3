/** Puts together what a reconcile gets. */
import type { KubeObject, Stored } from '@reeve/kube';
import { apiVersionOf } from '@reeve/kube';
import { type Kind, kindName } from '../client/api.ts';
import { ReeveError } from '../errors/errors.ts';
import type { ObjectReference } from '../events/event.ts';
import type { Knowledge } from '../plan/known.ts';
import type { WorkQueue } from '../queue/queue.ts';
import type { DeepReadonly } from '../resource/resource.ts';
import type { Work } from '../worker/workers.ts';
import type { EventWriter, Reconcile } from './context.ts';
import type { Environment } from './environment.ts';
import type { KindRun } from './kind-run.ts';
import { OWNER_INDEX } from './owner.ts';
import type { AnyReflection } from './parts.ts';
import type { Writer } from './writer.ts';

export interface Around {
  readonly kind: KindRun;
  readonly writer: Writer;
  readonly queues: Readonly<Record<string, WorkQueue>>;
  readonly environment: Environment;
  readonly controller: string;
}

type Given = Work & { readonly object: DeepReadonly<Stored<KubeObject>>; readonly observed: Knowledge<unknown> };

export function reconcileContext(given: Given, around: Around): Reconcile<KubeObject> {
  const { key, signal, queue, object, observed } = given;
  const { kind, writer, queues, environment } = around;
  const { api, term, clock, metrics } = environment;
  return {
    key,
    object,
    signal,
    observed,
    queue,
    queues,
    api,
    term,
    now: () => clock.now(),
    read: (of, childKey) => reflectionOf(writer, of).cache.get(childKey) as never,
    children: (of) => childrenOf(reflectionOf(writer, of), object.metadata.uid) as never,
    apply: (of, child, options = {}) => writer.apply(kind.of, object, of, child, options, signal),
    remove: (of, child, options = {}) => writer.remove(kind.of, object, of, child, { ...options, signal }),
    status: async (status, options) => {
      const isWritten = await writer.status(kind.of, object, status, signal, options);
      if (!isWritten) metrics.statusSkips.add({ controller: around.controller });
      return isWritten;
    },
    events: eventsAbout(referenceTo(kind.of, object), environment),
    eventsOn: (regarding) => eventsAbout(regarding, environment),
  };
}

function reflectionOf(writer: Writer, of: Kind<never> | Kind<KubeObject>): AnyReflection {
  const reflection = writer.reflectionOf(of as Kind<KubeObject>);
  if (!reflection) throw new ReeveError('CONTROLLER_OPTIONS', `${kindName(of)} are not reflected by this controller`);
  // Not listed yet, or not installed: no objects are no answer.
  if (!reflection.cache.isSynced) {
    throw new ReeveError('CACHE_NOT_SYNCED', `${kindName(of)} have not been listed yet`, { subjects: [kindName(of)] });
  }
  return reflection;
}

function childrenOf({ cache, kind }: AnyReflection, uid: string): readonly DeepReadonly<Stored<KubeObject>>[] {
  if (cache.hasIndex(OWNER_INDEX)) return cache.byIndex(OWNER_INDEX, uid);
  throw new ReeveError('CONTROLLER_OPTIONS', `${kindName(kind)} are not owned by this controller`);
}

function referenceTo({ kind }: AnyReflection, { metadata }: DeepReadonly<Stored<KubeObject>>): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    uid,
    resourceVersion,
    ...(namespace !== undefined && { namespace }),
  };
}

function eventsAbout(regarding: ObjectReference, { recorder }: Environment): EventWriter {
  const record =
    (type: 'Normal' | 'Warning') =>
    (reason: string, note: string, action = 'Reconcile', related?: ObjectReference) =>
      recorder.record({ type, reason, note, action, regarding, ...(related && { related }) });
  return { normal: record('Normal'), warning: record('Warning') };
}
