/** Roles and bindings of the store, read once and kept current by its events: a request asks memory. */
import { type Draft, draftOf, isObject, objectOf, textOf } from '../object/draft.ts';
import type { Entry } from '../store/entry.ts';
import type { Store } from '../store/store.ts';
import { RBAC } from './groups.ts';
import { type PolicyRule, readRules } from './rule.ts';

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export interface Binding {
  readonly name: string;
  /** Empty: of the whole cluster. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

type Rules = readonly PolicyRule[];
type RoleStore = Pick<Store, 'listen' | 'range'>;

export class Roles implements Disposable {
  readonly #clusterRoles: ReadonlyMap<string, Rules>;
  readonly #roles: ReadonlyMap<string, Rules>;
  readonly #clusterBindings: ReadonlyMap<string, Binding>;
  readonly #bindings = new Map<string, Map<string, Binding>>();
  readonly #listening: Disposable[] = [];
  #changes = 0;

  constructor(store: RoleStore) {
    const rules = (entry: Entry): Rules => readRules(draftOf(entry.body).rules);
    this.#clusterRoles = this.#follow(store, 'clusterroles', rules);
    this.#roles = this.#follow(store, 'roles', rules);
    this.#clusterBindings = this.#follow(store, 'clusterrolebindings', readBinding);
    this.#each(store, 'rolebindings', (entry, deleted) => {
      const { namespace, name } = entry.key;
      const ofNamespace = this.#bindings.get(namespace) ?? new Map<string, Binding>();
      if (deleted) ofNamespace.delete(name);
      else ofNamespace.set(name, readBinding(entry));
      if (ofNamespace.size === 0) this.#bindings.delete(namespace);
      else this.#bindings.set(namespace, ofNamespace);
    });
  }

  /** Another number, whenever anything is different. */
  get changes(): number {
    return this.#changes;
  }

  clusterBindings(): Iterable<Binding> {
    return this.#clusterBindings.values();
  }

  bindings(namespace: string): Iterable<Binding> {
    return this.#bindings.get(namespace)?.values() ?? [];
  }

  /** Undefined: there is no such role. */
  rulesOf({ kind, name }: RoleRef, namespace: string): Rules | undefined {
    return kind === 'ClusterRole' ? this.#clusterRoles.get(`/${name}`) : this.#roles.get(`${namespace}/${name}`);
  }

  [Symbol.dispose](): void {
    for (const one of this.#listening) one[Symbol.dispose]();
  }

  #follow<T>(store: RoleStore, plural: string, read: (entry: Entry) => T): ReadonlyMap<string, T> {
    const found = new Map<string, T>();
    this.#each(store, plural, (entry, deleted) => {
      if (deleted) found.delete(entry.place);
      else found.set(entry.place, read(entry));
    });
    return found;
  }

  #each(store: RoleStore, plural: string, tell: (entry: Entry, deleted: boolean) => void): void {
    const resource = `${plural}.${RBAC}`;
    this.#listening.push(
      store.listen(resource, (events) => {
        this.#changes++;
        for (const { entry, deleted } of events) tell(entry, deleted);
      }),
    );
    for (const entry of store.range({ resource })) tell(entry, false);
  }
}

export function readRoleRef(binding: Draft): RoleRef {
  const { apiGroup, kind, name } = objectOf(binding.roleRef);
  return { apiGroup: textOf(apiGroup), kind: textOf(kind), name: textOf(name) };
}

function readBinding({ key, body }: Entry): Binding {
  const draft = draftOf(body);
  const subjects = Array.isArray(draft.subjects) ? draft.subjects.filter(isObject) : [];
  return {
    name: key.name,
    namespace: key.namespace,
    roleRef: readRoleRef(draft),
    subjects: subjects.map(({ kind, name, namespace }) => ({
      kind: textOf(kind),
      name: textOf(name),
      namespace: textOf(namespace),
    })),
  };
}
