/** All deaths of the operator in simulation, spread over the cores of the machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DeathReport } from './deaths-child.ts';

export interface StageFigures {
  readonly stage: string;
  effects: number;
  withLooks: number;
  lives: number;
  deaths: number;
}

export interface Simulated {
  readonly stages: readonly StageFigures[];
  readonly problems: readonly string[];
  readonly seconds: number;
}

export interface DeathsWanted {
  /** 1: each effect. A larger number is for trying out. */
  readonly every: number;
  /** So many deaths with a server of each stage, evenly spread; or all there are if these are few. */
  readonly struck: number;
  /** Only stages whose name contains it. */
  readonly stage: string;
}

export async function simulateDeaths(wanted: DeathsWanted): Promise<Simulated> {
  const began = performance.now();
  const figures = new Map<string, StageFigures>();
  const problems: string[] = [];
  const take = ({ stage, effects, withLooks, lives, deaths, problems: found }: DeathReport) => {
    const sum = figures.get(stage) ?? { stage, effects, withLooks, lives: 0, deaths: 0 };
    sum.lives += lives;
    sum.deaths += deaths;
    figures.set(stage, sum);
    problems.push(...found.map((problem) => `${stage}, ${problem}`));
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    const bad = found.length === 0 ? '' : `\nFAILED ${found.join('\n')}`;
    process.stdout.write(`simulated: ${stage}: ${sum.deaths} deaths at ${effects} effects (${seconds} s)${bad}\n`);
  };
  const of = availableParallelism();
  const shares = Array.from({ length: of }, async (_, index) => {
    const code = await playShare([...[index, of, wanted.every, wanted.struck].map(String), wanted.stage], take);
    if (code !== 0) problems.push(`share ${index} of ${of} ended with ${code}`);
  });
  await Promise.all(shares);
  return { stages: [...figures.values()], problems, seconds: (performance.now() - began) / 1_000 };
}

/** Its exit code. */
async function playShare(args: readonly string[], take: (report: DeathReport) => void): Promise<number | null> {
  const script = join(import.meta.dirname, 'deaths-child.ts');
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const ended = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) take(JSON.parse(line) as DeathReport);
  const [code] = (await ended) as [number | null];
  return code;
}
