/** Two managers in processes of their own, and rounds in which the leading one is stopped past its lease and resumed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Connection, connect, systemKubePorts } from '@reeve/kube';
import { type Kube, until } from '@reeve/rig';
import { fence, leases, policies, policyBindings } from '@reeve/runtime/manager';
import { Judge } from './judge.ts';
import { carrier, LEASE, MANAGER, manifests, things } from './kinds.ts';

export interface PauseOptions {
  readonly random: () => number;
  /** Default true. Without the fence stale writes must be seen, or this proof proves nothing. */
  readonly fenced?: boolean;
}

export interface RoundResult {
  readonly paused: string;
  /** From the stop to the Lease in other hands. */
  readonly takenAfterMs: number;
  /** When it was resumed. */
  readonly resumed: 'at the take-over' | 'after the first writes' | 'later';
  readonly writes: number;
}

const KEYS = 8;
const PATIENCE = { timeoutMs: 60_000, everyMs: 5 };
const RESUMES = ['at the take-over', 'after the first writes', 'later'] as const;

export class PauseWorld implements AsyncDisposable {
  readonly judge: Judge;
  readonly #connection: Connection;
  readonly #children = new Map<string, ChildProcess>();
  readonly #random: () => number;
  readonly #refusals = new Map<string, number>();

  private constructor(connection: Connection, judge: Judge, random: () => number) {
    this.#connection = connection;
    this.judge = judge;
    this.#random = random;
  }

  static async open(kube: Kube, { random, fenced = true }: PauseOptions): Promise<PauseWorld> {
    const user = await kube.user({ name: MANAGER.username });
    await kube.kubectl(['apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }),
    });
    const connection = await connect(systemKubePorts(), { file: kube.kubeconfig });
    const { client } = connection;
    await client.resource(leases, LEASE.namespace).create({ metadata: LEASE, spec: { leaseTransitions: 0 } });
    if (fenced) await raise(connection);
    const ofThings = client.resource(things, 'default');
    await until('the kind is served', () => ofThings.list());
    for (let key = 0; key < KEYS; key++) await ofThings.create({ metadata: { name: `t${key}` } });
    const world = new PauseWorld(connection, await Judge.watch(client), random);
    // One that sees how long it was away, and one whose clock stood still meanwhile.
    const rule = fenced ? 'fenced' : 'unfenced';
    for (const [identity, sight] of [
      ['a', 'clear'],
      ['b', 'blind'],
    ] as const) {
      world.#start(identity, [user.kubeconfig, identity, rule, fenced ? sight : 'blind']);
    }
    try {
      await until('the first writes', () => world.judge.count > 20, PATIENCE);
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** How often writes were refused after a process was resumed, by who refused them: the client, the server. */
  get refusals(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#refusals);
  }

  async round(): Promise<RoundResult> {
    const { judge } = this;
    const before = judge.count;
    const settled = judge.term;
    await until('the leader writes', () => judge.writesOf(settled) > 10 || judge.term !== settled, PATIENCE);
    await pause(this.#random() * 700);
    const paused = judge.holder;
    const child = this.#children.get(paused);
    if (!child) throw new Error(`nobody leads: ${paused}`);
    const term = judge.term;
    child.kill('SIGSTOP');
    const stoppedAt = performance.now();
    const resumed = RESUMES[Math.floor(this.#random() * RESUMES.length)] ?? 'later';
    try {
      await until(
        'the other leads',
        () => judge.term > term && judge.holder !== '' && judge.holder !== paused,
        PATIENCE,
      );
      const takenAfterMs = performance.now() - stoppedAt;
      if (resumed !== 'at the take-over') {
        const isBegun = () => judge.writesOf(judge.term) > 0;
        await until('the new leader writes', isBegun, PATIENCE);
      }
      if (resumed === 'later') await pause(this.#random() * 1_000);
      child.kill('SIGCONT');
      await until('the new leader goes on', () => judge.writesOf(judge.term) > 20, PATIENCE);
      await pause(500);
      return { paused, takenAfterMs, resumed, writes: judge.count - before };
    } finally {
      child.kill('SIGCONT');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    await this.judge[Symbol.asyncDispose]();
    this.#connection.close();
  }

  #start(identity: string, args: readonly string[]): void {
    const program = fileURLToPath(new URL('./child.ts', import.meta.url));
    const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#children.set(identity, child);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.#refusals.set(line, (this.#refusals.get(line) ?? 0) + 1);
    });
    child.once('exit', (code, signal) => {
      if (signal !== 'SIGKILL') this.judge.problem(`process ${identity} ended with ${signal ?? code}`);
    });
  }
}

async function raise({ client }: Connection): Promise<void> {
  const { policy, binding } = fence(
    {
      name: 'reeve-fence',
      lease: LEASE,
      username: MANAGER.username,
      rules: [
        { apiGroups: [things.group], resources: ['things', 'things/*'] },
        { apiGroups: [''], resources: ['configmaps'] },
      ],
    },
    carrier,
  );
  await client.resource(policies).apply(policy);
  await client.resource(policyBindings).apply(binding);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
