/** An agent in the operator's world. Killed, nothing of it goes on, and it tells nobody. */
import { type LeaseObject, listWatchOf, type Member } from '@reeve/runtime';
import { seededRandom } from '@reeve/runtime/testing';
import { redisAgent } from '../../src/agent/agent.ts';
import { memberLeases, members } from '../../src/api/kinds.ts';
import type { Endpoint } from '../../src/api/view.ts';
import { modelPort } from '../model-port.ts';
import { NAMESPACE, type OperatorWorld } from './world.ts';

export interface AgentAt {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Of a pod; else it lives on a machine of that name. */
  readonly podUid?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Differs between lives. */
  readonly life: number;
}

export interface AgentLife {
  kill(): void;
}

export function startAgent(world: OperatorWorld, { name, endpoint, podUid, annotations, life }: AgentAt): AgentLife {
  const { api, clock, model } = world;
  const own = api.client.resource(members, NAMESPACE);
  const leases = api.client.resource(memberLeases, NAMESPACE);
  let isDead = false;
  const never = <T>(): Promise<T> => new Promise(() => undefined);
  const alive = async <T>(ask: () => Promise<unknown>): Promise<T> => {
    if (isDead) return never();
    const answer = (await ask()) as T;
    return isDead ? never() : answer;
  };
  let ids = 0;
  const agent = redisAgent(
    {
      clock,
      random: seededRandom(life),
      ids: { next: (prefix: string) => `${prefix}-of-${name}-${life}-${++ids}` },
    },
    {
      namespace: NAMESPACE,
      name,
      version: '1.0.0',
      ...(podUid === undefined ? { place: `machine-${name}` } : { podUid }),
      source: listWatchOf(own, { fieldSelector: `metadata.name=${name}` }) as never,
      members: {
        find: (...args) => alive<Member | undefined>(() => own.find(...args)),
        update: (object, options) => alive<Member>(() => own.update(object as never, options)),
      },
      leases: {
        find: (...args) => alive<LeaseObject | undefined>(() => leases.find(...args)),
        update: (object, options) => alive<LeaseObject>(() => leases.update(object as never, options)),
        create: (object, options) => alive<LeaseObject>(() => leases.create(object as never, options)),
        patch: (...args) => alive<LeaseObject>(() => leases.patch(...args)),
      },
      redis: modelPort(model, async (call) => (isDead ? never() : call.apply())),
      endpoint,
      ...(annotations && { annotations }),
    },
  );
  const stop = new AbortController();
  void agent.run(stop.signal);
  return {
    kill() {
      isDead = true;
      stop.abort();
    },
  };
}
