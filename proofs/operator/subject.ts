/** A declared cluster through all its steps: how it is declared at present, who writes to it, and what must be in it. */
import {
  type Access,
  type Cluster,
  type Endpoint,
  type Product,
  RedirectingClient,
  startTraffic,
  type Traffic,
  type TrafficResult,
} from '@reeve/rig';
import { type Closed, Journal } from '../site/journal.ts';
import { podCluster } from '../site/pod-cluster.ts';
import { PATIENCE_MS, type Site } from '../site/site.ts';

export interface Declaration {
  readonly name: string;
  spec(product: Product): object;
  /** As whom clients come. Default: `default`, with the password that was made for it. */
  readonly user?: { readonly username: string; readonly password: string };
  /** Whoever runs its servers. Default: they are pods. */
  open?(site: Site): Subject;
}

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

  /** Its servers of this moment, for raw commands. */
  cluster(): Promise<Cluster> {
    return podCluster(this.site, this.name);
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
      keys: 400,
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
