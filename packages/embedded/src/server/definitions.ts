/**
 * Follows the CustomResourceDefinitions in the store: what they define is served from the moment they are visible, and
 * when one is deleted, its objects are deleted first (their finalizers are honoured) and then its own finalizer goes.
 */
import { EmbeddedError } from '../errors/errors.ts';
import { CLEANUP, CRD_GROUP, CRD_STORED } from '../kinds/crd.ts';
import type { Kind } from '../kinds/kind.ts';
import { type Draft, draftOf, textsOf } from '../object/draft.ts';
import type { Context, Target, WriteOptions } from '../rest/context.ts';
import { deleteObject } from '../rest/delete.ts';
import { changeObject } from '../rest/update.ts';
import { Refusal } from '../status/refusal.ts';
import type { Entry } from '../store/entry.ts';

const AS_SERVER: WriteOptions = { dryRun: false, fieldManager: 'reeve-apiserver', fieldValidation: 'Ignore' };
const DELETION = {
  propagation: undefined,
  orphanDependents: undefined,
  graceSeconds: undefined,
  uid: undefined,
  resourceVersion: undefined,
  dryRun: false,
};

export class Definitions {
  readonly #context: Context;
  readonly #onChange: (stored: string) => void;
  readonly #onError: (error: unknown) => void;
  readonly #listening: Disposable;
  /** Names of definitions that are being cleaned up, with what is listened to for them. */
  readonly #cleaning = new Map<string, Disposable>();

  /** @param onChange a kind is served otherwise from now on, or no longer: its watches should end. */
  constructor(context: Context, onChange: (stored: string) => void, onError: (error: unknown) => void) {
    this.#context = context;
    this.#onChange = onChange;
    this.#onError = onError;
    this.#listening = context.store.listen(CRD_STORED, (events) => {
      for (const { entry, deleted } of events) {
        if (deleted) this.#forget(entry);
        else this.#define(entry);
      }
    });
    for (const entry of context.store.range({ resource: CRD_STORED })) this.#define(entry);
  }

  close(): void {
    this.#listening[Symbol.dispose]();
    for (const listening of this.#cleaning.values()) listening[Symbol.dispose]();
    this.#cleaning.clear();
  }

  #define(entry: Entry): void {
    const crd = draftOf(entry.body);
    const before = this.#kindOf(entry);
    this.#serve(crd, entry.key.name);
    const after = this.#kindOf(entry);
    if (before !== undefined && after === undefined) this.#onChange(before.stored);
    const isDeleting = crd.metadata.deletionTimestamp !== undefined;
    if (isDeleting && textsOf(crd.metadata.finalizers).includes(CLEANUP)) this.#clean(entry);
  }

  /** The definition is in the store, whatever comes of it: one that cannot be served must not keep the others from it. */
  #serve(crd: Draft, name: string): void {
    const { registry } = this.#context;
    try {
      registry.define(crd);
    } catch (error) {
      registry.undefine(name);
      const why = error instanceof Error ? error.message : String(error);
      const message = `the kind of the definition ${name} cannot be served: ${why}`;
      this.#onError(new EmbeddedError('EMBEDDED_DEFINITION', message, [name], error));
    }
  }

  #forget(entry: Entry): void {
    this.#context.registry.undefine(entry.key.name);
    this.#cleaning.get(entry.key.name)?.[Symbol.dispose]();
    this.#cleaning.delete(entry.key.name);
    this.#onChange(entry.key.name);
  }

  #kindOf({ key }: Entry): Kind | undefined {
    return this.#context.registry.kinds.find((kind) => kind.custom && kind.stored === key.name);
  }

  #clean(definition: Entry): void {
    const { name } = definition.key;
    if (this.#cleaning.has(name)) return;
    const { store } = this.#context;
    const run = (work: Promise<unknown>): void => void work.catch(this.#onError);
    this.#cleaning.set(
      name,
      store.listen(name, () => {
        if (store.count(name) === 0) run(this.#finish(name));
      }),
    );
    run(this.#deleteAll(definition));
  }

  async #deleteAll(definition: Entry): Promise<void> {
    const { store, registry } = this.#context;
    const { name } = definition.key;
    const kind = this.#kindOf(definition);
    const version = kind?.versions[0];
    const served = kind && version && registry.find(kind.group, version.name, kind.plural);
    if (served !== undefined) {
      for (const { key } of store.range({ resource: name })) {
        const target: Target = { served, namespace: key.namespace, name: key.name, subresource: '' };
        await deleteObject(this.#context, target, DELETION).catch(ignoreGone);
      }
    }
    if (store.count(name) === 0) await this.#finish(name);
  }

  async #finish(name: string): Promise<void> {
    const served = this.#context.registry.find(CRD_GROUP, 'v1', 'customresourcedefinitions');
    if (served === undefined) return;
    const target: Target = { served, namespace: '', name, subresource: '' };
    await changeObject(
      this.#context,
      target,
      (old) => {
        if (old === undefined) throw new Refusal(404, 'NotFound', name);
        const finalizers = textsOf(old.metadata.finalizers).filter((one) => one !== CLEANUP);
        return { object: { ...old, metadata: { ...old.metadata, finalizers } }, unknown: [] };
      },
      AS_SERVER,
      false,
    ).catch(ignoreGone);
  }
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof Refusal) || error.status.code !== 404) throw error;
}
