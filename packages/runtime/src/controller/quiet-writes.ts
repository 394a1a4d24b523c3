/**
 * Own writes wake nobody: those of the status not their key, those of a child not its owner. The watch may tell of a write before its answer is here, so what comes meanwhile is kept until the
 * answer names the version: exactly that state is our own, everything else is passed on.
 */
import type { DeepReadonly, ResourceEvent } from '../resource/resource.ts';
import { hasReached } from '../resource/version.ts';

/** What a write led to. */
export interface OwnVersion<P> {
  readonly version: string;
  /**
   * False if the state before this version said already what was written: then the write changed nothing, and was answered with the
   * version of somebody else's change, which must not be kept quiet.
   */
  isNewTo(previous: DeepReadonly<P>): boolean;
}

interface Writing<P> {
  readonly held: ResourceEvent<P>[];
  writers: number;
}

export class QuietWrites<P> {
  readonly #deliver: (event: ResourceEvent<P>) => void;
  readonly #hushed: ((event: ResourceEvent<P>) => void) | undefined;
  readonly #changes: readonly ResourceEvent<P>['change'][];
  readonly #writing = new Map<string, Writing<P>>();
  /** Versions of own writes whose events are still to come. */
  readonly #versions = new Map<string, Map<string, OwnVersion<P> | undefined>>();

  /** `changes`: which of them an own write can be. */
  constructor(
    deliver: (event: ResourceEvent<P>) => void,
    hushed?: (event: ResourceEvent<P>) => void,
    changes: readonly ResourceEvent<P>['change'][] = ['changed'],
  ) {
    this.#deliver = deliver;
    this.#hushed = hushed;
    this.#changes = changes;
  }

  /** Every event goes through here, in order. */
  take(event: ResourceEvent<P>): void {
    const writing = this.#writing.get(event.key);
    if (writing) writing.held.push(event);
    else this.#pass(event);
  }

  /** Runs a write; what it returns is the version that the server answered with. */
  async during(key: string, write: () => Promise<string | OwnVersion<P> | undefined>): Promise<void> {
    const writing = this.#writing.get(key) ?? { held: [], writers: 0 };
    writing.writers++;
    this.#writing.set(key, writing);
    try {
      const own = await write();
      const versions = this.#versions.get(key) ?? new Map<string, OwnVersion<P> | undefined>();
      if (typeof own === 'string') this.#versions.set(key, versions.set(own, undefined));
      else if (own) this.#versions.set(key, versions.set(own.version, own));
    } finally {
      writing.writers--;
      if (writing.writers === 0) {
        this.#writing.delete(key);
        for (const event of writing.held) this.#pass(event);
      }
    }
  }

  forget(key: string): void {
    this.#versions.delete(key);
  }

  #pass(event: ResourceEvent<P>): void {
    const versions = this.#versions.get(event.key);
    if (!versions) return this.#deliver(event);
    const version = versionOf(event.object);
    // In a list somebody else's change may hide before our own, so only what a watch told counts.
    const canBeOwn = this.#changes.includes(event.change) && !event.listed;
    const isOwn = canBeOwn && version !== undefined && versions.has(version) && isNews(versions.get(version), event);
    // Events come in order: what this one has reached will not come any more. A write that changed nothing never came.
    for (const one of versions.keys()) if (hasReached(version, one)) versions.delete(one);
    if (!canBeOwn || versions.size === 0) this.#versions.delete(event.key);
    if (isOwn) this.#hushed?.(event);
    else this.#deliver(event);
  }
}

function isNews<P>(own: OwnVersion<P> | undefined, { previous }: ResourceEvent<P>): boolean {
  return !own || previous === undefined || own.isNewTo(previous);
}

function versionOf(object: unknown): string | undefined {
  return (object as { readonly metadata?: { readonly resourceVersion?: string } }).metadata?.resourceVersion;
}
