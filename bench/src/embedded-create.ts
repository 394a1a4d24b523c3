/**
 * Durable creates on the embedded server over HTTP: how many a second, and what each costs the server in CPU time.
 *
 *     npm run bench -- embedded-create [--seconds 10] [--bytes 3000]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const TOKEN = 'the-token-of-the-benchmark';

interface Usage {
  readonly cpuMs: number;
  readonly rssMb: number;
}

const next = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('the server ended'));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.removeListener('exit', onExit);
      resolve(message as T);
    });
  });

function usage(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  return next<Usage>(child);
}

function create(url: URL, agent: Agent, name: string, data: string): Promise<void> {
  const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","labels":{"app":"bench"}},"data":{"text":"${data}"}}`;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL('/api/v1/namespaces/default/configmaps', url),
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      (incoming) => {
        incoming.resume();
        incoming.on('end', () =>
          incoming.statusCode === 201 ? resolve() : reject(new Error(`${incoming.statusCode}`)),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function measure(child: ChildProcess, url: URL, clients: number, seconds: number, data: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const run = async (until: number): Promise<number> => {
    let count = 0;
    const client = async (number: number): Promise<void> => {
      while (performance.now() < until) {
        await create(url, agent, `c${clients}-${number}-${until.toFixed()}-${count++}`, data);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
    return count;
  };
  const before = await usage(child);
  const started = performance.now();
  const creates = await run(started + seconds * 1_000);
  const elapsed = (performance.now() - started) / 1_000;
  const after = await usage(child);
  agent.destroy();
  return {
    clients,
    creates,
    perSecond: Math.round(creates / elapsed),
    cpuMicrosPerCreate: Math.round(((after.cpuMs - before.cpuMs) * 1_000) / creates),
    rssMb: Math.round(after.rssMb),
  };
}

export default async function embeddedCreate(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: { seconds: { type: 'string', default: '10' }, bytes: { type: 'string', default: '3000' } },
  });
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-'));
  const started = performance.now();
  const child = fork(fileURLToPath(new URL('./embedded/server.ts', import.meta.url)), [
    join(folder, 'store.db'),
    TOKEN,
  ]);
  try {
    const { url } = await next<{ url: string }>(child);
    const readyMs = Math.round(performance.now() - started);
    const idleMb = Math.round((await usage(child)).rssMb);
    process.stdout.write(`ready after ${readyMs} ms, idle ${idleMb} MB\n`);
    const data = 'x'.repeat(Number(values.bytes));
    // Warm: until the code that is measured is compiled.
    for (let made = 0; made < 5_000; ) made += (await measure(child, new URL(url), 64, 1, data)).creates;
    const results = [];
    for (const clients of [1, 64]) {
      const result = await measure(
        child,
        new URL(url),
        clients,
        Number(values.seconds),
        'x'.repeat(Number(values.bytes)),
      );
      process.stdout.write(
        `${result.clients} clients: ${result.perSecond} creates/s, ${result.cpuMicrosPerCreate} µs of CPU each, ${result.rssMb} MB\n`,
      );
      results.push(result);
    }
    process.stdout.write(`${JSON.stringify({ readyMs, idleMb, bytes: Number(values.bytes), results })}\n`);
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
