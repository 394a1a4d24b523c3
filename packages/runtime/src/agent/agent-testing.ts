/** A member, its agent and its manager on an API model, on a clock that moves when told. */
import { KubeClient, type KubeObject, resource } from '@reeve/kube';
import { ApiModel, type ApiObject, ApiServer, type ApiWrite, immediately } from '@reeve/simulation/api';
import { type AnyHandler, localExecutor } from '../command/executor.ts';
import { seededRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { Agent, type AgentOptions } from './agent.ts';
import { MemberOrders } from './executor.ts';
import type { LeaseObject } from './lease.ts';
import { type Member, memberKind, type Order, type OrderResult } from './member.ts';

const leases = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true };
const members = resource<Member & KubeObject>(memberKind);

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
  readonly clock = new VirtualClock();
  readonly model = new ApiModel([memberKind, leases], () => this.clock.now());
  /** Every request, also one that changed nothing. */
  readonly requests: string[] = [];
  readonly server = new ApiServer(this.model, { admit: (label) => void this.requests.push(label) });
  readonly writes: ApiWrite[] = [];
  orders: MemberOrders;
  facts: Record<string, unknown> = { role: 'primary' };
  readonly errors: unknown[] = [];
  readonly #client: KubeClient;
  readonly #ports;
  #ids = 0;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor() {
    this.#ports = {
      clock: this.clock,
      random: seededRandom(1),
      ids: { next: (prefix: string) => `${prefix}-${++this.#ids}` },
    };
    this.model.onWrite = (write) => this.writes.push(write);
    this.#client = new KubeClient({ ...this.#ports, transport: this.server.transport(immediately(this.model)) });
    this.orders = this.manager();
    this.model.create('members', 'ns/pod-0', {
      metadata: { name: 'pod-0', namespace: 'ns' },
      spec: { system: 'test', endpoint: { host: '127.0.0.1', port: 1 }, pod: { name: 'pod-0', uid: 'pod-uid' } },
    });
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
    return this.model.get('members', 'ns/pod-0') as ApiObject as Member;
  }

  get results(): readonly OrderResult[] {
    return this.member.status?.results ?? [];
  }

  /** `id phase` of each result. */
  get phases(): readonly string[] {
    return this.results.map(({ id, phase }) => `${id} ${phase}`);
  }

  write(change: Partial<Member['spec']>): void {
    this.model.update('members', 'ns/pod-0', { ...this.member, spec: { ...this.member.spec, ...change } });
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
    const carrier = immediately(this.model);
    const transport = this.server.transport(async (contact) =>
      isDead ? new Promise<never>(() => undefined) : carrier(contact),
    );
    const client = new KubeClient({ ...this.#ports, transport });
    const own = client.resource(members, 'ns');
    const stop = new AbortController();
    this.#stop.signal.addEventListener('abort', () => stop.abort());
    const agent = new Agent(this.#ports, {
      namespace: 'ns',
      name: 'pod-0',
      version: '1.0.0',
      source: {
        list: (request) => own.list({ ...request, fieldSelector: 'metadata.name=pod-0' }),
        watch: (request) => own.watchBatches({ ...request, fieldSelector: 'metadata.name=pod-0' }),
      },
      members: own,
      leases: client.resource(resource<LeaseObject & KubeObject>(leases), 'ns'),
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

  async close(): Promise<void> {
    this.#stop.abort();
    await settled();
  }
}
