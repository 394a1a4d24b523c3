/** A declared cluster through all its steps: how it is declared at present, who writes to it, and what must be in it. */
import assert from 'node:assert/strict';
import { tryToKill } from '@reeve/cli/plane-testing';
import {
  type Access,
  type Cluster,
  type Endpoint,
  type Product,
  RedirectingClient,
  startTraffic,
  type Traffic,
  type TrafficResult,
  until,
} from '@reeve/rig';
import { cuttable } from '../site/cuttable.ts';
import { type Closed, Journal } from '../site/journal.ts';
import { podCluster } from '../site/pod-cluster.ts';
import { treeOf, treesOf } from '../site/processes.ts';
import { PATIENCE_MS, type Site } from '../site/site.ts';
import { bringBack, lose, nodesOfZone } from './places.ts';

export interface Declaration {
  readonly name: string;
  spec(product: Product): object;
  /** As whom clients come. Default: `default`, with the password that was made for it. */
  readonly user?: { readonly username: string; readonly password: string };
  /** Whoever runs its servers. Default: they are pods. */
  open?(site: Site): Subject;
}

/** They have the numbers from 0 on. */
export const TRAFFIC_KEYS = 400;
const WAIT_MS = 200;
const CLIENT_PATIENCE_MS = 30_000;

export class Subject {
  readonly site: Site;
  readonly declaration: Declaration;
  readonly journal = new Journal();
  #spec: object;

  constructor(site: Site, declaration: Declaration) {
    this.site = site;
    this.declaration = declaration;
    this.#spec = declaration.spec(site.product);
  }

  get name(): string {
    return this.declaration.name;
  }

  get spec(): object {
    return this.#spec;
  }

  /** As before but for these. */
  async declare(change: object = {}): Promise<void> {
    this.#spec = { ...this.#spec, ...change };
    await this.site.declare(this.name, this.#spec);
  }

  async whole(primaries = 3, what = 'the cluster is whole'): Promise<void> {
    const { site, name } = this;
    await site.settled(name, what, async (status) => {
      const isRight = status.primaries === primaries && status.replicas === primaries && status.slots === 16_384;
      return isRight && (await site.podsOf(name)).length === 2 * primaries;
    });
  }

  /** For a new one that takes in what this one holds. */
  get copySpec(): object {
    return this.#spec;
  }

  async hostOfAPrimary(): Promise<string> {
    const { members = [] } = await this.site.status(this.name);
    const primary = members.find(({ role }) => role === 'primary');
    const home = (await this.site.podsOf(this.name)).find(({ metadata }) => metadata.name === primary?.pod);
    return home?.spec?.nodeName ?? '';
  }

  hostsOfZone(zone: string): Promise<readonly string[]> {
    return nodesOfZone(this.site, zone);
  }

  /** Everything on them dies at once, and nothing is there until they are back. How many were there. */
  loseHosts(hosts: readonly string[]): Promise<number> {
    return lose(this.site, hosts);
  }

  bringHostsBack(hosts: readonly string[]): Promise<void> {
    return bringBack(this.site, hosts);
  }

  /** These servers die at once. They are started anew by whoever runs them, and answer at the end of this. */
  async crash(members: readonly string[]): Promise<void> {
    const { site, name } = this;
    const doomed = (await site.podsOf(name)).filter(({ metadata }) => members.includes(metadata.name));
    const trees = treesOf(site, doomed);
    assert.equal(trees.length, members.length);
    const before = await site.runIds(name);
    for (const pid of site.servers()) if (treeOf(pid, trees)) tryToKill(pid);
    const areBack = async () => {
      const now = await site.runIds(name);
      return now.size === before.size && doomed.every(({ metadata: { uid } }) => now.get(uid) !== before.get(uid));
    };
    await until('all answer, those as other runs', areBack, { timeoutMs: PATIENCE_MS });
  }

  /** Its servers of this moment, for raw commands. */
  cluster(): Promise<Cluster> {
    return podCluster(this.site, this.name);
  }

  /** The same, and what they tell each other can be cut off. */
  async cuttable(): Promise<Cluster> {
    return cuttable(await this.cluster());
  }

  /** What is not ended with the control plane. */
  async end(): Promise<void> {}

  endpoints(): Promise<readonly Endpoint[]> {
    return this.site.endpoints(this.name);
  }

  /** Empty: nothing is amiss, and everything is there. */
  judge(): Promise<readonly string[]> {
    return this.site.judge(this.name, this.journal.expected);
  }

  /** As its clients come. */
  async access(): Promise<Access> {
    return { ...(await this.site.access(this.name)), ...this.declaration.user };
  }

  async client(): Promise<RedirectingClient> {
    const client = new RedirectingClient(await this.endpoints(), await this.access(), CLIENT_PATIENCE_MS);
    await client.refresh();
    return client;
  }

  /** Writers and readers, until they are stopped. */
  async traffic(keyPrefix: string): Promise<Traffic> {
    return startTraffic(await this.endpoints(), {
      access: await this.access(),
      keys: TRAFFIC_KEYS,
      keyPrefix,
      waitMs: WAIT_MS,
      writers: 3,
      readers: 2,
      pauseMs: 3,
      patienceMs: PATIENCE_MS,
    });
  }

  /** @param mayLose whether a server was killed meanwhile. */
  async close(result: TrafficResult, mayLose: boolean): Promise<Closed> {
    const place = { endpoints: await this.endpoints(), access: await this.access() };
    return this.journal.close(result, place, mayLose);
  }
}
