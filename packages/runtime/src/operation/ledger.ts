/** The ledger in the API: the lock is `status.currentOperation`, taken and given back by updates that carry the version they rest on. */
import type { Clock, Ids } from '../ports/ports.ts';
import { type KubeResource, type Objects, written } from '../resource/objects.ts';
import { Newest } from '../resource/newest.ts';
import {
  advance,
  begin,
  type Candidate,
  end,
  HISTORY_LIMIT,
  type Operation,
  type OperationOutcome,
  type OperationStatus,
} from './operation.ts';

export interface LedgerResource extends KubeResource {
  readonly status?: OperationStatus;
}

export interface LedgerOptions<T extends LedgerResource> {
  readonly objects: Objects<T>;
  /** How many past operations are kept. Default 10: a status is no archive. */
  readonly historyLimit?: number;
  /** Each state that the server answered with: give it to the cache, so that the next turn reads it. */
  wrote?(object: T): void;
}

export class Ledger<T extends LedgerResource> {
  readonly #ports: { readonly clock: Clock; readonly ids: Ids };
  readonly #options: LedgerOptions<T>;
  readonly #known = new Newest<T>();

  constructor(ports: { readonly clock: Clock; readonly ids: Ids }, options: LedgerOptions<T>) {
    this.#ports = ports;
    this.#options = options;
  }

  /** The object as given, or as this process knows it if that is newer. */
  newest(object: T): T {
    return this.#known.of(object);
  }

  /**
   * Takes the lock for a candidate. What comes back is the object as it is then; whether it worked is what its
   * `status.currentOperation` says. Undefined: the object is gone.
   */
  take(object: T, candidate: Candidate, signal: AbortSignal): Promise<T | undefined> {
    const { kind, class: rank, trigger, interruptible } = candidate;
    const operation: Operation = {
      id: this.#ports.ids.next(kind),
      kind,
      class: rank,
      trigger,
      startedAt: this.#time(),
      ...(interruptible && { interruptible }),
    };
    // Not tried again here: whoever lost the race for the lock looks who won it, and decides anew.
    return this.#change(object, (status) => begin(status, operation), 1, signal);
  }

  /** Notes how far an operation is. Nothing happens if it is not the one that runs. */
  note(object: T, id: string, step: string, signal: AbortSignal): Promise<T | undefined> {
    return this.#change(object, (status) => advance(status, id, step), 3, signal);
  }

  /** Gives the lock back. Nothing happens if that operation does not hold it (any more). */
  end(
    object: T,
    id: string,
    how: { readonly outcome: OperationOutcome; readonly message?: string },
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { historyLimit = HISTORY_LIMIT } = this.#options;
    const endedAt = this.#time();
    return this.#change(object, (status) => end(status, id, { ...how, endedAt }, historyLimit), 3, signal);
  }

  forget(uid: string): void {
    this.#known.forget(uid);
  }

  async #change(
    given: T,
    change: (status: OperationStatus) => OperationStatus | undefined,
    tries: number,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { namespace, name, uid } = given.metadata;
    const client = this.#options.objects(namespace);
    let object = this.newest(given);
    for (let left = tries; ; left--) {
      const status = change(object.status ?? {});
      if (!status || left === 0) return object;
      const result = await written(client.update({ ...object, status }, { subresource: 'status', signal }));
      if (result.written) return this.#keep(result.object);
      const live = result.why === 'absent' ? undefined : await client.find(name, { signal });
      if (live?.metadata.uid !== uid) {
        this.forget(uid ?? '');
        return undefined;
      }
      object = this.#keep(live as T);
    }
  }

  #keep(object: T): T {
    this.#known.keep(object);
    this.#options.wrote?.(object);
    return object;
  }

  #time(): string {
    return new Date(this.#ports.clock.now()).toISOString();
  }
}
