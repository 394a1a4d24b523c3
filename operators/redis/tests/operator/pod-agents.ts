/** An agent beside the server of each pod, started with it, as `agents: sidecar` has it. */
import { CLIENT_PORT } from '../../src/plan/children.ts';
import { type AgentLife, startAgent } from './agent-process.ts';
import type { OperatorWorld } from './world.ts';

export interface AgentsInPods {
  readonly agents: ReadonlyMap<string, AgentLife>;
  /** Beside the server that runs in a pod now. */
  startAgentOf(pod: string): void;
}

/** To be called before there is a cluster. */
export function agentsInPods(world: OperatorWorld, t: { after(ending: () => Promise<void>): void }): AgentsInPods {
  const agents = new Map<string, AgentLife>();
  let lives = 0;
  const start = (name: string, uid: string, { host }: { readonly host: string }) => {
    agents.get(name)?.kill();
    agents.set(name, startAgent(world, { name, endpoint: { host, port: CLIENT_PORT }, podUid: uid, life: ++lives }));
  };
  world.kubelet.started = ({ metadata }, server) => start(metadata?.name ?? '', metadata?.uid ?? '', server);
  t.after(() => {
    for (const agent of agents.values()) agent.kill();
    return Promise.resolve();
  });
  const uidOf = (pod: string) => world.pods.find(({ metadata }) => metadata?.name === pod)?.metadata?.uid ?? '';
  return { agents, startAgentOf: (pod) => start(pod, uidOf(pod), world.serverOf(pod)) };
}
