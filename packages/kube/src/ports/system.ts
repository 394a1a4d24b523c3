/** The real ports, for programs that use the client alone: the one file of this package that touches clock and files. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import type { KubePorts, SpawnRequest, SpawnResult } from './ports.ts';

/** More than any credential needs; a plugin that writes without end is not read without end. */
const MOST_OUTPUT = 4 * 1024 * 1024;

function run({ command, args, env, interactive }: SpawnRequest): Promise<SpawnResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'] });
    const collect = (stream: NodeJS.ReadableStream): (() => string) => {
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MOST_OUTPUT) child.kill();
        else chunks.push(chunk);
      });
      return () => Buffer.concat(chunks).toString();
    };
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout: stdout(), stderr: stderr() }));
  });
}

/** A function because environment and terminal are looked at when it is called. */
export function systemKubePorts(): KubePorts {
  return {
    clock: {
      // Not Date.now(): a step of the wall clock must not move deadlines.
      now: () => performance.timeOrigin + performance.now(),
      sleep(ms, signal) {
        return new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason);
          const onAbort = () => {
            clearTimeout(timer);
            reject(signal?.reason);
          };
          const timer = setTimeout(
            () => {
              signal?.removeEventListener('abort', onAbort);
              resolve();
            },
            Math.max(0, ms),
          );
          signal?.addEventListener('abort', onAbort, { once: true });
        });
      },
    },
    random: { next: () => Math.random() },
    files: {
      async read(path) {
        try {
          return await readFile(path, 'utf8');
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
          throw error;
        }
      },
    },
    spawn: run,
    env: process.env,
    home: homedir(),
    interactive: process.stdin.isTTY === true,
  };
}

/** Pieces that follow each other faster than this come thick and fast. */
const THICK_MS = 20;
/** So long is then waited for more of them. */
const GATHER_MS = 10;

/**
 * When to take what comes in pieces: a lone piece as soon as all that has arrived was told; where they come thick and fast, together
 * with those of the next milliseconds. To wake all readers for each event of a busy watch costs more than the event does.
 */
export class Gathering {
  #lastAt = Number.NEGATIVE_INFINITY;

  /** Until all that has arrived was told. True: the last turn was a moment ago. */
  async turn(): Promise<boolean> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const now = performance.now();
    const isThick = now - this.#lastAt < THICK_MS;
    this.#lastAt = now;
    return isThick;
  }

  /** Until more has gathered. */
  rest(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  }
}
