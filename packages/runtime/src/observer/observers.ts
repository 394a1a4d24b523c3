/** One observer per resource: started when the resource comes, stopped when it goes. */
import { orAborted } from '../ports/deadline.ts';
import type { ResourceEvent } from '../resource/resource.ts';
import type { Changes } from './changes.ts';
import { Observer, type ObserverOptions, type ObserverPorts } from './observer.ts';

export class Observers<O> implements AsyncDisposable {
  readonly #ports: ObserverPorts;
  readonly #changes: Changes;
  readonly #options: ObserverOptions<O>;
  readonly #running = new Map<string, { readonly uid: string; readonly observer: Observer<O> }>();
  readonly #ending = new Map<Promise<void>, string>();

  constructor(ports: ObserverPorts, changes: Changes, options: ObserverOptions<O>) {
    this.#ports = ports;
    this.#changes = changes;
    this.#options = options;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Call with every event of the kind; it is enough to have seen the list. */
  follow({ change, key, uid }: Pick<ResourceEvent<unknown>, 'change' | 'key' | 'uid'>): void {
    const known = this.#running.get(key);
    if (change === 'removed') {
      if (known?.uid === uid) this.#end(key);
      return;
    }
    if (known?.uid === uid) return;
    if (known) this.#end(key);
    const observer = new Observer(this.#ports, this.#changes, key, this.#options);
    this.#running.set(key, { uid, observer });
    observer.start();
  }

  nudge(key: string): void {
    this.#running.get(key)?.observer.nudge();
  }

  /** Ends all of them and waits until `patience` aborts. Returns the keys that did not end. */
  async stop(patience: AbortSignal): Promise<readonly string[]> {
    await orAborted(this[Symbol.asyncDispose](), patience).catch(() => undefined); // no patience left
    return [...new Set(this.#ending.values())];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of [...this.#running.keys()]) this.#end(key);
    await Promise.all(this.#ending.keys());
  }

  #end(key: string): void {
    const known = this.#running.get(key);
    if (!known) return;
    this.#running.delete(key);
    this.#changes.forget(key);
    const ending = known.observer[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.set(ending, key);
  }
}
