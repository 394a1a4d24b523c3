/**
 * The newest state of objects that this process was answered with. A cache lags behind it, and a worker that acted on less than
 * it knows would do again what is done. By uid; what is gone must be forgotten.
 */
import type { Resource } from './resource.ts';
import { isNewer } from './version.ts';

export class Newest<T extends Resource> {
  readonly #known = new Map<string, T>();

  /** The object as given, or as this process knows it if that is newer. */
  of(object: T): T {
    const known = this.#known.get(object.metadata.uid ?? '');
    return known && isNewer(known.metadata.resourceVersion, object.metadata.resourceVersion) ? known : object;
  }

  /** Keeps it unless a newer state is known; returns the newest. */
  keep(object: T): T {
    const newest = this.of(object);
    this.#known.set(object.metadata.uid ?? '', newest);
    return newest;
  }

  get(uid: string): T | undefined {
    return this.#known.get(uid);
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }
}
