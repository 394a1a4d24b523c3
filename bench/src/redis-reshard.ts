/**
 * 3 → 4 primaries, 4,096 slots, while a client writes: we against redis-cli and valkey-cli, side by side in one run.
 *
 *   npm run bench -- redis-reshard [--only redis,250k] [--racers redis-cli,reeve] [--rounds 5]
 *
 * `--only` takes products (redis, valkey), datasets (empty, 250k, 1M, 50k-4KB), and `create`. All times are of the operation alone: a racer of ours is a
 * fresh process that has loaded its code but done nothing; the start of the process is measured and printed by itself.
 */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { Product } from '@reeve/rig';
import { CREATE_NODES, type Creation, raceCreate } from './redis-reshard/create.ts';
import { type Race, race } from './redis-reshard/race.ts';
import type { Racer } from './redis-reshard/racer.ts';
import { redisRacers, valkeyRacers } from './redis-reshard/racers.ts';
import { bars, printTable } from './redis-reshard/report.ts';
import { type Bar, median } from './report/bars.ts';
import { DATASETS } from './redis-reshard/stage.ts';
import { Child } from './redis-reshard/child.ts';

/** Times differ by factors: three rounds tell. */
const ROUNDS_FOR_SPEED = 3;

export default async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: { only: { type: 'string' }, racers: { type: 'string' }, rounds: { type: 'string', default: '5' } },
  });
  const rounds = Number(values.rounds);
  const only = new Set((values.only ?? '').split(',').filter((word) => word !== ''));
  const races: Race[] = [];
  const products: readonly Product[] = ['redis', 'valkey'];
  const wants = (group: readonly string[], name: string) => !group.some((word) => only.has(word)) || only.has(name);
  const onlyCreate = only.size === 1 && only.has('create');
  for (const product of products.filter((name) => !onlyCreate && wants(products, name))) {
    const all = product === 'redis' ? await redisRacers() : await valkeyRacers();
    const racers = all.filter(({ name }) => values.racers === undefined || values.racers.split(',').includes(name));
    const names = DATASETS.map(({ name }) => name);
    for (const dataset of DATASETS.filter(({ name }) => wants(names, name))) {
      for (let round = 1; round <= 2 * rounds; round++) {
        for (const racer of racers.filter((one) => takesPart(one, dataset.name, round, rounds))) {
          const result = await race(product, dataset, racer);
          races.push(result);
          say(
            `${product} ${dataset.name} round ${round}: ${racer.name} ${Math.round(result.ms)} ms, client p99 ${result.client.p99.toFixed(1)} ms`,
          );
        }
      }
    }
  }
  const creations = { 'redis-cli': [] as Creation[], reeve: [] as Creation[] };
  if (only.size === 0 || only.has('create')) {
    for (let round = 1; round <= Math.min(rounds, ROUNDS_FOR_SPEED); round++) {
      for (const creator of ['redis-cli', 'reeve'] as const) {
        const creation = await raceCreate(creator);
        creations[creator].push(creation);
        say(`create ${CREATE_NODES} nodes round ${round}: ${creator} ${JSON.stringify(creation)}`);
      }
    }
  }
  printTable(races, creations, await startOfOurs());
  const results: readonly Bar[] = bars(races, creations);
  process.stdout.write(`${JSON.stringify({ bench: 'redis-reshard', rounds, bars: results })}\n`);
  if (results.some(({ met }) => !met)) process.exitCode = 1;
}

function takesPart({ onlyOn, rounds: how = 'few' }: Racer, dataset: string, round: number, rounds: number): boolean {
  const last = { few: Math.min(rounds, ROUNDS_FOR_SPEED), all: rounds, double: 2 * rounds }[how];
  return (onlyOn === undefined || onlyOn === dataset) && round <= last;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** From spawning our process until its code is loaded. */
async function startOfOurs(): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    const child = new Child('./ours.ts');
    await child.next();
    times.push(performance.now() - began);
    await child.end();
  }
  return median(times);
}
