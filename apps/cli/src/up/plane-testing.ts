/** A control plane as a user has it, for tests: a process, a kubeconfig, pods that are processes and outlive it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connect, type Connection, systemKubePorts } from '@reeve/kube';
import { REEVE, temporaryFolder, until } from '@reeve/rig';

export const PATIENCE = { timeoutMs: 60_000 };

export class Machine {
  readonly data = join(temporaryFolder('reeve-up'), 'data');
  /** All that the control plane of now has said. */
  said = '';
  #plane: ChildProcess | undefined;
  #connection: Connection | undefined;

  static start(t: TestContext): Machine {
    const machine = new Machine();
    t.after(() => machine.end());
    return machine;
  }

  async up(...args: readonly string[]): Promise<string> {
    const plane = spawn(process.execPath, [REEVE, 'up', '--data', this.data, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#plane = plane;
    this.said = '';
    for (const stream of [plane.stdout, plane.stderr])
      stream.setEncoding('utf8').on('data', (text) => (this.said += text));
    await until(
      'the control plane says how to go on',
      () => {
        assert.equal(plane.exitCode, null, this.said);
        return Promise.resolve(this.said.includes('Ctrl-C'));
      },
      PATIENCE,
    );
    return this.said;
  }

  /** When somebody else ends it: its exit code. */
  async ended(): Promise<number | null> {
    const plane = this.#plane;
    this.#disconnect();
    this.#plane = undefined;
    const [code] = plane ? ((await once(plane, 'close')) as [number | null]) : [null];
    return code;
  }

  async down(signal: NodeJS.Signals): Promise<number | null> {
    this.#disconnect();
    if (!this.#plane) return null;
    const ended = once(this.#plane, 'exit');
    this.#plane.kill(signal);
    const [code] = (await ended) as [number | null];
    this.#plane = undefined;
    return code;
  }

  #disconnect(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  async client() {
    return (await this.connection()).client;
  }

  async connection(): Promise<Connection> {
    this.#connection ??= await connect(systemKubePorts(), { file: join(this.data, 'kubeconfig') });
    return this.#connection;
  }

  /** Processes that belong to pods of this folder. Programs that give themselves a title write over their environment. */
  processes(): readonly number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
      .filter(
        (pid) =>
          readOr(`/proc/${pid}/environ`).includes(`=${this.data}`) ||
          readOr(`/proc/${pid}/mountinfo`).includes(this.data) ||
          folderOf(pid).startsWith(`${this.data}/`),
      );
  }

  /** Without those that come and go by themselves: a shell that is about to become a `sleep` is not seen twice. */
  async lasting(): Promise<readonly number[]> {
    let before: readonly number[] = [];
    return until('two looks see the same', () => {
      const now = this.processes().filter((pid) => readOr(`/proc/${pid}/comm`).trim() !== 'sleep');
      const isSame = now.join() === before.join();
      before = now;
      return isSame && now;
    });
  }

  async end(): Promise<void> {
    await this.down('SIGKILL');
    await until(
      'no process is left',
      () => {
        for (const pid of this.processes()) tryToKill(pid);
        return Promise.resolve(this.processes().length === 0);
      },
      PATIENCE,
    );
  }
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ''; // it has just ended
  }
}

export function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has just ended
  }
}

export function tryToKill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has just ended
  }
}
