/**
 * `npm start`: a control plane on this machine, and on it a declared Valkey cluster as real pods, three primaries with a replica each.
 * Runs until Ctrl-C, which ends all of it; the data folder is kept and the next start goes on with it. Ctrl-C again leaves what is not
 * ended yet, and says how to end it. A control plane that is killed meanwhile is begun again.
 * `--once` ends after showing; `--data FOLDER` chooses the folder (default `.reeve/local` in the repository).
 */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run } from './binaries/run.ts';
import { KeptPlane } from './kept-plane.ts';
import { REEVE } from './reeve.ts';

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false }, data: { type: 'string' } } });
const repository = fileURLToPath(new URL('../..', import.meta.url));
const data = resolve(values.data ?? join(repository, '.reeve', 'local'));
const kubeconfig = join(data, 'kubeconfig');
const environment = { ...process.env, KUBECONFIG: kubeconfig };
const manifest = join(repository, 'examples', 'redis-cluster.yaml');
const CLUSTER = 'cache';
const PATIENCE_MS = 180_000;
const LOOK_EVERY_MS = 1_000;
/** npm passes a signal on that all of us got, and on a busy machine it takes its time. */
const SAME_KEY_MS = 1_000;

interface Cluster {
  readonly status?: {
    readonly phase?: string;
    readonly primaries?: number;
    readonly replicas?: number;
    readonly slots?: number;
    readonly currentOperation?: { readonly kind: string };
    readonly waitingFor?: readonly { readonly message: string }[];
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** As a word of a shell. */
const quoted = (text: string): string =>
  /^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** What ends all of it in order. Whoever comes by npm, `timeout` or a terminal sends some signals twice within a moment: that is one. */
class Stop {
  readonly asked: Promise<void>;
  isAsked = false;
  /** Another one, later: somebody does not want to wait. */
  onAgain: () => void = () => undefined;

  constructor() {
    let firstAt: number | undefined;
    this.asked = new Promise((resolve_) => {
      const onSignal = () => {
        const now = performance.now();
        firstAt ??= now;
        this.isAsked = true;
        resolve_();
        if (now - firstAt >= SAME_KEY_MS) this.onAgain();
      };
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    });
  }
}

/** Runs the product in this terminal, as a user would. */
async function reeve(...args: readonly string[]): Promise<number> {
  return codeOf(begin(args));
}

function begin(args: readonly string[], more: SpawnOptions = {}): ChildProcess {
  say(`\n$ reeve ${args.map((arg) => (arg === manifest ? relative(repository, manifest) : arg)).join(' ')}`);
  return spawn(process.execPath, [REEVE, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: environment,
    ...more,
  });
}

async function codeOf(child: ChildProcess): Promise<number> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** In a group of its own: the Ctrl-C that it is run for may still be on its way to all of ours. */
async function down(stop: Stop): Promise<number> {
  const child = begin(['down', '--data', data], { detached: true });
  stop.onAgain = () => void child.kill('SIGINT');
  const code = await codeOf(child);
  if (code !== 0) say(`\nNot all has ended. To end it: node bin/reeve.js down --data ${quoted(data)}`);
  return code;
}

/** Says in a line what the cluster is doing, whenever that is something else, until it runs. */
async function follow(plane: KeptPlane, stop: Stop): Promise<boolean> {
  say('');
  let said = '';
  for (let waited = 0; waited < PATIENCE_MS && !plane.isOver && !stop.isAsked; waited += LOOK_EVERY_MS) {
    const asked = [REEVE, 'get', 'redisclusters', CLUSTER, '--output', 'json'];
    const { stdout } = await run(process.execPath, asked, { env: environment });
    const { status = {} } = JSON.parse(stdout || '{}') as Cluster;
    const line = lineOf(status);
    if (line !== said) say(`  ${line}`);
    said = line;
    if (status.phase === 'Running') return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}

function lineOf({
  phase = 'Pending',
  primaries,
  replicas,
  slots,
  currentOperation,
  waitingFor,
}: NonNullable<Cluster['status']>): string {
  const doing = currentOperation ? `: ${currentOperation.kind}` : '';
  const [wait] = waitingFor ?? [];
  if (phase === 'Running') return `${phase}: ${slots} slots, ${primaries} primaries, ${replicas} replicas`;
  return `${phase}${doing}${wait ? ` (${wait.message})` : ''}`;
}

function howToGoOn(): void {
  const lines = [
    [`get redisclusters,pods`, 'what there is'],
    [`get redisclusters ${CLUSTER} --output yaml`, 'what the operator sees and does'],
    [`why rediscluster/${CLUSTER}`, 'what its operator does, waits for and has done'],
    [`events`, 'what happened'],
    [`delete pod ${CLUSTER}-0`, 'or kill -9 any process: it comes back'],
    [`apply -f ${relative(repository, manifest)}`, 'after a change in it: primaries: 4'],
    [`logs ${CLUSTER}-0`, 'what its server says'],
  ] as const;
  say('\nGo on from another terminal, in this folder:\n');
  say(`  export KUBECONFIG=${quoted(kubeconfig)}`);
  for (const [rest, what] of lines) say(`  ${`node bin/reeve.js ${rest}`.padEnd(64)} # ${what}`);
  say('');
}

async function bringUp(): Promise<number> {
  const stop = new Stop();
  say(
    `${existsSync(kubeconfig) ? 'Starting again' : 'Starting'}\n\n$ reeve up --data ${relative(process.cwd(), data) || data}`,
  );
  const plane = await KeptPlane.start(data, say);
  // Somebody else has the folder, or it cannot be used: nothing of it is ours to end.
  if (typeof plane === 'number') return plane;
  void stop.asked.then(() => plane.toEnd());
  let code = 1;
  try {
    code = stop.isAsked ? 0 : await show(plane, stop);
  } finally {
    plane.toEnd();
    const ended = await down(stop);
    code ||= ended;
    // If it does not end, that was said.
    plane.leave();
  }
  return code;
}

async function show(plane: KeptPlane, stop: Stop): Promise<number> {
  const over = plane.keep();
  const applied = await reeve('apply', '-f', manifest);
  if (applied !== 0) return applied;
  const runs = await Promise.race([follow(plane, stop), stop.asked.then(() => undefined)]);
  if (runs === undefined || stop.isAsked) return 0;
  const shown = await reeve('get', 'redisclusters,pods');
  if (!runs || shown !== 0) return 1;
  howToGoOn();
  if (values.once) return 0;
  say('Ctrl-C ends all of it; the next `npm start` goes on with the data.');
  return await Promise.race([stop.asked.then(() => 0), over]);
}

process.exitCode = await bringUp();
