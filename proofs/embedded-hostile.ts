/**
 * Bad input to the embedded server, over HTTP: half of the requests valid by grammar, half hostile, with a thousand idle connections
 * besides. The right 4xx with a Status, bounded time and memory, the next request served.
 *
 *     npm run proof -- embedded-hostile [--requests 100000] [--seed 1]
 */
import { parseArgs } from 'node:util';
import { until } from '@reeve/rig';
import { attack } from './hostile/attack.ts';
import { HostedServer } from './hostile/server.ts';
import { generator } from './lib/random.ts';
import { writeResult } from './result.ts';

const IDLE = 1_000;
const LANES = 16;
/** The server itself needs about 100 MB; bodies of 3 MB in sixteen lanes come on top. */
const MOST_MB = 700;

export default async function embeddedHostile(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
  });
  const requests = Number(values.requests);
  await using server = await HostedServer.start(LANES);
  const atStart = server.memory().now;
  server.idle(IDLE);
  await until('the idle connections', () => server.idleConnections >= IDLE);
  const memory: number[] = [];
  const started = performance.now();
  const result = await attack(server, {
    requests,
    lanes: LANES,
    random: generator(Number(values.seed)),
    progress: (done, megabytes) => {
      memory.push(megabytes);
      if (done % 10_000 === 0) process.stdout.write(`${done} requests, ${megabytes} MB\n`);
    },
  });
  const seconds = (performance.now() - started) / 1_000;
  const { now, peak } = server.memory();
  const problems = [...result.problems];
  if (peak > MOST_MB) problems.push(`the server took ${peak} MB, more than ${MOST_MB}`);
  if (server.idleConnections < IDLE - 50) problems.push(`only ${server.idleConnections} idle connections are left`);
  const ok = problems.length === 0;
  const statuses = Object.entries(result.byStatus).map(([status, count]) => `${count} × ${status}`);
  writeResult('embedded-hostile', ok, [
    `${result.valid + result.hostile} requests in ${seconds.toFixed(0)} s, ${LANES} at a time, seed ${values.seed}: ${result.valid} valid by grammar, ${result.hostile} hostile (broken, deep and huge bodies, keys twice and of prototypes, wrong types and names, hostile selectors, options, paths, media types, tokens and hosts, patches that explode, patterns that backtrack, rules and policies without end). ${IDLE} connections were open besides that said nothing or half a request; those that the server ended (${server.reopened}) were opened again.`,
    `Every answer had the code that it must have, or one of few: ${statuses.join(', ')}. Every 4xx had a Status with that code and a message. The request after the last was served.`,
    `What each of the heavy ones cost alone, in seconds of a processor: ${result.costs.map(({ what, seconds: cost }) => `${what} ${cost.toFixed(2)}`).join(', ')}.`,
    `99 of 100 answers came within ${result.p99Ms} ms, with everything on one machine that others used, too; the slowest were ${result.slowest.map(({ what, ms }) => `${what} (${ms} ms)`).join(', ')}. Memory of the server: ${atStart} MB at the start, ${peak} MB at its highest, ${now} MB in the end, ${memory[Math.floor(memory.length / 2)] ?? now} MB in the middle.`,
    ...(ok ? [] : [problems.map((one) => `- ${one}`).join('\n')]),
  ]);
  return ok;
}
