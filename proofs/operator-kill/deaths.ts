/**
 * The Redis operator in simulation, dead at its every effect: before or after each single write to the API and call to a server, one death
 * a life, and a successor goes on. What it was at is one of the stages; what comes before is not disturbed.
 */
import assert from 'node:assert/strict';
import { OperatorWorld } from '@reeve/redis/operator-world';
import { putTogether, sharing } from '@reeve/redis/operator-zones';
import { slotOfKey } from '@reeve/simulation/redis';
import { doomed, living, losePod, type ModelServer } from './struck.ts';

/** What is to be done when a life is over. */
export interface Endings {
  after(ending: () => Promise<void>): void;
}

export interface Stage {
  readonly name: string;
  /** Where it plays. Default: a world with pods. */
  open?(t: Endings): Promise<OperatorWorld>;
  /** Who holds keys there. Default: the servers in pods. */
  servers?(world: OperatorWorld): readonly ModelServer[];
  /** Who must hold the same keys in the end. */
  copies?(world: OperatorWorld): readonly ModelServer[];
  /** What a server that dies with the operator takes with it, and how it comes back. Default: its pod is lost. */
  strike?(world: OperatorWorld, server: ModelServer): void;
  /** There is no cluster yet that could hold keys. */
  readonly isNew?: true;
  /** What must be there before. */
  prepare(world: OperatorWorld): Promise<void>;
  /** Resolves when what was asked for holds. Where a server may die, what a person asked for can fail, once: he asks again. */
  play(world: OperatorWorld, mayFail: boolean): Promise<void>;
}

export const NAME = 'c';
const KEYS = 40;
export const LONG_MS = 900_000;
const ATOMIC = { engine: 'atomic', pace: 'fast' };
export const VOLUMES = { storage: { size: '1Gi' } };
/** Slots of three primaries, and the keys of all of them, are told by one number. */
const OPEN_SLOTS = { halfMoved: 100, migratingOnly: 6_000, importingOnly: 12_000 };

export const isRunning = (world: OperatorWorld): boolean =>
  world.status(NAME).phase === 'Running' && world.status(NAME).currentOperation === undefined;

export async function created(world: OperatorWorld, spec: object = {}): Promise<void> {
  await world.create(NAME, spec);
  await world.until('the cluster runs', () => isRunning(world));
}

async function shrink(world: OperatorWorld): Promise<void> {
  await world.patch(NAME, { spec: { primaries: 3 } });
  await world.until('it has shrunk', () => isRunning(world) && world.set(NAME)?.spec?.replicas === 6, LONG_MS);
  assert.equal(owners(world).length, 3);
}

export const mainStages: readonly Stage[] = [
  {
    name: 'create',
    isNew: true,
    prepare: () => Promise.resolve(),
    play: (world) => created(world),
  },
  {
    name: 'grow',
    prepare: (world) => created(world),
    async play(world) {
      await world.patch(NAME, { spec: { primaries: 4 } });
      const isGrown = () => isRunning(world) && world.status(NAME).replicas === 4 && owners(world).length === 4;
      await world.until('it has grown', isGrown, LONG_MS);
    },
  },
  { name: 'shrink', prepare: (world) => created(world, { primaries: 4, migration: ATOMIC }), play: shrink },
  { name: 'shrink, slot by slot', prepare: (world) => created(world, { primaries: 4 }), play: shrink },
  {
    name: 'rolling change',
    prepare: (world) => created(world, VOLUMES),
    async play(world) {
      const before = new Set(world.servers.map(({ runId }) => runId));
      await world.patch(NAME, { spec: { config: { 'maxmemory-policy': 'allkeys-lru' } } });
      const areNew = () => isRunning(world) && world.servers.every(({ runId }) => !before.has(runId));
      await world.until('every server was started anew', areNew, LONG_MS);
    },
  },
  {
    name: 'replace a lost pod',
    prepare: (world) => created(world),
    async play(world) {
      const lost = world.status(NAME).members?.find(({ role }) => role === 'primary');
      assert.ok(lost);
      losePod(world, world.serverOf(lost.pod));
      const isReplaced = () => isRunning(world) && !world.status(NAME).members?.some(({ id }) => id === lost.id);
      await world.until('it is replaced', isReplaced, LONG_MS);
    },
  },
  {
    name: 'fix',
    prepare: (world) => created(world),
    async play(world) {
      leaveOpen(world);
      await world.until('nothing is open', () => isRunning(world) && openSlots(world).length === 0, LONG_MS);
    },
  },
  {
    name: 'replicas that change places',
    prepare: (world) => created(world),
    async play(world) {
      await putTogether(world, NAME);
      await world.until('they are apart', () => isRunning(world) && sharing(world, NAME).length === 0, LONG_MS);
    },
  },
];

/** How far a stage goes, and how it ended. */
export interface Life {
  readonly effects: number;
  readonly deaths: number;
  readonly problem?: string;
}

export interface Death {
  /** So many effects of the stage happen before. */
  readonly after: number;
  readonly comes: 'before' | 'after';
  /** Whether a look at a server counts as an effect, too. */
  readonly looksCount: boolean;
  /** Of the server that dies with it. Default: none does. */
  readonly server?: number;
}

/** What came to rest must stay as it is, also with a successor who begins only now. */
const REST_MS = 20_000;

/** One life with one death; with none if it has fewer effects. */
export async function live(stage: Stage, death: Death): Promise<Life> {
  const endings: (() => Promise<void>)[] = [];
  const t: Endings = { after: (ending) => void endings.push(ending) };
  const world = await (stage.open?.(t) ?? OperatorWorld.start(t));
  const servers = () => living(stage.servers?.(world) ?? world.servers);
  world.looksCount = death.looksCount;
  world.deathComes = death.comes;
  const figures = () => ({ effects: world.effects - began, deaths: world.deaths });
  let began = 0;
  try {
    await stage.prepare(world);
    const keys = stage.isNew ? [] : await write(world, servers());
    began = world.effects;
    world.diesAfter = death.after;
    world.died = () => {
      const server = death.server === undefined ? undefined : doomed(servers(), death.server);
      if (server) (stage.strike ?? losePod)(world, server);
    };
    await stage.play(world, death.server !== undefined);
    const lived = figures();
    world.diesAfter = Number.POSITIVE_INFINITY;
    await world.pass(REST_MS);
    await world.until('it still runs', () => isRunning(world));
    assert.equal(world.status(NAME).slots, 16_384);
    assert.deepEqual(openSlots(world, servers()), []);
    assertHeld(world, servers(), keys);
    if (stage.copies) assertHeld(world, stage.copies(world), keys);
    for (const ending of endings.splice(0)) await ending();
    return lived;
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    for (const ending of endings.splice(0)) await ending().catch(() => undefined);
    return { ...figures(), problem };
  }
}

/** Keys in many slots, those that will be open among them, and the time that replicas need to have them. */
async function write(world: OperatorWorld, servers: readonly ModelServer[]): Promise<readonly string[]> {
  const keys = Array.from({ length: KEYS }, (_, index) => `key:${index}`);
  keys.push(...Object.values(OPEN_SLOTS).flatMap((slot) => keysIn(slot, 3)));
  for (const key of keys) world.model.execute(ownerOf(servers, slotOfKey(key)).endpoint, ['SET', key, key]);
  await world.pass(3_000);
  return keys;
}

function keysIn(slot: number, count: number): readonly string[] {
  const keys: string[] = [];
  for (let number = 0; keys.length < count; number++) {
    const key = `open:${number}`;
    if (slotOfKey(key) === slot) keys.push(key);
  }
  return keys;
}

function ownerOf(servers: readonly ModelServer[], slot: number): ModelServer {
  const owning = servers.filter((server) => server.isPrimary && server.ownerOf(slot) === server.self);
  assert.equal(owning.length, 1, `slot ${slot} has ${owning.length} owners`);
  return owning[0] as ModelServer;
}

function assertHeld(world: OperatorWorld, servers: readonly ModelServer[], keys: readonly string[]): void {
  for (const key of keys) {
    const { endpoint } = ownerOf(servers, slotOfKey(key));
    assert.equal(world.model.execute(endpoint, ['GET', key]), key, `${key} at ${endpoint}`);
  }
}

export const owners = (world: OperatorWorld): readonly ModelServer[] =>
  living(world.servers).filter((server) => server.isPrimary && tableOf(world, server).ownSlots > 0);

export function isEven(world: OperatorWorld): boolean {
  const shares = owners(world).map((server) => tableOf(world, server).ownSlots);
  const fair = 16_384 / shares.length;
  return shares.every((share) => Math.abs(share - fair) <= fair * 0.05);
}

/** Every server's own line, as it tells it. */
function tableOf(world: OperatorWorld, server: ModelServer): { readonly ownSlots: number; readonly open: number } {
  const text = String(world.model.execute(server.endpoint, ['CLUSTER', 'NODES']));
  const words = (text.split('\n').find((line) => line.includes('myself')) ?? '').trim().split(' ').slice(8);
  const open = words.filter((word) => word.startsWith('[')).length;
  const ownSlots = words
    .filter((word) => !word.startsWith('['))
    .map((word) => word.split('-').map(Number))
    .reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);
  return { ownSlots, open };
}

function openSlots(world: OperatorWorld, servers: readonly ModelServer[] = world.servers): readonly string[] {
  return living(servers)
    .filter((server) => tableOf(world, server).open > 0)
    .map(({ endpoint }) => String(endpoint));
}

/** What whoever moved slots by hand left behind: one slot half moved, one open at its source only, one at its target only. */
function leaveOpen(world: OperatorWorld): void {
  const set = (server: ModelServer, slot: number, how: string, other: ModelServer) =>
    world.model.execute(server.endpoint, ['CLUSTER', 'SETSLOT', String(slot), how, other.self.id]);
  const other = (than: ModelServer) => {
    const found = world.servers.find((server) => server.isPrimary && server !== than);
    assert.ok(found);
    return found;
  };
  const { halfMoved, migratingOnly, importingOnly } = OPEN_SLOTS;
  const source = ownerOf(world.servers, halfMoved);
  const target = other(source);
  set(target, halfMoved, 'IMPORTING', source);
  set(source, halfMoved, 'MIGRATING', target);
  const [key = ''] = keysIn(halfMoved, 1);
  const [host = '', port = ''] = String(target.endpoint).split(':');
  world.model.execute(source.endpoint, ['MIGRATE', host, port, key, '0', '5000']);
  set(ownerOf(world.servers, migratingOnly), migratingOnly, 'MIGRATING', other(ownerOf(world.servers, migratingOnly)));
  set(other(ownerOf(world.servers, importingOnly)), importingOnly, 'IMPORTING', ownerOf(world.servers, importingOnly));
}
