/**
 * Drafts of backups that nobody is at any more: their task was deleted, or their cluster, while no operator ran. Whoever makes a backup has
 * its goal in the status of the cluster before the draft is there, and until it has ended.
 */
import type { Api } from '@reeve/runtime/manager';
import type { BackupStore, DraftName } from '../../api/backup.ts';
import { redisClusters } from '../../api/kinds.ts';
import type { BackupRequest } from '../../plan/backup.ts';
import { BACKUP } from './backup.ts';

export class DraftSweep implements AsyncDisposable {
  readonly #store: Pick<BackupStore, 'drafts' | 'discard'>;
  readonly #api: Api;
  readonly #stop = new AbortController();
  /** At its beginning, and whenever a backup was given up. */
  #isDue = true;
  #running: Promise<void> | undefined;

  constructor(store: Pick<BackupStore, 'drafts' | 'discard'>, api: Api) {
    this.#store = store;
    this.#api = api;
  }

  due(): void {
    this.#isDue = true;
  }

  /** If it is due, beside whatever else is done. Call it often: what failed is tried again with the next call. */
  start(): void {
    if (!this.#isDue || this.#running || this.#stop.signal.aborted) return;
    this.#isDue = false;
    this.#running = this.#sweep()
      .catch(() => this.due())
      .finally(() => {
        this.#running = undefined;
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Drafts first, goals after: one that is made meanwhile is not among them. */
  async #sweep(): Promise<void> {
    for (const draft of await this.#store.drafts()) {
      if (!(await this.#isGoal(draft))) await this.#store.discard(draft);
    }
  }

  async #isGoal({ name }: DraftName): Promise<boolean> {
    const { signal } = this.#stop;
    const [namespace = '', cluster = ''] = name.split('/');
    const live = await this.#api.resource(redisClusters, namespace).find(cluster, { signal });
    signal.throwIfAborted();
    const current = live?.status?.currentOperation;
    return current?.kind === BACKUP && (current.goal as unknown as Partial<BackupRequest>).name === name;
  }
}
