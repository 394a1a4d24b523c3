/**
 * The embedded server next to etcd and kube-apiserver: both over TLS, with roles, on disk. In each round both are started anew, and then
 * work in turns of a second.
 *
 *     npm run bench -- apiserver [--rounds 5] [--objects 10000] [--quick]
 */
import { parseArgs } from 'node:util';
import { CONTESTANTS, type ContestantName } from './apiserver/contestants.ts';
import { type Figures, measureRound, type Sizes } from './apiserver/measure.ts';
import { atLeast, atMost, type Bar, median } from './report/bars.ts';
import { printBars, printTable, say } from './report/print.ts';

const ROWS: readonly (readonly [keyof Figures, string, string])[] = [
  ['readyMs', 'ready after', 'ms'],
  ['idleMb', 'resident when idle', 'MB'],
  ['create1PerSecond', 'creates/s, 1 client', ''],
  ['create1CpuMicros', 'CPU per create, 1 client', 'µs'],
  ['create64PerSecond', 'creates/s, 64 clients', ''],
  ['create64CpuMicros', 'CPU per create, 64 clients', 'µs'],
  ['listMs', 'time per list', 'ms'],
  ['listCpuMs', 'CPU per list', 'ms'],
  ['deliveriesPerSecond', 'events/s to 100 watchers together', ''],
  ['deliveryCpuMicros', 'CPU per event and watcher', 'µs'],
];

export default async function apiserver(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rounds: { type: 'string', default: '5' },
      objects: { type: 'string', default: '10000' },
      quick: { type: 'boolean', default: false },
    },
  });
  const rounds = values.quick ? 1 : Number(values.rounds);
  const sizes: Sizes = values.quick
    ? { idleMs: 2_000, warmTurns: 3, turns: 3, turnMs: 1_000, objects: 1_000, lists: 3, watchers: 100, events: 50 }
    : {
        idleMs: 10_000,
        warmTurns: 10,
        turns: 10,
        turnMs: 1_000,
        objects: Number(values.objects),
        lists: 4,
        watchers: 100,
        events: 200,
      };
  const all: Record<ContestantName, Figures[]> = { embedded: [], kubernetes: [] };
  for (let round = 0; round < rounds; round++) {
    const order = ['embedded', 'kubernetes'] as const;
    const figures = await measureRound(round % 2 === 0 ? order : order.toReversed(), sizes);
    for (const [name, ofName] of figures) {
      all[name].push(ofName);
      say(`round ${round + 1}: ${name} ${JSON.stringify(ofName)}`);
    }
  }
  const [ours, theirs] = [medians(all.embedded), medians(all.kubernetes)];
  printTable([
    ['', CONTESTANTS.embedded.title, CONTESTANTS.kubernetes.title, 'ours / theirs'],
    ...ROWS.map(([key, title, unit]) => [
      title,
      `${shown(ours[key])} ${unit}`,
      `${shown(theirs[key])} ${unit}`,
      shown(ours[key] / theirs[key]),
    ]),
  ]);
  process.stdout.write(
    `Medians of ${rounds} rounds, times of each round of ${sizes.turns} turns. TLS with client certificates, RBAC, every create synced to disk; ConfigMaps of 3 KB; a list has ${sizes.objects} of them.\n`,
  );
  printBars('apiserver', barsOf(ours, theirs), { rounds, quick: values.quick });
}

function medians(rounds: readonly Figures[]): Figures {
  const pairs = ROWS.map(([key]) => [key, median(rounds.map((figures) => figures[key]))] as const);
  return Object.fromEntries(pairs) as unknown as Figures;
}

function barsOf(ours: Figures, theirs: Figures): readonly Bar[] {
  const ratio = (key: keyof Figures): number => ours[key] / theirs[key];
  return [
    atMost('CPU per durable create, 1 client', ratio('create1CpuMicros'), 1 / 4),
    atMost('CPU per durable create, 64 clients', ratio('create64CpuMicros'), 1 / 4),
    atLeast('creates/s, 1 client', ratio('create1PerSecond'), 3),
    atLeast('creates/s, 64 clients', ratio('create64PerSecond'), 3),
    atMost('time to ready', ratio('readyMs'), 1 / 8),
    atMost('idle memory', ratio('idleMb'), 1 / 3),
    atMost('list, time', ratio('listMs'), 1),
    atMost('list, CPU', ratio('listCpuMs'), 1),
    atLeast('fan-out to 100 watchers, events/s', ratio('deliveriesPerSecond'), 1),
    atMost('fan-out to 100 watchers, CPU per event', ratio('deliveryCpuMicros'), 1),
  ];
}

const shown = (value: number): string => (value >= 100 ? value.toFixed() : value.toPrecision(3));
