/**
 * What following a kind costs: this runtime next to client-go and client-node, each in a process of its own, on a real kube-apiserver.
 *
 *     npm run bench -- reflector [--objects 1000,10000,100000] [--rounds 5] [--only widgets|pods] [--read] [--strip] [--quick]
 *
 * With --read this runtime is measured a second time, with every field of every object read. With --strip the opponents drop managed fields, too, as this runtime always does; without it they are as they come.
 */
import { parseArgs } from 'node:util';
import { nameOf, type ResourceName } from './kubernetes/objects.ts';
import { type Stage, startStage } from './kubernetes/stage.ts';
import { type Follower, type FollowerName, fits, followersOf } from './reflector/followers.ts';
import { type Figures, measureRound, type Sizes } from './reflector/measure.ts';
import { atMost, type Bar, median } from './report/bars.ts';
import { printBars, printTable } from './report/print.ts';

interface Result {
  readonly resource: ResourceName;
  readonly objects: number;
  readonly bytes: number;
  readonly followers: readonly Follower[];
  readonly figures: ReadonlyMap<FollowerName, Figures>;
}

const QUICK: Sizes = { perSecond: 1_000, warm: 500, events: 500, backlog: 1_500 };
/** A follower has had its backlog before it is measured at a rate, and is warm by then. */
const FULL: Sizes = { perSecond: 1_000, warm: 2_000, events: 10_000, backlog: 20_000 };

export default async function reflector(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      objects: { type: 'string', default: '1000,10000,100000' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
      read: { type: 'boolean', default: false },
      strip: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
    },
  });
  const rounds = values.quick ? 1 : Number(values.rounds);
  const counts = (values.quick ? '1000' : values.objects).split(',').map(Number);
  const sizes = values.quick ? QUICK : FULL;
  const resources = (['widgets', 'pods'] as const).filter((name) => values.only === undefined || values.only === name);
  const results: Result[] = [];
  for (const resource of resources) {
    // The opponents are built before anything is started.
    const followers = (await followersOf(resource, values.strip)).filter(
      ({ name }) => values.read || name !== 'reeve, read',
    );
    await using stage = await startStage();
    results.push(...(await measureResource(stage, resource, followers, { counts, rounds, sizes })));
  }
  print(results, rounds, sizes);
  const kept = values.strip
    ? 'No follower keeps managed fields'
    : 'All but reeve keep managed fields, as they do by default';
  process.stdout.write(`${kept}.\n`);
  printBars('reflector', results.flatMap(barsOf), { rounds, quick: values.quick, strip: values.strip });
}

interface Plan {
  readonly counts: readonly number[];
  readonly rounds: number;
  readonly sizes: Sizes;
}

async function measureResource(
  stage: Stage,
  resource: ResourceName,
  followers: readonly Follower[],
  { counts, rounds, sizes }: Plan,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let filled = 0;
  let revision = 1;
  const nextRevision = (events: number): number => {
    const first = revision;
    revision += events;
    return first;
  };
  for (const objects of [...counts].sort((a, b) => a - b)) {
    await stage.load.ask({ do: 'fill', resource, from: filled, to: objects });
    filled = objects;
    const bytes = await stage.bytesOf(resource, nameOf(resource, 0));
    const present = followers.filter(({ name }) => fits(name, resource, objects));
    const all: ReadonlyMap<FollowerName, Figures>[] = [];
    for (let round = 0; round < rounds; round++) {
      // Somebody else begins in each round.
      const order = [...present.slice(round % present.length), ...present.slice(0, round % present.length)];
      all.push(await measureRound({ stage, resource, objects, sizes, nextRevision }, order));
    }
    results.push({ resource, objects, bytes, followers: present, figures: medians(present, all) });
  }
  return results;
}

function medians(
  followers: readonly Follower[],
  rounds: readonly ReadonlyMap<FollowerName, Figures>[],
): ReadonlyMap<FollowerName, Figures> {
  return new Map(
    followers.map(({ name }) => {
      const of = (key: keyof Figures) => median(rounds.map((round) => round.get(name)?.[key] ?? Number.NaN));
      const figures: Figures = {
        rateMicros: of('rateMicros'),
        backlogMicros: of('backlogMicros'),
        heapBytesPerObject: of('heapBytesPerObject'),
        perSecond: of('perSecond'),
      };
      return [name, figures];
    }),
  );
}

function print(results: readonly Result[], rounds: number, { backlog, perSecond }: Sizes): void {
  const head = [
    'objects',
    'follower',
    'µs of CPU per event',
    'at events/s',
    'µs per event of the backlog',
    'heap per object',
  ];
  const lines = results.flatMap(({ resource, objects, bytes, followers, figures }) =>
    followers.map(({ name, title }) => {
      const { rateMicros, backlogMicros, heapBytesPerObject, perSecond: reached } = figures.get(name) as Figures;
      return [
        `${objects} ${resource} of ${(bytes / 1_000).toFixed(1)} KB`,
        title,
        rateMicros.toFixed(),
        reached.toFixed(),
        backlogMicros.toFixed(),
        `${(heapBytesPerObject / 1_000).toFixed(1)} KB`,
      ];
    }),
  );
  printTable([head, ...lines]);
  process.stdout.write(
    `Medians of ${rounds} rounds; CPU is user and system time of the follower's process. All keep whole objects by namespace and name. Asked for: ${perSecond} events/s; backlog ${backlog} events.\n`,
  );
}

function barsOf({ resource, objects, figures }: Result): readonly Bar[] {
  const ratio = (key: keyof Figures, to: FollowerName): number =>
    (figures.get('reeve')?.[key] ?? Number.NaN) / (figures.get(to)?.[key] ?? Number.NaN);
  const at = `${objects} ${resource}`;
  const heapOf = (name: FollowerName, bar: number): readonly Bar[] =>
    figures.has(name) ? [atMost(`${at}: heap per object, of ${name}'s`, ratio('heapBytesPerObject', name), bar)] : [];
  const heap = [...heapOf('client-go dynamic', 0.5), ...heapOf('client-node', 0.6)];
  if (resource === 'pods') {
    return [
      atMost(
        `${at}: CPU per event at 1,000/s, of client-go protobuf's`,
        ratio('rateMicros', 'client-go protobuf'),
        1.3,
      ),
      atMost(
        `${at}: CPU per event of the backlog, of client-go protobuf's`,
        ratio('backlogMicros', 'client-go protobuf'),
        1.3,
      ),
      ...heap,
    ];
  }
  return [
    atMost(`${at}: CPU per event at 1,000/s, of client-go dynamic's`, ratio('rateMicros', 'client-go dynamic'), 0.45),
    atMost(
      `${at}: CPU per event of the backlog, of client-go dynamic's`,
      ratio('backlogMicros', 'client-go dynamic'),
      0.25,
    ),
    atMost(`${at}: CPU per event at 1,000/s, of client-node's`, ratio('rateMicros', 'client-node'), 0.85),
    atMost(`${at}: CPU per event of the backlog, of client-node's`, ratio('backlogMicros', 'client-node'), 0.85),
    ...heap,
  ];
}
