/** Somebody who changes things all the time, whatever happens to the server. */
import { isKubeError, type ResourceClient } from '@reeve/kube';
import type { Thing } from '@reeve/runtime/testing/real';

const NAMES = 12;

export class Writer {
  readonly #direct: ResourceClient<Thing>;
  readonly #random: () => number;
  #isOver = false;
  #running: Promise<void> | undefined;
  /** Writes that were answered well. Others were refused (the name is taken, or gone), or met no server. */
  writes = 0;

  constructor(direct: ResourceClient<Thing>, random: () => number) {
    this.#direct = direct;
    this.#random = random;
  }

  start(): void {
    this.#isOver = false;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#change();
        this.writes++;
      } catch (error) {
        if (!isKubeError(error)) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, this.#random() * 20));
    }
  }

  async #change(): Promise<void> {
    const name = `w-${Math.floor(this.#random() * NAMES)}`;
    const data = { n: String(this.writes) };
    const what = this.#random();
    if (what < 0.4) await this.#direct.create({ metadata: { name }, data });
    else if (what < 0.8) await this.#direct.patch(name, { type: 'merge', value: { data } });
    else await this.#direct.delete(name);
  }
}
