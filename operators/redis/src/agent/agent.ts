/**
 * The agent beside one Redis or Valkey server: the runtime's agent, with a look at the server and the handlers of the operator, the same
 * as in process. It changes nothing at its server unless it is ordered to.
 */
import { Agent, type AgentOptions, type AgentPorts, localExecutor, type NodeView as MemberView } from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { RedisPort } from '../api/port.ts';
import type { Endpoint } from '../api/view.ts';
import { redisContext } from '../commands/context.ts';
import { redisHandlers } from '../commands/handlers.ts';
import { DEFAULT_TIMEOUT_MS, readNode } from '../observe/node.ts';
import { NodeTableReader } from '../observe/tables.ts';
import { boundedAnnotations, factsOf, type Told } from './facts.ts';
import { type Reported, steadyFacts } from './steady.ts';
import { viewDigest } from './view-digest.ts';

export interface RedisAgentOptions extends Omit<AgentOptions, 'executor' | 'observe'>, Told {
  readonly redis: RedisPort;
  /** Where the agent finds its server; orders name nodes by the addresses that the manager saw. */
  readonly endpoint: Endpoint;
}

export function redisAgent(ports: AgentPorts, options: RedisAgentOptions): Agent {
  const { redis, endpoint, cluster, annotations, ...rest } = options;
  const told: Told = { ...(cluster !== undefined && { cluster }), ...(annotations && { annotations }) };
  const server = new ServerWatch(ports, redis, endpoint, told);
  return new Agent(ports, {
    ...rest,
    executor: localExecutor<RedisCommand, ReturnType<typeof redisContext>>(redisHandlers, redisContext(redis, ports)),
    observe: (_signal, member) => server.look(member?.spec.annotations),
  });
}

/** Looks at the server, and remembers what it reported: what moves all the time is not told all the time. */
class ServerWatch {
  readonly #ports: AgentPorts;
  readonly #redis: RedisPort;
  readonly #endpoint: Endpoint;
  readonly #told: Told;
  #reported: Reported | undefined;

  constructor(ports: AgentPorts, redis: RedisPort, endpoint: Endpoint, told: Told) {
    this.#ports = ports;
    this.#redis = redis;
    this.#endpoint = endpoint;
    this.#told = told;
  }

  /** @param place where the manager says that it lives: in a pod it knows more of that than the agent. */
  async look(place: Told['annotations'] = {}): Promise<MemberView> {
    // A reader for each look: one that is kept would keep every line that it ever saw.
    const tables = new NodeTableReader();
    const reading = { port: this.#redis, needs: {}, timeoutMs: DEFAULT_TIMEOUT_MS, tables };
    const { report, runId } = await readNode(reading, this.#endpoint);
    const annotations = boundedAnnotations({ ...this.#told.annotations, ...place });
    const told: Told = { ...this.#told, ...(Object.keys(annotations).length > 0 && { annotations }) };
    this.#reported = steadyFacts(this.#reported, factsOf(report, runId, told), this.#ports.clock.now());
    return { facts: { ...this.#reported.facts }, digest: viewDigest(report) };
  }
}
