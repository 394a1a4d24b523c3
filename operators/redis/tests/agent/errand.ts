/** One order for the agent of one node, in a world in which that agent may die at any contact. Its servers are those of the model. */
import { KubeClient } from '@reeve/kube';
import {
  crdOf,
  isHandle,
  listWatchOf,
  type Member,
  memberKind,
  MemberOrders,
  type OrderResult,
  type Outcome,
} from '@reeve/runtime';
import { type Incarnation, type Process, type Scenario, type Simulation, Violation } from '@reeve/simulation';
import { ApiWorld, type ApiWrite, simulatedTransport, snapshotOf } from '@reeve/simulation/api';
import type { Flavour, ModelServer } from '@reeve/simulation/redis';
import { redisAgent } from '../../src/agent/agent.ts';
import { memberExecutor, orderSeconds } from '../../src/agent/member-executor.ts';
import type { RedisCommand } from '../../src/api/commands.ts';
import { memberLeases, members } from '../../src/api/kinds.ts';
import type { NodeRef } from '../../src/api/view.ts';
import { type Cluster, endpointOf, evenShares, formCluster } from '../simulation/cluster.ts';
import { redisOf } from '../simulation/redis-port.ts';

export interface Errand {
  readonly name: string;
  readonly flavour: Flavour;
  /** What is true before: keys, open slots. */
  prepare?(cluster: Cluster): void;
  command(cluster: Cluster): RedisCommand;
  /** Whether its effect is in the servers. */
  isThere(cluster: Cluster): boolean;
}

/** How the manager heard that it ended, at last. */
export interface Ending {
  readonly outcomes: Outcome[];
}

const NAMESPACE = 'ns';
const MEMBERS = `${memberKind.plural}.${memberKind.group}`;
const snapshot = snapshotOf({ namespaces: [NAMESPACE], definitions: [crdOf(memberKind)] });
const never = new AbortController().signal;
const MOST_ATTEMPTS = 4;

export function refOf(server: ModelServer | undefined): NodeRef {
  if (!server) throw new Error('there is no such server');
  return { id: server.id, endpoint: endpointOf(server) };
}

/** Three shards, the first with a replica; an agent beside each server. */
export function errandScenario(errand: Errand, ending: Ending = { outcomes: [] }): Scenario {
  return {
    name: `agent-${errand.name}`,
    effects: 300,
    async build(simulation) {
      const shares = evenShares(3).map((slots, index) => ({ slots, replicas: index === 0 ? 1 : 0 }));
      const cluster = formCluster(simulation, {
        shards: shares,
        fresh: 0,
        flavour: errand.flavour,
        allowReplicaMigration: false,
      });
      errand.prepare?.(cluster);
      cluster.settle();
      const watch = new Watch(simulation, () => errand.isThere(cluster));
      const api = await ApiWorld.open({
        clock: simulation.environment.ports.clock,
        random: simulation.random(),
        snapshot: await snapshot,
        follow: [MEMBERS],
        onWrite: (write) => watch.onWrite(write),
        onError: (error) => simulation.fail('SERVER', String(error)),
      });
      const servers = cluster.model.servers;
      for (const server of servers) await addMember(api, server);
      keepTime(simulation, cluster);
      const command = errand.command(cluster);
      ending.outcomes.length = 0;
      return {
        processes: [manager(api, servers, command, ending), ...servers.map((server) => agent(api, cluster, server))],
        faults: { horizonMs: 60_000, most: 3 },
        convergeMs: 300_000,
        maxSteps: 40_000,
        atEnd() {
          const last = ending.outcomes.at(-1);
          if (last?.status === 'done' && !errand.isThere(cluster)) {
            throw new Violation('NOT_THERE', 'the manager heard that it is done, but it is not');
          }
        },
      };
    },
  };
}

/** What is said of an order must be true when it is said; and an attempt is begun by one life only. */
class Watch {
  readonly #simulation: Simulation;
  readonly #isThere: () => boolean;
  readonly #begunBy = new Map<string, string>();

  constructor(simulation: Simulation, isThere: () => boolean) {
    this.#simulation = simulation;
    this.#isThere = isThere;
  }

  onWrite({ after }: ApiWrite): void {
    const results = (after?.status as Member['status'])?.results ?? [];
    for (const result of results) this.#judge(result);
  }

  #judge({ id, attempt, by, phase }: OrderResult): void {
    const run = `${id} ${attempt}`;
    const before = this.#begunBy.get(run);
    if (before !== undefined && before !== by) {
      this.#simulation.fail('BEGUN_TWICE', `attempt ${run} was begun by ${before}, and by ${by}`);
    }
    this.#begunBy.set(run, by);
    if (phase === 'Done' && !this.#isThere()) this.#simulation.fail('NOT_DONE', `${run} is said to be done`);
    if (phase === 'NotDone' && this.#isThere()) this.#simulation.fail('DONE', `${run} is said not to be done`);
  }
}

function nameOf(server: ModelServer): string {
  return `node-${server.port}`;
}

async function addMember(api: ApiWorld, server: ModelServer): Promise<void> {
  const spec = { system: 'redis', endpoint: endpointOf(server), host: server.host };
  await api.client.resource(members, NAMESPACE).create({ metadata: { name: nameOf(server) }, spec } as never);
}

function clientOf(api: ApiWorld, life: Incarnation): KubeClient {
  const { clock, random } = life.ports;
  return new KubeClient({ clock, random, transport: simulatedTransport(api, life), timeoutMs: 20_000 });
}

function agent(api: ApiWorld, { model }: Cluster, server: ModelServer): Process {
  const name = nameOf(server);
  return {
    name: `agent-${server.port}`,
    background: true,
    faults: ['crash-before', 'crash-after'],
    async run(life) {
      const client = clientOf(api, life);
      const own = client.resource(members, NAMESPACE);
      const running = redisAgent(life.ports, {
        namespace: NAMESPACE,
        name,
        version: '1.0.0',
        place: 'machine',
        source: listWatchOf(own, { fieldSelector: `metadata.name=${name}` }),
        members: own,
        leases: client.resource(memberLeases, NAMESPACE),
        redis: redisOf(life, model),
        endpoint: endpointOf(server),
        everyMs: 5_000,
        failed: (error) => life.say(String(error)),
      });
      await running.run(never);
    },
  };
}

/** Orders it until it is done, or until nobody can tell. */
function manager(api: ApiWorld, servers: readonly ModelServer[], command: RedisCommand, { outcomes }: Ending): Process {
  const refs = new Map(servers.map((server) => [server.id, { namespace: NAMESPACE, name: nameOf(server) }]));
  return {
    name: 'manager',
    faults: [],
    async run(life) {
      const own = clientOf(api, life).resource(members, NAMESPACE);
      const orders = new MemberOrders(life.ports, {
        members: () => own,
        lease: () => 1,
        deadlineSecondsOf: orderSeconds,
      });
      void follow(life, own, orders);
      const executor = memberExecutor(life.ports, orders, () => refs);
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; ) {
        const started = await executor.start(command, never, { id: 'errand', attempt });
        const outcome = isHandle<Outcome>(started) ? await started.settled : started;
        life.say(JSON.stringify(outcome));
        outcomes.push(outcome);
        if (outcome.status === 'done' || (outcome.status === 'failed' && outcome.code === 'ORDER_UNKNOWN')) return;
        if (outcome.status === 'failed') attempt++;
        await life.ports.clock.sleep(1_000);
      }
      throw new Violation('NEVER_DONE', JSON.stringify(outcomes));
    },
  };
}

async function follow(life: Incarnation, own: ReturnType<KubeClient['resource']>, orders: MemberOrders): Promise<void> {
  while (life.alive) {
    try {
      for await (const event of own.watch({ sendInitialEvents: true })) {
        if (event.type === 'DELETED') orders.gone(event.object as unknown as Member);
        else if (event.type !== 'BOOKMARK') orders.told(event.object as unknown as Member);
      }
    } catch (error) {
      life.say(String(error));
    }
    await life.ports.clock.sleep(500);
  }
}

function keepTime(simulation: Simulation, { model }: Cluster): void {
  const { clock } = simulation.environment.ports;
  const tick = async () => {
    for (;;) {
      await clock.sleep(200);
      model.sync();
    }
  };
  void tick();
}
