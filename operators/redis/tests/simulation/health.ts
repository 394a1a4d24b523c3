/** Whether the servers are well, judged from all of them at once as no client could. */
import type { ModelServer, RedisClusterModel } from '@reeve/simulation/redis';
import { slotOfKey } from '@reeve/simulation/redis';
import { SLOT_COUNT } from '../../src/api/slots.ts';

/** What is not as it should be at the end, a short name and where, the cheapest to find first. Undefined = well. */
export function problemOf(model: RedisClusterModel, members: readonly ModelServer[]): string | undefined {
  return firstProblem(model, members, [membership, greetings, states, links, epochs, strayKeys, slots]);
}

/**
 * The same right when the tool is done: a greeting of one member by another may still be on its way, and so may be
 * replicas (`apart`) that had no link already when it decided: it said so then, and they are no work of its.
 */
export function problemWhenDone(
  model: RedisClusterModel,
  members: readonly ModelServer[],
  apart: ReadonlySet<ModelServer>,
): string | undefined {
  const ownLinks: Look = (all) => links(all.filter((server) => !apart.has(server)));
  return firstProblem(model, members, [membership, states, ownLinks, epochs, strayKeys, slots]);
}

export function hasNoLink(server: ModelServer): boolean {
  return !server.isPrimary && server.replication.link !== 'up';
}

type Look = (members: readonly ModelServer[]) => Generator<string>;

function firstProblem(
  model: RedisClusterModel,
  members: readonly ModelServer[],
  looks: readonly Look[],
): string | undefined {
  model.sync();
  for (const look of looks) {
    for (const problem of look(members)) return problem;
  }
  return undefined;
}

function* membership(members: readonly ModelServer[]): Generator<string> {
  const ids = new Set(members.map((server) => server.id));
  for (const server of members) {
    const missing = members.filter((other) => !server.peers.has(other.id));
    if (missing.length > 0) yield `MEMBERS ${server.endpoint} does not know ${missing.map((other) => other.endpoint)}`;
    const isGreeting = (peer: { handshake: boolean; host: string; port: number }) =>
      peer.handshake && members.some(({ host, port }) => peer.host === host && peer.port === port);
    for (const peer of server.peers.values()) {
      if (!ids.has(peer.id) && !isGreeting(peer)) {
        yield `MEMBERS ${server.endpoint} still knows ${peer.id.slice(0, 8)}`;
      }
    }
  }
}

/** A greeting has a line with an id of its own until it is answered. */
function* greetings(members: readonly ModelServer[]): Generator<string> {
  for (const server of members) {
    for (const peer of server.peers.values()) {
      if (peer.handshake) yield `MEMBERS ${server.endpoint} shakes hands with ${peer.host}:${peer.port}`;
    }
  }
}

function* states(members: readonly ModelServer[]): Generator<string> {
  for (const server of members) {
    if (server.process !== 'up') yield `DOWN ${server.endpoint} is ${server.process}`;
    else if (server.state !== 'ok') yield `STATE ${server.endpoint} says fail`;
    const jobs = server.atomic.jobs.length;
    if (jobs > 0 && hasRunningJob(server)) yield `ATOMIC_JOB on ${server.endpoint}`;
    for (const slot of [...server.migrating.keys(), ...server.importing.keys()]) {
      yield `OPEN_SLOT ${slot} on ${server.endpoint}`;
    }
  }
}

function* links(members: readonly ModelServer[]): Generator<string> {
  for (const server of members) if (hasNoLink(server)) yield `LINK ${server.endpoint} has no primary`;
}

function hasRunningJob(server: ModelServer): boolean {
  const jobs = server.atomic.jobs as readonly { readonly state: string }[];
  return jobs.some((job) => !['success', 'failed', 'cancelled'].includes(job.state));
}

function* epochs(members: readonly ModelServer[]): Generator<string> {
  const seen = new Map<number, string>();
  for (const server of members.filter((other) => other.isPrimary)) {
    const rival = seen.get(server.self.configEpoch);
    if (rival) yield `EPOCH ${server.self.configEpoch} of ${server.endpoint} and ${rival}`;
    seen.set(server.self.configEpoch, server.endpoint);
  }
}

function* slots(members: readonly ModelServer[]): Generator<string> {
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    const owners = members.filter((server) => server.isPrimary && server.owners[slot] === server.self.mark);
    if (owners.length !== 1) {
      yield `${owners.length === 0 ? 'UNCOVERED' : 'TWO_OWNERS'} slot ${slot}: ${owners.map((server) => server.endpoint)}`;
      return;
    }
    const id = owners[0]?.id;
    const other = members.find((server) => server.ownerOf(slot)?.id !== id);
    if (other) {
      yield `VIEWS slot ${slot}: ${other.endpoint} does not know the owner ${owners[0]?.endpoint}`;
      return;
    }
  }
}

function* strayKeys(members: readonly ModelServer[]): Generator<string> {
  for (const server of members.filter((other) => other.isPrimary)) {
    for (const key of server.database(0).keys()) {
      if (server.ownerOf(slotOfKey(key)) !== server.self) yield `STRAY_KEY ${key} on ${server.endpoint}`;
    }
  }
}
