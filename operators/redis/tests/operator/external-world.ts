/** Bare servers beside the operator's world, and an agent beside each: what people run who adopt a cluster. */
import assert from 'node:assert/strict';
import { hostAgentRights, leaseNameOf, type LeaseObject, type Member, type Order } from '@reeve/runtime';
import { type ModelServer, slotOfKey } from '@reeve/simulation/redis';
import { CLUSTER_LABEL } from '../../src/api/cluster.ts';
import { memberLeases, members } from '../../src/api/kinds.ts';
import { type AgentLife, startAgent } from './agent-process.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

const PORT = 7000;

interface Bare {
  readonly server: ModelServer;
  agent: AgentLife | undefined;
}

export class ExternalWorld {
  readonly operator: OperatorWorld;
  readonly #bare = new Map<string, Bare>();
  #agents = 0;

  private constructor(operator: OperatorWorld) {
    this.operator = operator;
  }

  static async start(t: { after(ending: () => Promise<void>): void }): Promise<ExternalWorld> {
    const world = new ExternalWorld(await OperatorWorld.start(t));
    t.after(async () => {
      for (const { agent } of world.#bare.values()) agent?.kill();
      await world.operator.clock.advance(60_000);
    });
    return world;
  }

  /** Servers with agents, `h-1` … in three zones, all members of one cluster. */
  async enrollAll(cluster: string, count: number): Promise<void> {
    for (let at = 1; at <= count; at++) await this.enroll(cluster, `h-${at}`);
  }

  /** As `reeve agent enroll` does it, and the agent started. */
  async enroll(cluster: string, name: string): Promise<void> {
    const at = Number(name.split('-').at(-1));
    const host = `10.1.0.${at}`;
    const server = this.operator.model.addServer({ host, port: PORT });
    this.#bare.set(name, { server, agent: undefined });
    const { client } = this.operator.api;
    const spec = { system: 'redis', endpoint: { host, port: PORT }, host };
    const metadata = { name, labels: { [CLUSTER_LABEL]: cluster } };
    await client.resource(members, NAMESPACE).create({ metadata, spec } as never);
    const lease = hostAgentRights(NAMESPACE, name).find(({ kind }) => kind === 'Lease');
    await client.resource(memberLeases, NAMESPACE).create(lease as unknown as LeaseObject as never);
    this.startAgent(name);
  }

  startAgent(name: string): void {
    const bare = this.#of(name);
    assert.equal(bare.agent, undefined);
    bare.agent = startAgent(this.operator, {
      name,
      endpoint: { host: bare.server.host, port: PORT },
      annotations: { zone: ['a', 'b', 'c'][Number(name.split('-').at(-1)) % 3] ?? '', host: name },
      life: ++this.#agents,
    });
  }

  /** kill -9. */
  killAgent(name: string): void {
    const bare = this.#of(name);
    bare.agent?.kill();
    bare.agent = undefined;
  }

  killServer(name: string): void {
    this.operator.model.kill(this.#of(name).server);
  }

  restartServer(name: string): void {
    this.operator.model.restart(this.#of(name).server);
  }

  nameOf(server: ModelServer): string {
    return [...this.#bare].find(([, bare]) => bare.server === server)?.[0] ?? '';
  }

  server(name: string): ModelServer {
    return this.#of(name).server;
  }

  get servers(): readonly ModelServer[] {
    return [...this.#bare.values()].map(({ server }) => server);
  }

  ordersOf(name: string): readonly Order[] {
    return this.operator.api.find<Member>('members.agents.reeve.dev', NAMESPACE, name)?.spec.orders ?? [];
  }

  /** When its agent was heard of last. */
  renewedAt(name: string): number {
    const lease = this.operator.api.find<LeaseObject>('leases.coordination.k8s.io', NAMESPACE, leaseNameOf(name));
    return Date.parse(lease?.spec?.renewTime ?? '');
  }

  /** Every order that is there, whosever it is. */
  get orders(): readonly Order[] {
    return [...this.#bare.keys()].flatMap((name) => this.ordersOf(name));
  }

  /** The member and all that enrolling made of it. */
  async revoke(name: string): Promise<void> {
    const { client } = this.operator.api;
    this.killAgent(name);
    await client.resource(memberLeases, NAMESPACE).delete(leaseNameOf(name));
    await client.resource(members, NAMESPACE).delete(name);
    this.#bare.delete(name);
  }

  async write(count: number): Promise<readonly string[]> {
    const keys = Array.from({ length: count }, (_, index) => `key:${index}`);
    for (const key of keys) {
      const owner = this.#ownersOf(key)[0];
      assert.ok(owner, `nobody owns the slot of ${key}`);
      this.operator.model.execute(owner.endpoint, ['SET', key, key]);
    }
    await this.operator.pass(3_000);
    return keys;
  }

  assertHeld(keys: readonly string[]): void {
    for (const key of keys) {
      const owners = this.#ownersOf(key);
      assert.equal(owners.length, 1, `${owners.length} own the slot of ${key}`);
      assert.equal(this.operator.model.execute(owners[0]?.endpoint ?? '', ['GET', key]), key);
    }
  }

  #ownersOf(key: string): readonly ModelServer[] {
    const slot = slotOfKey(key);
    return this.servers.filter((server) => server.isPrimary && server.ownerOf(slot) === server.self);
  }

  #of(name: string): Bare {
    const bare = this.#bare.get(name);
    assert.ok(bare, `there is no ${name}`);
    return bare;
  }
}
