/**
 * `npm start`: a real Valkey cluster on loopback, three primaries with a replica each, made with `reeve redis create`,
 * and two empty servers to play with. Runs until Ctrl-C; the data folder is kept and the next start goes on with it.
 * `--once` ends after showing; `--data FOLDER` chooses the folder (default `.reeve` in the repository).
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { valkeyServer } from './binaries/find.ts';
import { addressOf, REEVE } from './reeve.ts';
import { type Endpoint, once } from './servers/connection.ts';
import { freePort, isFreePort } from './servers/ports.ts';
import { type Server, startServers } from './servers/server.ts';

const HOST = '127.0.0.1';
const FIRST_PORT = 7001;
const MEMBERS = 6;
const SPARES = 2;

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false }, data: { type: 'string' } } });
const repository = fileURLToPath(new URL('../..', import.meta.url));
const data = resolve(values.data ?? join(repository, '.reeve'));
const memory = join(data, 'cluster.json');

/** Ports are chosen once and kept: the nodes remember each other by them. */
async function rememberedPorts(): Promise<readonly number[]> {
  if (existsSync(memory)) return (JSON.parse(readFileSync(memory, 'utf8')) as { ports: number[] }).ports;
  const ports: number[] = [];
  for (let index = 0; index < MEMBERS + SPARES; index++) {
    const wished = FIRST_PORT + index;
    ports.push((await isFreePort(HOST, wished)) ? wished : await freePort(HOST));
  }
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, '.gitignore'), '*\n');
  writeFileSync(memory, `${JSON.stringify({ ports })}\n`);
  return ports;
}

async function answers(endpoint: Endpoint): Promise<boolean> {
  try {
    return (await once(endpoint, { connectTimeoutMs: 500, timeoutMs: 500 }, 'PING')) === 'PONG';
  } catch {
    return false;
  }
}

/** Runs the product in this terminal, as a user would. */
function reeve(...args: readonly string[]): Promise<number> {
  say(`\n$ reeve redis ${args.join(' ')}`);
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [REEVE, 'redis', ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', fail);
    child.once('exit', (code) => done(code ?? 1));
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function howToGoOn(first: string, spares: readonly string[]): void {
  const [spare = '', other = ''] = spares;
  const lines = [
    ['status', first, 'what the cluster is'],
    ['check', first, 'whether it is sound'],
    ['watch', first, 'the same, live'],
    ['add-node', `${first} --node ${spare}`, 'take in an empty server as a primary …'],
    ['rebalance', `${first} --use-empty`, '… and give it its share of the slots'],
    ['add-node', `${first} --node ${other} --replica --of ${spare}`, '… and a replica'],
    ['del-node', `${first} --node ${spare} --dry-run`, 'show what taking it out again would do'],
  ] as const;
  say('\nGo on from another terminal, in this folder:\n');
  for (const [verb, rest, what] of lines) say(`  ${`node bin/reeve.js redis ${verb} ${rest}`.padEnd(76)} # ${what}`);
  say('');
}

const ports = await rememberedPorts();
const endpoints = ports.map((port) => ({ host: HOST, port }));
const members = endpoints.slice(0, MEMBERS).map(addressOf);
const spares = endpoints.slice(MEMBERS).map(addressOf);
const first = members[0] as string;

if (await answers(endpoints[0] as Endpoint)) {
  say(`${first} answers already: the cluster of ${data} runs in another terminal.`);
  process.exitCode = await reeve('status', first);
  howToGoOn(first, spares);
} else {
  process.exitCode = await bringUp();
}

/** Made once. If an earlier start died in the middle of it, its journal knows how to go on. */
async function makeCluster(server: Server): Promise<number> {
  const info = String(await server.call('CLUSTER', 'INFO'));
  const known = Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1]);
  if (info.includes('cluster_slots_assigned:16384') && known >= MEMBERS) return 0;
  const journal = join(data, 'create.journal.json');
  if (existsSync(journal)) return reeve('create', first, '--resume', journal);
  return reeve('create', ...members, '--replicas', '1', '--yes', '--journal', journal);
}

async function bringUp(): Promise<number> {
  const { name, origin } = await valkeyServer();
  const isNew = !existsSync(join(data, `node-${ports[0]}`));
  say(`${isNew ? 'Starting' : 'Starting again'}: ${ports.length} × ${name} (${origin}) in ${data}`);
  const servers = await startServers(ports.length, (index) => ({
    product: 'valkey',
    host: HOST,
    port: ports[index] as number,
    dir: join(data, `node-${ports[index]}`),
    appendOnly: true,
    debugCommand: 'no',
  }));
  try {
    const made = await makeCluster(servers[0] as Server);
    if (made !== 0) return made;
    const shown = await reeve('status', first);
    if (shown !== 0) return shown;
    howToGoOn(first, spares);
    if (!values.once) {
      say('Ctrl-C stops the servers; the next `npm start` goes on with their data.');
      await new Promise<void>((stop) => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
      });
      say('\nStopping.');
    }
    return 0;
  } finally {
    // In order, so that what was acknowledged is on disk.
    await Promise.all(servers.map((server) => server.shutdown()));
  }
}
