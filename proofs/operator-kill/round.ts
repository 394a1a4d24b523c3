/** One round: an operation under traffic, a kill in the middle, and everything that must hold afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startTraffic, type Traffic, until } from '@reeve/rig';
import { generator } from '../lib/random.ts';
import { Journal } from '../site/journal.ts';
import { isAgentTree, isSameContainer, isServerTree, processProblems, treesOf } from '../site/processes.ts';
import { PATIENCE_MS, Site } from '../site/site.ts';
import { replaced, restarted, unharmed } from './kept.ts';
import { type Begun, Declared, MAIN } from './operations.ts';
import { type OperationName, type RoundPlan } from './plan.ts';
import { exitProblems, type Hit, strike } from './victims.ts';

export interface RoundResult {
  readonly plan: RoundPlan;
  readonly killedAfterMs: number;
  /** Servers. */
  readonly hit: number;
  readonly agentsHit: number;
  /** Pods that died while the control plane was away, and whose exit code it knew. */
  readonly exitsKnown: number;
  readonly writes: number;
  readonly losses: number;
  readonly task: string;
  readonly seconds: number;
  readonly problems: readonly string[];
}

const KEYS = 400;
/** A replica that lives confirms in a few milliseconds; one that does not is not waited for. */
const WAIT_MS = 200;
/** Something to be lost. */
const LEAST_WRITES = 50;

export class KillWorld {
  readonly #site: Site;
  readonly #hasAgents: boolean;
  readonly #declared: Declared;
  readonly #journal = new Journal();

  private constructor(site: Site, hasAgents: boolean) {
    this.#site = site;
    this.#hasAgents = hasAgents;
    this.#declared = new Declared(site, hasAgents);
  }

  /** @param hasAgents one in each pod, through which commands go. */
  static async open(hasAgents: boolean): Promise<KillWorld> {
    const site = await Site.open('valkey');
    const world = new KillWorld(site, hasAgents);
    try {
      await world.#declared.declare();
      await site.settled(MAIN, 'the cluster runs', () => world.#declared.isWhole());
      await world.#agentsHeard();
      return world;
    } catch (error) {
      await site.end();
      throw error;
    }
  }

  end(): Promise<void> {
    return this.#site.end();
  }

  /** How long an operation takes when nobody disturbs it. */
  async measure(operation: OperationName): Promise<number> {
    const began = performance.now();
    const begun = await this.#declared.begin(operation, () => 0);
    const told = await this.#settled(begun);
    const took = performance.now() - began;
    if (begun.task !== undefined && told !== 'Succeeded') throw new Error(`undisturbed, ${operation} ends as ${told}`);
    await this.#putAway(begun);
    return took;
  }

  async round(plan: RoundPlan, windowMs: number): Promise<RoundResult> {
    const site = this.#site;
    const began = performance.now();
    const random = generator(plan.seed);
    const pick = (count: number) => Math.floor(random() * count);
    const problems: string[] = [];
    const access = await site.access(MAIN);
    const traffic = await startTraffic(await site.endpoints(MAIN), {
      access,
      keys: KEYS,
      keyPrefix: `round${plan.number}`,
      waitMs: WAIT_MS,
      writers: 3,
      readers: 2,
      pauseMs: 3,
      patienceMs: PATIENCE_MS,
    });
    const figures = { killedAfterMs: 0, hit: 0, agentsHit: 0, exitsKnown: 0, writes: 0, losses: 0, task: '' };
    const result = (): RoundResult => ({ plan, ...figures, seconds: (performance.now() - began) / 1_000, problems });
    try {
      await until('something is written', () => traffic.writes >= LEAST_WRITES);
      const begun = await this.#declared.begin(plan.operation, pick);
      const asked = performance.now();
      await sleep(plan.moment * windowMs);
      const pods = await site.allPods();
      const before = treesOf(site, pods);
      const hit = await strike(site, plan, pick);
      figures.killedAfterMs = performance.now() - asked;
      figures.hit = hit.trees.filter(isServerTree).length;
      figures.agentsHit = hit.trees.filter(isAgentTree).length;
      if (plan.victim !== 'plane' && hit.trees.length === 0) problems.push('nobody was hit');
      if (hit.planeDied) figures.exitsKnown = await this.#comeBack(plan, hit, problems);
      figures.task = await this.#settled(begun);
      await this.#agentsHeard();
      const spared = before.filter((tree) => !hit.trees.some((one) => isSameContainer(one, tree)));
      const later = await site.allPods();
      const now = treesOf(site, later);
      const { operation } = plan;
      // Those that were hit as they were found then, which is a little after the others.
      const there = [...pods, ...hit.trees.map(({ pod }) => pod)];
      problems.push(...replaced(there, later, { operation, other: begun.other }));
      problems.push(...restarted(spared, now), ...unharmed(hit.trees, now));
      problems.push(...(await processProblems(site)));
      figures.writes = traffic.writes;
      figures.losses = await this.#judge(traffic, figures.hit > 0, problems);
      if (begun.other !== undefined) {
        problems.push(...(await site.judge(begun.other, new Map())));
        await this.#putAway(begun);
      }
    } catch (error) {
      problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      await traffic.abandon();
    }
    if (problems.length > 0) problems.push(await site.account(MAIN).catch(String));
    return result();
  }

  /** Starts the control plane again, and looks what it knows. */
  async #comeBack(plan: RoundPlan, hit: Hit, problems: string[]): Promise<number> {
    const site = this.#site;
    await sleep(plan.downMs);
    await site.up();
    if (hit.trees.length === 0) return 0;
    let last: ReturnType<typeof exitProblems> = { known: 0, problems: [] };
    const isKnown = async () => {
      last = exitProblems(hit, await site.allPods());
      return last.problems.length === 0;
    };
    await until('it knows how its pods ended', isKnown, { timeoutMs: PATIENCE_MS }).catch(() =>
      problems.push(...last.problems),
    );
    return last.known;
  }

  /** Agents that were killed are started again, if not at once, and their reports come. */
  async #agentsHeard(): Promise<void> {
    if (!this.#hasAgents) return;
    const site = this.#site;
    const areHeard = async () => {
      const { conditions = [] } = await site.status(MAIN);
      const isNoneLost = conditions.some(({ type, status }) => type === 'AgentLost' && status === 'False');
      const pods = await site.allPods();
      return isNoneLost && site.agents().length >= pods.length;
    };
    await until('every agent is there, and heard of', areHeard, { timeoutMs: PATIENCE_MS, everyMs: 500 });
  }

  /** How its task ended, if it was one. A task that a kill made impossible may fail: it says so, and the cluster is whole. */
  async #settled(begun: Begun): Promise<string> {
    const site = this.#site;
    let told = '';
    if (begun.task !== undefined) {
      const { phase = '', code = '' } = await site.taskEnded(begun.task);
      told = `${phase} ${code}`.trim();
    }
    await site.settled(MAIN, 'the cluster is as declared', () => begun.reached());
    if (begun.other !== undefined) {
      await site.settled(
        begun.other,
        'the new cluster runs',
        ({ slots, replicas }) => slots === 16_384 && replicas === 3,
      );
    }
    return told;
  }

  async #putAway({ other }: Begun): Promise<void> {
    if (other !== undefined) await this.#site.remove(other);
  }

  async #judge(traffic: Traffic, mayLose: boolean, problems: string[]): Promise<number> {
    const site = this.#site;
    const place = { endpoints: await site.endpoints(MAIN), access: await site.access(MAIN) };
    const closed = await this.#journal.close(await traffic.stop(), place, mayLose);
    problems.push(...closed.problems, ...(await site.judge(MAIN, this.#journal.expected)));
    return closed.losses;
  }
}
