/** All requests, a few at a time, and what was wrong with the answers. */
import { type Attempt, attempt, heavyOnes } from './requests.ts';
import { preparation } from './kinds.ts';
import type { Answer, HostedServer } from './server.ts';

export interface AttackOptions {
  readonly requests: number;
  readonly lanes: number;
  readonly random: () => number;
  /** Told now and then. */
  readonly progress?: (done: number, memoryMb: number) => void;
}

export interface AttackResult {
  readonly valid: number;
  readonly hostile: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Each of the heavy ones alone: seconds of a processor. */
  readonly costs: readonly { readonly what: string; readonly seconds: number }[];
  /** The slowest of each of the slowest kinds, in milliseconds. */
  readonly slowest: readonly { readonly what: string; readonly ms: number }[];
  readonly p99Ms: number;
  readonly problems: readonly string[];
}

/** Far more than any answer needs, on a machine that others use, too, and behind what others have asked for. */
const LONGEST_MS = 30_000;
/** What one request may cost the server. */
const MOST_CPU_S = 5;
const MOST_PROBLEMS = 100;

export async function attack(server: HostedServer, options: AttackOptions): Promise<AttackResult> {
  const { requests, lanes, random, progress } = options;
  const problems: string[] = [];
  for (const one of preparation) {
    const { status, text } = await server.send(one);
    if (status !== 201) problems.push(`${one.path} could not be made: ${status} ${text.slice(0, 300)}`);
  }
  const byStatus = new Map<number, number>();
  const slowest = new Map<string, number>();
  const times: number[] = [];
  const counts = { valid: 0, hostile: 0 };
  const costs = await heavyAlone(server, random, problems);
  let done = 0;
  const lane = async () => {
    while (done < requests && problems.length < MOST_PROBLEMS) {
      done++;
      const { isValid, one } = attempt(random);
      counts[isValid ? 'valid' : 'hostile']++;
      try {
        const answer = await server.send(one);
        byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
        slowest.set(one.what, Math.max(slowest.get(one.what) ?? 0, answer.ms));
        times.push(answer.ms);
        problems.push(...judged(one, answer));
      } catch (error) {
        problems.push(`${one.what}: ${String(error)}`);
        if (!server.isRunning) throw error;
      }
      if (done % 1_000 === 0) progress?.(done, server.memory().now);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const next = await server.send({ method: 'GET', path: '/api/v1/namespaces/default' });
  if (next.status !== 200) problems.push(`the next request was answered with ${next.status}`);
  if (next.text.includes('polluted')) problems.push('a prototype was changed');
  times.sort((one, other) => one - other);
  return {
    ...counts,
    costs,
    byStatus: Object.fromEntries(byStatus),
    slowest: [...slowest]
      .map(([what, ms]) => ({ what, ms: Math.round(ms) }))
      .sort((one, other) => other.ms - one.ms)
      .slice(0, 5),
    p99Ms: Math.round(times[Math.floor(times.length * 0.99)] ?? 0),
    problems,
  };
}

async function heavyAlone(server: HostedServer, random: () => number, problems: string[]) {
  const costs: { readonly what: string; readonly seconds: number }[] = [];
  for (const one of heavyOnes(random)) {
    const before = server.cpuSeconds();
    problems.push(...judged(one, await server.send(one)));
    const seconds = server.cpuSeconds() - before;
    costs.push({ what: one.what, seconds });
    if (seconds > MOST_CPU_S) problems.push(`${one.what}: took ${seconds} s of a processor`);
  }
  return costs;
}

function judged({ what, right, holds, body = '', path }: Attempt, { status, text, ms }: Answer): readonly string[] {
  const problems: string[] = [];
  const shown = `${what} (${path.slice(0, 120)} ${body.slice(0, 120)})`;
  if (!right.includes(status)) problems.push(`${shown}: ${status}, not ${right.join(' or ')}: ${text.slice(0, 300)}`);
  if (ms > LONGEST_MS) problems.push(`${shown}: took ${Math.round(ms)} ms`);
  if (status < 300 && holds !== undefined && !text.includes(holds)) problems.push(`${shown}: ${text.slice(0, 300)}`);
  if (status >= 400 && !isStatus(text, status))
    problems.push(`${shown}: ${status} without its Status: ${text.slice(0, 300)}`);
  return problems;
}

function isStatus(text: string, code: number): boolean {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return value.kind === 'Status' && value.code === code && typeof value.message === 'string' && value.message !== '';
  } catch {
    return false;
  }
}
