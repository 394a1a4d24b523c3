/**
 * The garbage collector for a fixed list of kinds. An object whose owners are all gone is deleted; that they are gone is proved by reading
 * each of them live, by its uid. Deletion in foreground waits for dependents, orphaning lets go of them first.
 */
import {
  isKubeError,
  type KubeObject,
  metadataOnly,
  type OwnerReference,
  type Resource,
  type Stored,
} from '@reeve/kube';
import type { DeepReadonly, ResourceEvent } from '@reeve/runtime';
import {
  changeFinalizers,
  Controller,
  kindName,
  type Parts,
  type Reconcile,
  type Reflection,
  removePatch,
} from '@reeve/runtime/manager';
import { expecting } from '../owned/expected.ts';
import { change, readLive } from '../owned/writes.ts';
import { type GraphNode, graphIndexes, OwnerGraph } from './graph.ts';
import {
  blocks,
  fateOf,
  FOREGROUND,
  isOrphaning,
  isWaitingForDependents,
  ORPHAN,
  type OwnerState,
  without,
} from './plan.ts';

type Work = Reconcile<KubeObject>;
type Node = Stored<KubeObject>;
type Any = DeepReadonly<Node>;

const CONCURRENCY = 4;
const PAGE = 500;

/** Owners and finalizers are all that is asked here. */
function metadataOf({ metadata }: Node): Node {
  return { metadata };
}

export class GarbageCollector extends Controller {
  readonly #kinds: readonly Resource<KubeObject>[];
  #graph = new OwnerGraph();

  constructor(name: string, kinds: readonly Resource<KubeObject>[]) {
    super({ name });
    this.#kinds = kinds;
  }

  override setUp(parts: Parts): void {
    this.#graph = new OwnerGraph();
    for (const kind of this.#kinds) {
      const queue = parts.queue(kindName(kind));
      const of: Reflection<KubeObject> = parts.reflect(metadataOnly(kind), {
        unscoped: true,
        project: metadataOf,
        indexes: graphIndexes,
        route: (object, event) => this.#route(queue, object, event),
      });
      this.#graph.add(of);
      const reconcile = expecting((work: Work) => this.#collect(work, of));
      parts.work({ of, queues: [queue], concurrency: CONCURRENCY, cancelOn: false, reconcile });
    }
  }

  /** Whom an event concerns: the object itself, those it owns when it goes, and those that wait for it to go. */
  #route(queue: string, object: Any, { change: what, key, previous }: ResourceEvent<Node>) {
    const to = ({ of, key: one }: GraphNode) => ({ queue: kindName(of.kind), key: one });
    const { uid, ownerReferences = [] } = object.metadata;
    const owners = [...ownerReferences, ...(previous?.metadata.ownerReferences ?? [])];
    const waiting = owners
      .map((one) => this.#graph.find(one.uid))
      .filter((one) => one !== undefined && isWaitingForDependents(one.object)) as GraphNode[];
    if (what === 'removed') return [...this.#graph.dependentsOf(uid), ...waiting].map(to);
    const began = isWaitingForDependents(object) && !(previous && isWaitingForDependents(previous));
    const isOwned = JSON.stringify(ownerReferences) !== JSON.stringify(previous?.metadata.ownerReferences ?? []);
    const isOwn = isOwned || began || isOrphaning(object) || isWaitingForDependents(object);
    return [
      ...(isOwn ? [{ queue, key }] : []),
      ...(began ? this.#graph.dependentsOf(uid).map(to) : []),
      ...(isOwned ? waiting.map(to) : []),
    ];
  }

  async #collect(work: Work, of: Reflection<KubeObject>): Promise<void> {
    this.#graph.demandSynced();
    const object = work.object as Node;
    if (isWaitingForDependents(object)) return this.#finishForeground(work, of, object);
    if (isOrphaning(object)) return this.#orphan(work, of, object);
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined || ownerReferences.length === 0) return;
    const states = await this.#statesOf(work, object, ownerReferences);
    if (states.every(({ state }) => state === 'solid' || state === 'unknown')) return;
    // What follows is destructive: on what it is now, not on what the cache has.
    const live = await readLive(work, of, object);
    if (!live || live.metadata.deletionTimestamp !== undefined) return;
    const owners = await this.#statesOf(work, live, live.metadata.ownerReferences ?? []);
    await this.#act(work, of, live, owners);
  }

  async #act(
    work: Work,
    of: Reflection<KubeObject>,
    live: Node,
    owners: readonly { readonly uid: string; readonly state: OwnerState }[],
  ): Promise<void> {
    const { uid, ownerReferences = [], finalizers = [], resourceVersion } = live.metadata;
    const below = this.#graph.dependentsOf(uid);
    const some = below.some(({ object }) => isWaitingForDependents(object))
      ? 'some are being deleted in foreground'
      : 'some';
    const fate = fateOf({ owners, finalizers, dependents: below.length === 0 ? 'none' : some });
    if (fate.type === 'keep') return;
    if (fate.type === 'leave') {
      await change(work, of, live, { metadata: { ownerReferences: without(ownerReferences, fate.uids) } });
      return;
    }
    let version = resourceVersion;
    if (fate.unblock) {
      const unblocked = ownerReferences.map((one) => ({ ...one, blockOwnerDeletion: false }));
      version = (await change(work, of, live, { metadata: { ownerReferences: unblocked } })).metadata.resourceVersion;
    }
    // The version, too: somebody may have given it another owner since the owners were read.
    const options = { propagationPolicy: fate.policy, uid, resourceVersion: version, signal: work.signal };
    try {
      await work.api.resource(of.kind, live.metadata.namespace).delete(live.metadata.name, options);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }

  async #statesOf(work: Work, object: Node, references: readonly OwnerReference[]) {
    const states: { readonly uid: string; readonly state: OwnerState }[] = [];
    for (const reference of references) {
      states.push({ uid: reference.uid, state: await this.#stateOf(work, object, reference) });
    }
    return states;
  }

  async #stateOf(work: Work, { metadata }: Node, { apiVersion, kind, name, uid }: OwnerReference): Promise<OwnerState> {
    const known = this.#graph.find(uid);
    const isReachable = known && (!known.of.kind.namespaced || known.object.metadata.namespace === metadata.namespace);
    // That it was there a moment ago is enough to keep what it owns.
    if (
      known &&
      isReachable &&
      known.object.metadata.name === name &&
      known.object.metadata.deletionTimestamp === undefined
    ) {
      return 'solid';
    }
    const served = this.#graph.kindOf(apiVersion, kind);
    if (!served) return 'unknown';
    if (known && !isReachable && served.namespaced) {
      const note = `ownerRef [${apiVersion}/${kind}, namespace: ${metadata.namespace ?? ''}, name: ${name}, uid: ${uid}] does not exist in namespace "${metadata.namespace ?? ''}"`;
      work.events.warning('OwnerRefInvalidNamespace', note, 'Collect');
    }
    // An object without a namespace cannot be owned by one in a namespace: which one would it be?
    if (served.namespaced && metadata.namespace === undefined) return 'unknown';
    const namespace = served.namespaced ? metadata.namespace : undefined;
    const owner = await work.api.resource(metadataOnly(served), namespace).find(name, { signal: work.signal });
    if (owner?.metadata.uid !== uid) return 'absent';
    return isWaitingForDependents(owner) ? 'waiting' : 'solid';
  }

  /** Dependents that block were told by the event that began this; each of them wakes it when it goes. */
  async #finishForeground(work: Work, of: Reflection<KubeObject>, object: Node): Promise<void> {
    const { uid, namespace } = object.metadata;
    const below = this.#graph.dependentsOf(uid);
    if (below.some((one) => blocks(one.object, uid))) {
      for (const one of below) work.queues[kindName(one.of.kind)]?.add(one.key);
      return;
    }
    await changeFinalizers(work.api.resource(of.kind, namespace), object, removePatch, FOREGROUND, work.signal);
  }

  /** Lists live: a dependent that was missed here would be collected later. */
  async #orphan(work: Work, of: Reflection<KubeObject>, object: Node): Promise<void> {
    const { uid, namespace } = object.metadata;
    for (const kind of this.#kinds) {
      if (namespace !== undefined && !kind.namespaced) continue;
      for (const dependent of await this.#listDependents(work, kind, namespace, uid))
        await this.#letGo(work, kind, dependent, uid);
    }
    await changeFinalizers(work.api.resource(of.kind, namespace), object, removePatch, ORPHAN, work.signal);
  }

  async #listDependents(work: Work, kind: Resource<KubeObject>, namespace: string | undefined, uid: string) {
    const found: Node[] = [];
    const api = work.api.resource(metadataOnly(kind), namespace);
    let from: string | undefined;
    do {
      const page = await api.list({ limit: PAGE, signal: work.signal, ...(from !== undefined && { continue: from }) });
      found.push(...page.items.filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.uid === uid)));
      from = page.metadata.continue || undefined;
    } while (from !== undefined);
    return found;
  }

  async #letGo(work: Work, kind: Resource<KubeObject>, { metadata }: Node, uid: string): Promise<void> {
    const { name, namespace, resourceVersion, ownerReferences = [] } = metadata;
    const left = without(ownerReferences, [uid]);
    const value = { metadata: { uid: metadata.uid, resourceVersion, ownerReferences: left } };
    try {
      await work.api.resource(kind, namespace).patch(name, { type: 'merge', value }, { signal: work.signal });
    } catch (error) {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}
