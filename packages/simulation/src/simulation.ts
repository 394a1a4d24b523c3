import type { Ids, Random } from '@reeve/runtime';
import { type Choices, chosenRandom } from './choices.ts';
import type { Disk } from './files.ts';
import { countedIds } from './ids.ts';
import { Incarnation } from './incarnation.ts';
import type { Scheduler } from './scheduler.ts';
import { type FaultKind, type Process, Violation } from './world.ts';

/** What a scenario builds its world with. */
export class Simulation {
  /** The world's own effects and timers (gossip, replication): they suffer no faults and never crash. */
  readonly environment: Incarnation;
  /** For decisions of the world itself. */
  readonly choices: Choices;
  readonly ids: Ids = countedIds();
  readonly #scheduler: Scheduler;
  readonly #disks = new Map<string, Disk>();
  readonly #lives = new Map<Process, Incarnation>();
  readonly #running = new Set<Process>(); // without those in the background
  #broken: Violation | undefined;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.choices = scheduler.choices;
    this.environment = new Incarnation(scheduler, {
      process: 'world',
      life: 1,
      faults: [],
      disk: this.disk('world'),
      ids: this.ids,
      onCrash: () => this.fail('WORLD', 'the world itself cannot crash'),
    });
  }

  /** Virtual milliseconds since the start of the run. */
  get elapsed(): number {
    return this.#scheduler.elapsed;
  }

  /** Random numbers for a model of the world, all from one choice. */
  random(): Random {
    return chosenRandom(this.choices);
  }

  /** The disk of a process: what its lives have in common. */
  disk(process: string): Disk {
    const disk = this.#disks.get(process) ?? new Map<string, string>();
    this.#disks.set(process, disk);
    return disk;
  }

  /** Ends the run: a rule was broken. For what cannot be thrown from `always` or `atEnd`. The first one counts. */
  fail(rule: string, message: string): void {
    this.#broken ??= new Violation(rule, message);
  }

  /** Kills a process; it is started again later, as after any crash. Nothing happens if it has ended. */
  crash(process: string): void {
    for (const life of this.#lives.values()) if (life.process === process) life.crash();
  }

  /** @internal */
  get broken(): Violation | undefined {
    return this.#broken;
  }

  /** @internal Names of the processes that must still end. */
  get running(): readonly string[] {
    return [...this.#running].map((process) => process.name);
  }

  /** @internal */
  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** @internal */
  get owners(): readonly Incarnation[] {
    return [...this.#lives.values()];
  }

  /** @internal */
  start(process: Process, faults: readonly FaultKind[], life = 1, afterMs = 0): void {
    if (!process.background) this.#running.add(process);
    this.environment
      .effect(life === 1 ? 'start' : 'restart', {
        detail: process.name,
        latencyMs: afterMs,
        apply: () => this.#begin(process, faults, life),
      })
      .catch((error: unknown) => this.#programFailed(process, error));
  }

  /** @internal Nothing that is left of the run can do anything any more. */
  close(): void {
    for (const life of this.#lives.values()) life.alive = false;
    this.environment.alive = false;
  }

  #begin(process: Process, faults: readonly FaultKind[], life: number): void {
    const incarnation = new Incarnation(this.#scheduler, {
      process: process.name,
      life,
      faults,
      disk: this.disk(process.name),
      ids: this.ids,
      onCrash: () => this.start(process, faults, life + 1, process.restartAfterMs ?? 1_000),
    });
    this.#lives.set(process, incarnation);
    process.run(incarnation).then(
      () => {
        if (!incarnation.alive) return;
        incarnation.exit();
        this.#running.delete(process);
      },
      (error: unknown) => {
        if (incarnation.alive) this.#programFailed(process, error);
      },
    );
  }

  #programFailed(process: Process, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.fail(error instanceof Violation ? error.rule : 'PROGRAM', `${process.name} failed: ${text}`);
  }
}
