/** Who owns whom, over all kinds, as the caches have it. */
import { type KubeObject, type Resource, splitApiVersion, type Stored } from '@reeve/kube';
import { type DeepReadonly, ReeveError } from '@reeve/runtime';
import { kindName, type Reflection } from '@reeve/runtime/manager';

type Any = DeepReadonly<Stored<KubeObject>>;

export interface GraphNode {
  readonly of: Reflection<KubeObject>;
  readonly key: string;
  readonly object: Stored<KubeObject>;
}

const UID = 'reeve/uid';
const OWNERS = 'reeve/owner-uids';

export const graphIndexes = {
  [UID]: ({ metadata }: Any): readonly string[] => [metadata.uid],
  [OWNERS]: ({ metadata }: Any): readonly string[] => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
};

export class OwnerGraph {
  readonly #kinds: Reflection<KubeObject>[] = [];

  add(of: Reflection<KubeObject>): void {
    this.#kinds.push(of);
  }

  /** Which of the kinds a reference means; versions come and go. */
  kindOf(apiVersion: string, kind: string): Resource<KubeObject> | undefined {
    const { group } = splitApiVersion(apiVersion);
    return this.#kinds.find(({ kind: one }) => one.kind === kind && one.group === group)?.kind;
  }

  find(uid: string): GraphNode | undefined {
    return this.#nodes(UID, uid)[0];
  }

  dependentsOf(uid: string): readonly GraphNode[] {
    return this.#nodes(OWNERS, uid);
  }

  /** Nothing may be concluded from what is not in a cache that was never filled. */
  demandSynced(): void {
    for (const { kind, cache } of this.#kinds) {
      if (!cache.isSynced) throw new ReeveError('CACHE_NOT_SYNCED', `${kindName(kind)} have not been listed yet`);
    }
  }

  #nodes(index: string, term: string): readonly GraphNode[] {
    return this.#kinds.flatMap((of) =>
      of.cache.byIndex(index, term).map((object) => {
        const { namespace, name } = object.metadata;
        const key = namespace === undefined ? name : `${namespace}/${name}`;
        return { of, key, object: object as Stored<KubeObject> };
      }),
    );
  }
}
