/**
 * The writes of a controller in one term. What the server answers is in the caches before anybody reads on; what would change nothing
 * is not sent; and a key whose writes the watch has not told yet can be held back.
 */
import type { DeleteOptions, KubeObject, Status, Stored } from '@reeve/kube';
import { isStatus } from '@reeve/kube';
import { Gate } from '../cache/gate.ts';
import { type Api, asCached, type Kind, kindName } from '../client/api.ts';
import { canonicalJson, digest, digestOf } from '../digest/digest.ts';
import { ReeveError } from '../errors/errors.ts';
import { failureOf } from '../reflector/port.ts';
import { type DeepReadonly, keyOf } from '../resource/resource.ts';
import type { ChildOptions, StatusOptions } from './context.ts';
import { ownerReference } from './owner.ts';
import type { AnyReflection } from './parts.ts';
import type { KindRun } from './kind-run.ts';

type Owner = DeepReadonly<Stored<KubeObject>>;

/** A status write that meets a newer version reads it and tries again. */
const MOST_TRIES = 4;

interface Applied {
  readonly digest: string;
  readonly version: string;
}

export class Writer {
  readonly gate = new Gate();
  readonly #api: Api;
  readonly #manager: string;
  readonly #reflections: readonly AnyReflection[];
  readonly #quietOf: (of: AnyReflection) => Pick<KindRun, 'quiet' | 'echo'>;
  /** What was applied last, and the version that it led to. */
  readonly #applied = new Map<string, Applied>();
  /** The status that was written last: what it had and the new one has not must be taken away once. */
  readonly #statuses = new Map<string, string>();

  constructor(
    api: Api,
    manager: string,
    reflections: readonly AnyReflection[],
    quietOf: (of: AnyReflection) => Pick<KindRun, 'quiet' | 'echo'>,
  ) {
    this.#api = api;
    this.#manager = manager;
    this.#reflections = reflections;
    this.#quietOf = quietOf;
  }

  /** How many objects it remembers what it applied to. */
  get remembered(): number {
    return this.#applied.size;
  }

  reflectionOf(kind: Kind<KubeObject>): AnyReflection | undefined {
    return this.#reflections.find(({ kind: one }) => one.plural === kind.plural && one.group === kind.group);
  }

  async apply<C extends KubeObject>(
    of: AnyReflection,
    owner: Owner,
    kind: Kind<C>,
    object: C & { readonly metadata: { readonly name: string } },
    { owned = true, force = true }: ChildOptions,
    signal: AbortSignal,
  ): Promise<DeepReadonly<Stored<C>>> {
    const namespace = kind.namespaced ? (object.metadata.namespace ?? owner.metadata.namespace) : undefined;
    const metadata = {
      ...object.metadata,
      ...(namespace !== undefined && { namespace }),
      ...(owned && {
        ownerReferences: [...(object.metadata.ownerReferences ?? []), ownerReference(of.kind, owner.metadata)],
      }),
    };
    const wanted = { ...object, metadata };
    const childKey = keyOf(wanted);
    const memory = idOf(kind, childKey);
    const named = digest(wanted);
    const reflection = this.reflectionOf(kind);
    const present = reflection?.cache.get(childKey);
    const before = this.#applied.get(memory);
    if (present && before?.digest === named && before.version === present.metadata.resourceVersion) {
      return present as DeepReadonly<Stored<C>>;
    }
    const write = async (): Promise<Stored<C>> => {
      const api = this.#api.resource(kind, namespace);
      const answer = await api.apply(wanted, { ...asCached, fieldManager: this.#manager, force, signal });
      // Of a kind that is not reflected nobody would ever say that it is gone; nor is there a state to compare it with.
      if (reflection) this.#applied.set(memory, { digest: named, version: answer.metadata.resourceVersion });
      return answer;
    };
    if (!reflection) return (await write()) as DeepReadonly<Stored<C>>;
    let answer: Stored<C> | undefined;
    await this.#quietOf(reflection).echo.during(childKey, async () => {
      answer = await write();
      reflection.cache.wrote(answer);
      const { resourceVersion } = answer.metadata;
      this.gate.expect(idOf(of.kind, keyOf(owner)), reflection.cache, childKey, resourceVersion);
      return { version: resourceVersion, isNewTo: (previous) => !covers(previous, wanted) };
    });
    return answer as DeepReadonly<Stored<C>>;
  }

  async remove<C extends KubeObject>(
    of: AnyReflection,
    owner: Owner,
    kind: Kind<C>,
    object: DeepReadonly<Stored<C>>,
    options: DeleteOptions,
  ): Promise<void> {
    const { name, namespace, uid } = (object as unknown as Owner).metadata;
    const cache = this.reflectionOf(kind)?.cache;
    const childKey = keyOf(object as unknown as Owner);
    const answer = await this.#api
      .resource(kind, namespace)
      .delete(name, { propagationPolicy: 'Background', ...options, uid });
    if (!cache) return;
    if (isGone(answer)) return cache.deleted(childKey, uid);
    cache.wrote(answer as Stored<KubeObject>);
    this.gate.expect(idOf(of.kind, keyOf(owner)), cache, childKey, answer.metadata.resourceVersion);
  }

  /** False if the status says so already. */
  async status(
    of: AnyReflection,
    object: Owner,
    status: object,
    signal: AbortSignal,
    { onlyIf }: StatusOptions = {},
  ): Promise<boolean> {
    const key = keyOf(object);
    const memory = idOf(of.kind, key);
    const present = statusOf(of.cache.get(key)) ?? {};
    const text = canonicalJson(status);
    if (text === canonicalJson(present)) return false;
    // Others may own parts of the status: then ours must be in it, and must be what we wrote last.
    const named = digestOf(text);
    if (this.#statuses.get(memory) === named && covers(present, status)) return false;
    await this.#quietOf(of).quiet.during(key, async () => {
      const { answer, isChanged } = await this.#writeStatus(of, object, status, { onlyIf, signal });
      of.cache.wrote(answer);
      // A write that changed nothing is answered with the version of whoever wrote last: that is not ours to keep quiet.
      return isChanged ? answer.metadata.resourceVersion : undefined;
    });
    this.#statuses.set(memory, named);
    return true;
  }

  /**
   * The status of a predecessor must not land on an object that only has its name. A server ignores the uid in a status write, so the
   * version says which object is meant; that it grew since is no reason not to write, unless the writer names one.
   */
  async #writeStatus(
    of: AnyReflection,
    object: Owner,
    status: object,
    { onlyIf, signal }: { readonly onlyIf: StatusOptions['onlyIf']; readonly signal: AbortSignal },
  ): Promise<{ readonly answer: Stored<KubeObject>; readonly isChanged: boolean }> {
    const { name, namespace, uid } = object.metadata;
    const api = this.#api.resource(of.kind, namespace);
    let current: { readonly metadata: { readonly uid: string; readonly resourceVersion: string } } | undefined;
    current = of.cache.get(keyOf(object));
    for (let tries = 1; ; tries++) {
      if (current?.metadata.uid !== uid) {
        const message = `${of.kind.kind} ${keyOf(object)} is gone, or another one has its name`;
        throw new ReeveError('OBJECT_REPLACED', message, { subjects: [keyOf(object)] });
      }
      if (onlyIf && !onlyIf(statusOf(current))) {
        const message = `the status of ${of.kind.kind} ${keyOf(object)} is not the one any more that this was decided on`;
        throw new ReeveError('STATUS_STALE', message, { subjects: [keyOf(object)] });
      }
      const { resourceVersion } = current.metadata;
      const metadata = { name, ...(namespace !== undefined && { namespace }), resourceVersion };
      const options = { ...asCached, subresource: 'status', fieldManager: this.#manager, force: true, signal };
      try {
        const answer = await api.apply({ metadata, status } as KubeObject & { metadata: { name: string } }, options);
        return { answer, isChanged: answer.metadata.resourceVersion !== resourceVersion };
      } catch (error) {
        if (tries >= MOST_TRIES || failureOf(error).status !== 409) throw error;
      }
      current = await api.find(name, { signal });
    }
  }

  /** An object is gone: nothing of it is remembered. */
  forget(kind: Kind<KubeObject>, key: string): void {
    const id = idOf(kind, key);
    this.#applied.delete(id);
    this.#statuses.delete(id);
    this.gate.forget(id);
  }
}

/** A key together with its kind: two kinds may have objects of one name. */
export function idOf(kind: Kind<KubeObject>, key: string): string {
  return `${kindName(kind)} ${key}`;
}

function isGone(answer: Stored<KubeObject> | Status): answer is Status {
  return isStatus(answer);
}

function statusOf(object: unknown): unknown {
  return (object as { readonly status?: unknown } | undefined)?.status;
}

/**
 * All that `part` says, `whole` says too. A list says what its members say, one by one; a list of conditions may have more of them, for
 * others have theirs in it.
 */
export function covers(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) return Array.isArray(whole) && coversList(whole, part);
  if (typeof part !== 'object' || part === null) return canonicalJson(whole) === canonicalJson(part);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  return Object.entries(part).every(([name, value]) => covers((whole as Record<string, unknown>)[name], value));
}

function coversList(whole: readonly unknown[], part: readonly unknown[]): boolean {
  const typeOf = (one: unknown) => (one as { readonly type?: unknown } | null)?.type;
  const isOfTypes = part.length > 0 && part.every((one) => typeof typeOf(one) === 'string');
  if (!isOfTypes) return whole.length === part.length && part.every((one, at) => covers(whole[at], one));
  return part.every((one) => whole.some((other) => typeOf(other) === typeOf(one) && covers(other, one)));
}
