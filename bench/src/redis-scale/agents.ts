/**
 * Agents beside idle nodes, as `reeve agent redis` runs them: each looks at its own node every second, reports what changed, and renews
 * its lease. What one of them says to the API server does not depend on the others, so a few of them stand for all.
 */
import { KubeClient, type KubeObject, resource } from '@reeve/kube';
import { redisAgent } from '@reeve/redis';
import { crdOf, leaseKind, type LeaseObject, listWatchOf, type Member, memberKind } from '@reeve/runtime';
import { seededRandom, settled, VirtualClock } from '@reeve/runtime/testing';
import { ApiWorld, snapshotOf } from '@reeve/simulation/api';
import { type Counted, counting } from './count.ts';
import { hostOf, type SimulatedNodes } from './nodes.ts';

const NAMESPACE = 'default';
/** Until reports and leases are there. */
const SETTLE_MS = 30_000;

const members = resource<Member & KubeObject>(memberKind);
const leases = resource<LeaseObject & KubeObject>(leaseKind);

/** What so many agents sent and got in so many seconds in which nothing happened. */
export async function idleAgents(nodes: SimulatedNodes, count: number, seconds: number): Promise<Counted> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const api = await ApiWorld.open({
    clock,
    random: seededRandom(1),
    snapshot: await snapshotOf({ definitions: [crdOf(memberKind)] }),
  });
  const counted: Counted = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  const random = seededRandom(2);
  const client = new KubeClient({ clock, random, transport: counting(api.transport, counted) });
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  // Names as long as real ones: they are most of what a renewal sends.
  const digits = (number: number) => String(number).padStart(12, '0');
  let lives = 0;
  const ids = { next: (prefix: string) => `${prefix}-${digits(++lives)}` };
  for (let index = 0; index < count; index++) {
    const name = `c-${index}`;
    const endpoint = { host: hostOf(index), port: 6379 };
    await api.client
      .resource(members, NAMESPACE)
      .create({ metadata: { name }, spec: { system: 'redis', endpoint, host: `worker-${index}` } } as never);
    const own = client.resource(members, NAMESPACE);
    const agent = redisAgent(
      { clock, random, ids },
      {
        namespace: NAMESPACE,
        name,
        version: '0.1.0',
        place: `00000000-0000-4000-8000-${digits(index)}`,
        source: listWatchOf(own, { fieldSelector: `metadata.name=${name}` }),
        members: own,
        leases: client.resource(leases, NAMESPACE),
        redis: nodes.port,
        endpoint,
      },
    );
    running.push(agent.run(stop.signal).catch(() => undefined));
  }
  await clock.advance(SETTLE_MS);
  const before = { ...counted };
  await clock.advance(seconds * 1_000);
  const { items } = await api.client.resource(members, NAMESPACE).list();
  if (!items.every(({ status }) => status?.report?.digest !== undefined)) throw new Error('not every agent reported');
  stop.abort();
  await settled();
  await clock.advance(SETTLE_MS);
  await Promise.all(running);
  return {
    requests: counted.requests - before.requests,
    sentBytes: counted.sentBytes - before.sentBytes,
    receivedBytes: counted.receivedBytes - before.receivedBytes,
  };
}
