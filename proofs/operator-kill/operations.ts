/** What the cluster is at when something is killed: begun through the API, and when it counts as reached. */
import { connect, parseNodes } from '@reeve/rig';
import { endpointOf, type Site } from '../site/site.ts';
import type { OperationName } from './plan.ts';

export const MAIN = 'cache';
const SMALL = 3;
const LARGE = 4;
const MOVED_SLOTS = 900;
/** A little more than what is left alone by default. */
const UNEVEN = 0.06;

/** How the cluster is declared at present. */
export class Declared {
  readonly #site: Site;
  readonly #spec: object;
  #primaries = SMALL;
  #slowlog = 100;
  #count = 0;

  constructor(site: Site, hasAgents: boolean) {
    this.#site = site;
    this.#spec = { ...smallSpec, ...(hasAgents && { agents: 'sidecar' }) };
  }

  get primaries(): number {
    return this.#primaries;
  }

  /** Volumes: a killed server comes back with its data. */
  declare(): Promise<void> {
    return this.#site.declare(MAIN, {
      ...this.#spec,
      primaries: this.#primaries,
      config: { ...smallSpec.config, 'slowlog-max-len': String(this.#slowlog) },
    });
  }

  /** Asks for it; returns what must hold in the end, and what is to be put away then. */
  async begin(operation: OperationName, pick: (count: number) => number): Promise<Begun> {
    const site = this.#site;
    const number = ++this.#count;
    switch (operation) {
      case 'idle':
        return { reached: () => this.isWhole() };
      case 'create': {
        const name = `new-${number}`;
        await site.declare(name, { ...this.#spec, primaries: SMALL, deletionPolicy: 'Delete' });
        return { other: name, reached: () => this.isWhole() };
      }
      case 'scale':
        this.#primaries = this.#primaries === SMALL ? LARGE : SMALL;
        await this.declare();
        return { reached: () => this.isWhole() };
      case 'rolling':
        this.#slowlog += 1;
        await this.declare();
        return { reached: () => this.isWhole() };
      case 'rebalance': {
        const primaries = await this.#podsThatAre('primary');
        const task = `move-${number}`;
        const to = primaries[pick(primaries.length)] ?? '';
        await site.task(task, { cluster: MAIN, reshard: { slots: MOVED_SLOTS, to } });
        return { task, reached: () => this.isWhole() };
      }
      case 'failover': {
        const replicas = await this.#podsThatAre('replica');
        const task = `over-${number}`;
        await site.task(task, { cluster: MAIN, failover: { to: replicas[pick(replicas.length)] ?? '' } });
        return { task, reached: () => this.isWhole() };
      }
    }
  }

  async #podsThatAre(role: 'primary' | 'replica'): Promise<readonly string[]> {
    const { members = [] } = await this.#site.status(MAIN);
    return members.filter((member) => member.role === role).map(({ pod }) => pod);
  }

  /** As declared: its size, the configuration of every server, and even shares, in the servers' own words. */
  async isWhole(): Promise<boolean> {
    const { primaries, replicas, slots } = await this.#site.status(MAIN);
    if (primaries !== this.#primaries || replicas !== this.#primaries || slots !== 16_384) return false;
    const pods = await this.#site.podsOf(MAIN);
    if (pods.length !== 2 * this.#primaries) return false;
    const access = await this.#site.access(MAIN);
    const shares: number[] = [];
    for (const { status } of pods) {
      const connection = await connect(endpointOf(status?.podIP ?? ''), { ...access, connectTimeoutMs: 3_000 });
      const [, value] = (await connection.call('CONFIG', 'GET', 'slowlog-max-len')) as string[];
      const own = parseNodes(String(await connection.call('CLUSTER', 'NODES'))).find((line) => line.myself);
      connection.close();
      if (value !== String(this.#slowlog) || !own) return false;
      if (own.role === 'primary') shares.push(own.slots.reduce((sum, [first, last]) => sum + last - first + 1, 0));
    }
    const fair = 16_384 / this.#primaries;
    return shares.length === this.#primaries && shares.every((share) => Math.abs(share - fair) <= fair * UNEVEN);
  }
}

export interface Begun {
  /** A cluster of its own that is made meanwhile. */
  readonly other?: string;
  readonly task?: string;
  reached(): Promise<boolean>;
}

const smallSpec = {
  replicasPerPrimary: 1,
  storage: { size: '1Gi' },
  config: { 'cluster-node-timeout': '3000' },
  migration: { pace: 'fast' },
};
