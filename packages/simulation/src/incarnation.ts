import type { Ids, Ports } from '@reeve/runtime';
import { chosenRandom } from './choices.ts';
import { virtualClock } from './clock.ts';
import { type Disk, simulatedFiles } from './files.ts';
import type { Owner, Pending, Scheduler } from './scheduler.ts';
import type { EffectOptions, FaultKind } from './world.ts';

export interface IncarnationOptions {
  readonly process: string;
  /** Counts from 1. */
  readonly life: number;
  readonly faults: readonly FaultKind[];
  readonly disk: Disk;
  readonly ids: Ids;
  onCrash(): void;
}

/**
 * One life of a process, as the set of ports it was given. When it crashes, no port answers any more and calls made
 * on them later do nothing and never settle: its `finally` blocks and forgotten continuations cannot touch the world
 * in which the next life is already running.
 */
export class Incarnation implements Owner {
  readonly process: string;
  readonly life: number;
  readonly name: string;
  readonly ports: Ports;
  readonly faults: readonly FaultKind[];
  readonly open = new Set<Pending>();
  readonly channels = new Map<string, Pending[]>();
  alive = true;
  readonly #scheduler: Scheduler;
  readonly #onCrash: () => void;

  constructor(scheduler: Scheduler, options: IncarnationOptions) {
    this.process = options.process;
    this.life = options.life;
    this.name = `${options.process}#${options.life}`;
    this.faults = options.faults;
    this.#scheduler = scheduler;
    this.#onCrash = options.onCrash;
    const random = chosenRandom(scheduler.choices);
    this.ports = {
      clock: virtualClock(scheduler, this),
      random: { next: () => (this.alive ? random.next() : 0) },
      ids: { next: (prefix) => (this.alive ? options.ids.next(prefix) : `${prefix}-dead`) },
      files: simulatedFiles(options.disk, (label, effect) => this.effect(label, effect)),
    };
  }

  /** One contact with the world, done when the scheduler says so. `label` is its kind, for coverage: few different ones. */
  effect<T>(label: string, options: EffectOptions<T>): Promise<T> {
    return this.#scheduler.effect(this, label, options);
  }

  /** Counts, for coverage, that the program came to something that is no effect itself. Few different ones. */
  passes(landmark: string): void {
    if (this.alive) this.#scheduler.passes(landmark);
  }

  /** Writes a line into the trace. */
  say(text: string): void {
    if (this.alive) this.#scheduler.note(this.name, text);
  }

  /** Ends this life at once, as kill -9 does. */
  crash(): void {
    if (!this.alive) return;
    this.#scheduler.abandon(this, false);
    this.#onCrash();
  }

  /** Ends this life as a program does that has returned: what it sent still arrives. */
  exit(): void {
    if (this.alive) this.#scheduler.abandon(this, true);
  }
}
