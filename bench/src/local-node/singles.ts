/** How long a pod takes to become a process. */
import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plane } from './plane.ts';
import { pods, trivialPod } from './pods.ts';

/** What one pod leaves to be done (its status, its events) is no part of the next one's time. */
const PAUSE_MS = 150;
const PATIENCE_MS = 30_000;

/** The first thing that the program does is to make a file; the kernel tells us of it. */
const SAY_SO = ': >"$0"; exec sleep 100000';

/** From the answer to the request that made the pod, which is bound to a node, until its program runs. One after the other. */
export async function podToProcess(plane: Plane, count: number): Promise<readonly number[]> {
  await mkdir(plane.scratch, { recursive: true });
  using begun = new Begun(plane.scratch);
  const api = plane.client.resource(pods, 'default');
  const measured: number[] = [];
  // The first one finds code that was never run before: it does not count.
  for (let index = -1; index < count; index++) {
    const name = `single-${index + 1}`;
    const command = ['sh', '-c', SAY_SO, join(plane.scratch, name)];
    const running = begun.at(name);
    await api.create(trivialPod(name, command, { nodeName: 'node-1' }));
    const answered = performance.now();
    const ms = (await running) - answered;
    if (index >= 0) measured.push(Math.max(0, ms));
    await sleep(PAUSE_MS);
  }
  return measured;
}

/** When files appeared in a folder. */
class Begun implements Disposable {
  readonly #watcher: FSWatcher;
  readonly #waiting = new Map<string, (at: number) => void>();

  constructor(folder: string) {
    this.#watcher = watch(folder, (_event, name) => {
      if (name === null) return;
      this.#waiting.get(name)?.(performance.now());
      this.#waiting.delete(name);
    });
  }

  at(name: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${name} did not begin in ${PATIENCE_MS} ms`)), PATIENCE_MS);
      this.#waiting.set(name, (at) => {
        clearTimeout(late);
        resolve(at);
      });
    });
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
  }
}
