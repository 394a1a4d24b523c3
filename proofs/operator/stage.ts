/** Clusters through all steps, with writers and readers all the time, judged after each step. */
import assert from 'node:assert/strict';
import { keySlot, type Product, type Traffic, until } from '@reeve/rig';
import type { Journal } from '../site/journal.ts';
import { processProblems } from '../site/processes.ts';
import { Site, type TaskStatus } from '../site/site.ts';
import { type Declaration, Subject, TRAFFIC_KEYS } from './subject.ts';

export const MAIN = 'cache';

export const mainSpec = {
  primaries: 3,
  replicasPerPrimary: 1,
  storage: { size: '1Gi' },
  config: { 'cluster-node-timeout': '3000' },
  migration: { pace: 'fast' },
};

const main: Declaration = { name: MAIN, spec: () => mainSpec };

export interface Step {
  readonly name: string;
  /** The cluster that it is about. Default: the main one. */
  readonly on?: Declaration;
  /** Whose servers can do it here. Default: all. */
  readonly products?: readonly Product[];
  /** A server dies in it: what no replica had confirmed may be lost with it. */
  readonly kills?: boolean;
  /** Before it there is no cluster to write to. */
  readonly isFirst?: boolean;
  /** Nobody needs the cluster after it: it is removed, with its data. */
  readonly isLast?: boolean;
  /** Clients here know addresses, not names: they would not find anybody again. What was written before must be there. */
  readonly changesAllAddresses?: boolean;
  run(stage: Stage): Promise<void>;
}

/** The same with another cluster. */
export function playedOn(on: Declaration, steps: readonly Step[], as: string): readonly Step[] {
  return steps.map((step) => ({ ...step, name: `${as}${step.name}`, on }));
}

export interface Played {
  readonly product: Product;
  readonly step: string;
  readonly seconds: number;
  readonly writes: number;
  readonly losses: number;
  readonly p99: number;
  readonly max: number;
  readonly problems: readonly string[];
}

/** Six worker nodes over three zones: a host or a zone can be lost. */
const UP = ['--nodes', '6', '--zones', 'a,b,c'];
const LEAST_WRITES = 50;

export class Stage {
  readonly site: Site;
  readonly #subjects = new Map<string, Subject>();
  /** Of the step that is played. */
  #subject: Subject;
  #traffic: Traffic | undefined;
  #steps = 0;
  #names = 0;

  private constructor(site: Site) {
    this.site = site;
    this.#subject = this.#enter(main);
  }

  static async open(product: Product): Promise<Stage> {
    return new Stage(await Site.open(product, UP));
  }

  async end(): Promise<void> {
    for (const subject of this.#subjects.values()) await subject.end();
    await this.site.end();
  }

  get subject(): Subject {
    return this.#subject;
  }

  get journal(): Journal {
    return this.#subject.journal;
  }

  /** What clients have written in this step until now. */
  get written(): ReadonlyMap<string, string> {
    return this.#traffic?.acknowledged ?? new Map<string, string>();
  }

  /** Another one each time: tasks are not made twice. */
  newName(what: string): string {
    return `${what}-${++this.#names}`;
  }

  /** A task of this cluster, to its good end. What it said. */
  async done(what: string, spec: object): Promise<string> {
    const ended = await this.ended(what, spec);
    assert.equal(ended.phase, 'Succeeded', JSON.stringify(ended));
    return ended.message ?? '';
  }

  /** A task of this cluster, to any end. */
  async ended(what: string, spec: object): Promise<TaskStatus> {
    const task = this.newName(what);
    await this.site.task(task, { cluster: this.#subject.name, ...spec });
    return this.site.taskEnded(task);
  }

  /** The first one from there on that no client writes to in this step. */
  quietSlot(from: number): number {
    const busy = new Set(Array.from({ length: TRAFFIC_KEYS }, (_, number) => keySlot(`${this.#keyPrefix}:${number}`)));
    let slot = from;
    while (busy.has(slot)) slot++;
    return slot;
  }

  get #keyPrefix(): string {
    return `step${this.#steps}`;
  }

  /** The cluster, as before but for these. */
  declare(change: object = {}): Promise<void> {
    return this.#subject.declare(change);
  }

  whole(primaries?: number, what?: string): Promise<void> {
    return this.#subject.whole(primaries, what);
  }

  async play(step: Step): Promise<Played> {
    const { site } = this;
    const began = performance.now();
    const problems: string[] = [];
    const figures = { writes: 0, losses: 0, p99: 0, max: 0 };
    const subject = this.#enter(step.on ?? main);
    this.#subject = subject;
    const isQuiet = step.isFirst === true || step.changesAllAddresses === true;
    this.#steps++;
    const traffic = isQuiet ? undefined : await subject.traffic(this.#keyPrefix);
    this.#traffic = traffic;
    try {
      if (traffic) await until('something is written', () => traffic.writes >= LEAST_WRITES);
      await step.run(this);
      if (traffic) {
        const result = await traffic.stop();
        const closed = await subject.close(result, step.kills === true);
        problems.push(...closed.problems);
        const { p99, max } = result.latency.writes;
        Object.assign(figures, { writes: result.writes, losses: closed.losses, p99, max });
      }
      problems.push(...(await subject.judge()), ...(await processProblems(site)));
      if (step.isLast) await site.remove(subject.name);
    } catch (error) {
      problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      await traffic?.abandon();
    }
    const seconds = (performance.now() - began) / 1_000;
    return { product: site.product, step: step.name, seconds, ...figures, problems };
  }

  #enter(declaration: Declaration): Subject {
    const known = this.#subjects.get(declaration.name);
    if (known) return known;
    const subject = declaration.open?.(this.site) ?? new Subject(this.site, declaration);
    this.#subjects.set(declaration.name, subject);
    return subject;
  }
}
