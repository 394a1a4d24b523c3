/** What a cluster may look like when somebody calls for help: half-done things, made with the servers' own commands. */
import type { Simulation } from '@reeve/simulation';
import { type ModelServer, ServerError } from '@reeve/simulation/redis';
import type { Cluster } from './cluster.ts';

interface Place {
  readonly cluster: Cluster;
  readonly slot: number;
  readonly owner: ModelServer;
  readonly other: ModelServer;
  readonly third: ModelServer;
}

/** What the servers refuse is not done: then there is one damage less. */
function tell(place: Place, server: ModelServer, ...args: string[]): void {
  try {
    place.cluster.model.execute(server.endpoint, args);
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
  }
}

const setslot = (place: Place, server: ModelServer, ...words: string[]) =>
  tell(place, server, 'CLUSTER', 'SETSLOT', String(place.slot), ...words);

function open(place: Place): void {
  setslot(place, place.other, 'IMPORTING', place.owner.id);
  setslot(place, place.owner, 'MIGRATING', place.other.id);
}

function moveKeys(place: Place, count: number): void {
  const { owner, other, slot } = place;
  const keys = owner.database(0).keysInSlot(slot, count);
  if (keys.length > 0) tell(place, owner, 'MIGRATE', other.host, String(other.port), '', '0', '1000', 'KEYS', ...keys);
}

function uncover(place: Place): void {
  for (const server of [place.owner, ...place.cluster.primaries]) {
    tell(place, server, 'CLUSTER', 'DELSLOTS', String(place.slot));
  }
}

const damages: Readonly<Record<string, (place: Place) => void>> = {
  'opened, nothing moved': open,
  'opened, some keys moved'(place) {
    open(place);
    moveKeys(place, 1);
  },
  'opened, all keys moved'(place) {
    open(place);
    moveKeys(place, 100);
  },
  'only migrating': (place) => setslot(place, place.owner, 'MIGRATING', place.other.id),
  'only importing': (place) => setslot(place, place.other, 'IMPORTING', place.owner.id),
  'importing by two'(place) {
    open(place);
    setslot(place, place.third, 'IMPORTING', place.owner.id);
  },
  'keys on an importing node, source closed'(place) {
    open(place);
    moveKeys(place, 2);
    setslot(place, place.owner, 'STABLE');
  },
  'handed over on the target only'(place) {
    open(place);
    moveKeys(place, 100);
    setslot(place, place.other, 'NODE', place.other.id);
  },
  'nobody owns it': uncover,
  'nobody owns it, keys on two nodes'(place) {
    open(place);
    moveKeys(place, 1);
    uncover(place);
    setslot(place, place.owner, 'STABLE');
    setslot(place, place.other, 'STABLE');
  },
};

/**
 * Two nodes have the key, with different values, and nobody says which is right: what a write to both sides of a
 * broken move leaves. The values are returned: both must survive.
 */
export function conflict(cluster: Cluster, slot: number, key: string): readonly string[] {
  const owner = cluster.primaries.find((server) => server.ownerOf(slot) === server.self);
  const [other, third] = cluster.primaries.filter((server) => server !== owner);
  if (!owner || !other || !third) return [];
  const place = { cluster, slot, owner, other, third };
  open(place);
  tell(place, owner, 'MIGRATE', other.host, String(other.port), '', '0', '1000', 'COPY', 'KEYS', key);
  setslot(place, owner, 'STABLE');
  tell(place, owner, 'SET', key, 'newer');
  return [owner, other].map((server) => server.database(0).get(key, 0)?.value ?? '');
}

/** One to three damages at slots with keys. */
export function damage(simulation: Simulation, cluster: Cluster, slots: readonly number[]): readonly string[] {
  const names = Object.keys(damages);
  const { choices } = simulation;
  const done: string[] = [];
  const first = choices.pick(slots.length);
  for (let count = choices.pick(3); count >= 0; count--) {
    const slot = slots[(first + count) % slots.length] as number;
    const owner = cluster.primaries.find((server) => server.ownerOf(slot) === server.self);
    const [other, third] = cluster.primaries.filter((server) => server !== owner);
    const name = names[choices.pick(names.length)] as string;
    if (!owner || !other || !third) continue;
    damages[name]?.({ cluster, slot, owner, other, third });
    done.push(`slot ${slot}: ${name}`);
  }
  return done;
}
