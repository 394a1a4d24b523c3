/** One cluster through all steps, with writers and readers all the time, judged after each step. */
import { type Product, startTraffic, until } from '@reeve/rig';
import { Journal } from '../site/journal.ts';
import { processProblems } from '../site/processes.ts';
import { PATIENCE_MS, Site } from '../site/site.ts';

export const MAIN = 'cache';

export const mainSpec = {
  primaries: 3,
  replicasPerPrimary: 1,
  storage: { size: '1Gi' },
  config: { 'cluster-node-timeout': '3000' },
  migration: { pace: 'fast' },
};

export interface Step {
  readonly name: string;
  /** A server dies in it: what no replica had confirmed may be lost with it. */
  readonly kills?: boolean;
  /** Before it there is no cluster to write to. */
  readonly isFirst?: boolean;
  /** Clients here know addresses, not names: they would not find anybody again. What was written before must be there. */
  readonly changesAllAddresses?: boolean;
  run(stage: Stage): Promise<void>;
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
const WAIT_MS = 200;
const LEAST_WRITES = 50;

export class Stage {
  readonly site: Site;
  readonly journal = new Journal();
  #spec: object = mainSpec;
  #steps = 0;
  #names = 0;

  private constructor(site: Site) {
    this.site = site;
  }

  static async open(product: Product): Promise<Stage> {
    return new Stage(await Site.open(product, UP));
  }

  end(): Promise<void> {
    return this.site.end();
  }

  /** Another one each time: tasks are not made twice. */
  newName(what: string): string {
    return `${what}-${++this.#names}`;
  }

  /** The main cluster, as before but for these. */
  async declare(change: object = {}): Promise<void> {
    this.#spec = { ...this.#spec, ...change };
    await this.site.declare(MAIN, this.#spec);
  }

  async whole(primaries = 3, what = 'the cluster is whole'): Promise<void> {
    await this.site.settled(MAIN, what, async (status) => {
      const isRight = status.primaries === primaries && status.replicas === primaries && status.slots === 16_384;
      return isRight && (await this.site.podsOf(MAIN)).length === 2 * primaries;
    });
  }

  async play(step: Step): Promise<Played> {
    const { site, journal } = this;
    const began = performance.now();
    const problems: string[] = [];
    const figures = { writes: 0, losses: 0, p99: 0, max: 0 };
    const traffic = step.isFirst || step.changesAllAddresses ? undefined : await this.#traffic();
    try {
      if (traffic) await until('something is written', () => traffic.writes >= LEAST_WRITES);
      await step.run(this);
      if (traffic) {
        const result = await traffic.stop();
        const place = { endpoints: await site.endpoints(MAIN), access: await site.access(MAIN) };
        const closed = await journal.close(result, place, step.kills === true);
        problems.push(...closed.problems);
        const { p99, max } = result.latency.writes;
        Object.assign(figures, { writes: result.writes, losses: closed.losses, p99, max });
      }
      problems.push(...(await site.judge(MAIN, journal.expected)), ...(await processProblems(site)));
    } catch (error) {
      problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      await traffic?.abandon();
    }
    const seconds = (performance.now() - began) / 1_000;
    return { product: site.product, step: step.name, seconds, ...figures, problems };
  }

  async #traffic() {
    return startTraffic(await this.site.endpoints(MAIN), {
      access: await this.site.access(MAIN),
      keys: 400,
      keyPrefix: `step${++this.#steps}`,
      waitMs: WAIT_MS,
      writers: 3,
      readers: 2,
      pauseMs: 3,
      patienceMs: PATIENCE_MS,
    });
  }
}
