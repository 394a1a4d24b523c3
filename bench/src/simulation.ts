/**
 * The simulation of the Redis operator, at length: seeds, crashes at every effect, coverage, planted bugs; and what a
 * step of the bare scheduler costs.
 *
 *   npm run bench -- simulation [--seeds 10000] [--bug-seeds 300] [--failures FOLDER] [--only seeds,crashes,cells,bugs] [--every N]
 *
 * Failing runs are written to FOLDER (default simulation-failures) as lists of choices that replay them. The campaign
 * belongs to the operator's tests; this runs it as a program of its own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Incarnation, type Scenario, simulate } from '@reeve/simulation';

const PROCESSES = 4;
const CALLS = 10_000;
const ROUNDS = 7;

export default async function main(argv: readonly string[]): Promise<void> {
  const stepMicros = await microsecondsPerStep();
  process.stdout.write(`${stepMicros.toFixed(2)} µs per step of the scheduler\n`);
  const campaign = new URL('../tests/simulation/campaign.ts', import.meta.resolve('@reeve/redis'));
  const args = [fileURLToPath(campaign), ...argv];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}

/** Four processes that make calls with a connection and a time limit, and sleep now and then: the median of some runs. */
async function microsecondsPerStep(): Promise<number> {
  const run = async (life: Incarnation) => {
    for (let call = 0; call < CALLS; call++) {
      await life.effect('call', { channel: 'connection', timeoutMs: 5_000, apply: () => undefined });
      if (call % 10 === 0) await life.ports.clock.sleep(5);
    }
  };
  const names = Array.from({ length: PROCESSES }, (_, index) => `process ${index}`);
  const scenario: Scenario = {
    name: 'speed',
    build: () => ({ processes: names.map((name) => ({ name, run })), faults: { most: 0 } }),
  };
  const measured: number[] = [];
  for (let seed = 0; seed < ROUNDS; seed++) {
    // Time of the processor, not of the clock: neighbours on the machine do not count.
    const before = process.cpuUsage();
    const { steps } = await simulate(scenario, { seed });
    const { user, system } = process.cpuUsage(before);
    measured.push((user + system) / steps);
  }
  return measured.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}
