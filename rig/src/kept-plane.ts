/**
 * The control plane of `npm start`. Whatever is killed comes back: pods by their control plane, and the control plane by this. One that
 * was ended in order (Ctrl-C, `reeve down` from another terminal) is not begun again, nor any once all of it is to end: a second Ctrl-C
 * ends a control plane that is closing with another code.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { REEVE } from './reeve.ts';
import { upLines } from './up-lines.ts';

const LOOK_EVERY_MS = 50;

export class KeptPlane {
  readonly #data: string;
  readonly #say: (line: string) => void;
  #child: ChildProcess;
  #isToEnd = false;
  isOver = false;

  private constructor(data: string, say: (line: string) => void, child: ChildProcess) {
    this.#data = data;
    this.#say = say;
    this.#child = child;
  }

  /** One that is ready, or the exit code of one that could not start: somebody else has the folder, or it cannot be used. */
  static async start(data: string, say: (line: string) => void): Promise<KeptPlane | number> {
    const { child, isReady } = spawnPlane(data, say);
    return (await isReady) ? new KeptPlane(data, say, child) : (child.exitCode ?? 1);
  }

  /** Until it has ended in order, or does not come back. Its exit code. */
  async keep(): Promise<number> {
    for (;;) {
      const { signal, code } = await endOf(this.#child);
      if (code === 0 || this.#isToEnd) return this.#over(0);
      this.#say(
        `\nThe control plane has ended (${signal ?? `exit code ${code}`}). Its pods go on; it is started again.\n`,
      );
      const next = spawnPlane(this.#data, this.#say);
      this.#child = next.child;
      if (!(await next.isReady) && !this.#isToEnd) return this.#over(next.child.exitCode ?? 1);
    }
  }

  /** From now on nothing is begun again. */
  toEnd(): void {
    this.#isToEnd = true;
  }

  #over(code: number): number {
    this.isOver = true;
    return code;
  }

  /** If it does not end, it is not waited for. */
  leave(): void {
    this.#child.unref();
    this.#child.stdout?.destroy();
  }
}

interface Spawned {
  readonly child: ChildProcess;
  /** False: it ended before, and not because it was asked to. Stopped while it started, it may have begun pods, which are ours to end. */
  readonly isReady: Promise<boolean>;
}

function spawnPlane(data: string, say: (line: string) => void): Spawned {
  const child = spawn(process.execPath, [REEVE, 'up', '--data', data], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  const pass = upLines(say);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
    pass(text);
  });
  const ready = async (): Promise<boolean> => {
    while (!told.includes('Ctrl-C') && !hasEnded(child)) await sleep(LOOK_EVERY_MS, undefined, { ref: false }); // the child keeps us here
    return !hasEnded(child) || child.exitCode === 0;
  };
  return { child, isReady: ready() };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

async function endOf(child: ChildProcess): Promise<{ readonly signal: string | null; readonly code: number | null }> {
  if (!hasEnded(child)) await once(child, 'exit');
  return { signal: child.signalCode, code: child.exitCode };
}
