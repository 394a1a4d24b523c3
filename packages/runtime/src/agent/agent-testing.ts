/** A member, its agent and its manager on an API server in memory, on a clock that moves when told. */
import { KubeClient, type KubeObject, resource, type Transport } from '@reeve/kube';
import { ApiWorld, type ApiWrite, snapshotOf } from '@reeve/simulation/api';
import { listWatchOf } from '../client/api.ts';
import { type AnyHandler, localExecutor } from '../command/executor.ts';
import { seededRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { leaseKind } from '../lease/kind.ts';
import { countingIds } from '../manager/setup-testing.ts';
import { crdOf } from '../schema/kind.ts';
import { Agent, type AgentOptions } from './agent.ts';
import { MemberOrders } from './executor.ts';
import type { LeaseObject } from './lease.ts';
import { type Member, memberKind, type Order, type OrderResult } from './member.ts';

const members = resource<Member & KubeObject>(memberKind);
const leases = resource<LeaseObject & KubeObject>(leaseKind);
const MEMBERS = `${memberKind.plural}.${memberKind.group}`;
export const LEASES = `${leaseKind.plural}.${leaseKind.group}`;
const snapshot = snapshotOf({ namespaces: ['ns'], definitions: [crdOf(memberKind)] });

export const order = (id: string, more: Partial<Order> = {}): Order => ({
  id,
  attempt: 1,
  verb: 'say',
  arguments: { word: id, why: 'test' },
  deadlineSeconds: 60,
  lease: 1,
  ...more,
});

export class Field {
  readonly clock: VirtualClock;
  readonly api: ApiWorld;
  /** Method and path of every request of agents, also of one that changed nothing. */
  readonly requests: string[] = [];
  readonly writes: readonly ApiWrite[];
  orders: MemberOrders;
  facts: Record<string, unknown> = { role: 'primary' };
  readonly errors: unknown[] = [];
  readonly #client: KubeClient;
  readonly #ports;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();

  static async open(): Promise<Field> {
    const clock = new VirtualClock();
    const writes: ApiWrite[] = [];
    const api = await ApiWorld.open({
      clock,
      random: seededRandom(2),
      snapshot: await snapshot,
      follow: [MEMBERS, LEASES],
      onWrite: (write) => writes.push(write),
    });
    const field = new Field(clock, api, writes);
    await field.objects.create({
      metadata: { name: 'pod-0' },
      spec: { system: 'test', endpoint: { host: '127.0.0.1', port: 1 }, pod: { name: 'pod-0', uid: 'pod-uid' } },
    } as never);
    return field;
  }

  private constructor(clock: VirtualClock, api: ApiWorld, writes: readonly ApiWrite[]) {
    this.clock = clock;
    this.api = api;
    this.writes = writes;
    this.#ports = {
      clock: this.clock,
      random: seededRandom(1),
      ids: countingIds(),
    };
    this.#client = new KubeClient({ ...this.#ports, transport: api.transport });
    this.orders = this.manager();
  }

  /** For what people do, and tests. */
  get objects() {
    return this.api.client.resource(members, 'ns');
  }

  /** A new manager, which knows nothing but what the API tells. */
  manager(): MemberOrders {
    this.orders = new MemberOrders(this.#ports, {
      members: (namespace) => this.#client.resource(members, namespace),
      lease: () => 1,
    });
    return this.orders;
  }

  get member(): Member {
    const member = this.api.find<Member>(MEMBERS, 'ns', 'pod-0');
    if (!member) throw new Error('the member is gone');
    return member;
  }

  get lease(): LeaseObject | undefined {
    return this.api.find<LeaseObject>(LEASES, 'ns', 'member-pod-0');
  }

  get results(): readonly OrderResult[] {
    return this.member.status?.results ?? [];
  }

  /** `id phase` of each result. */
  get phases(): readonly string[] {
    return this.results.map(({ id, phase }) => `${id} ${phase}`);
  }

  async write(change: Partial<Member['spec']>): Promise<void> {
    await this.objects.update({ ...this.member, spec: { ...this.member.spec, ...change } } as never);
  }

  async writeStatus(status: Member['status']): Promise<void> {
    await this.objects.update({ ...this.member, status } as never, { subresource: 'status' });
  }

  /** The manager's cache of members follows the watch. */
  async follow(): Promise<void> {
    const changes = this.#client.resource(members, 'ns').watch({ sendInitialEvents: true, signal: this.#stop.signal });
    const following = (async () => {
      for await (const event of changes) {
        if (event.type === 'DELETED') this.orders.gone(event.object);
        else if (event.type !== 'BOOKMARK') this.orders.told(event.object);
      }
    })().catch(() => undefined);
    this.#running.add(following);
    await settled();
  }

  /** A new life of the agent; what it returns kills it: nothing of it is heard any more. */
  async agent<Context>(
    handlers: readonly AnyHandler<Context>[],
    context: Context,
    more: Partial<AgentOptions> = {},
  ): Promise<{ readonly agent: Agent; kill(): void }> {
    let isDead = false;
    const transport = this.#until(() => isDead);
    const client = new KubeClient({ ...this.#ports, transport });
    const own = client.resource(members, 'ns');
    const stop = new AbortController();
    this.#stop.signal.addEventListener('abort', () => stop.abort());
    const agent = new Agent(this.#ports, {
      namespace: 'ns',
      name: 'pod-0',
      version: '1.0.0',
      source: listWatchOf(own, { fieldSelector: 'metadata.name=pod-0' }),
      members: own,
      leases: client.resource(leases, 'ns'),
      executor: localExecutor(handlers, context),
      observe: async () => ({ facts: this.facts, digest: 'v1-0' }),
      failed: (error) => this.errors.push(error),
      ...more,
    });
    this.#running.add(agent.run(stop.signal));
    await this.clock.advance(1_200);
    return {
      agent,
      kill: () => {
        isDead = true;
      },
    };
  }

  /** A way to the server that is silent from a moment on. */
  #until(isOver: () => boolean): Transport {
    const orSilence = <T>(value: T): T | Promise<never> => (isOver() ? new Promise<never>(() => undefined) : value);
    async function* heard(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const chunk of body) yield await orSilence(chunk);
      await orSilence(undefined);
    }
    return async (request) => {
      await orSilence(undefined);
      this.requests.push(`${request.method} ${request.path}`);
      const response = await orSilence(await this.api.transport(request));
      return response.body instanceof Uint8Array ? response : { ...response, body: heard(response.body) };
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await settled();
  }
}
