/** Runs the real program, as a user does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Server } from '@reeve/rig';

const program = fileURLToPath(new URL('../../../bin/reeve.js', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
}

/** `state`: where journals go by default. */
export function start(state: string, args: readonly string[], onOutput?: (text: string) => void): Running {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_STATE_HOME: state },
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    onOutput?.(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    onOutput?.(text);
  });
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, out, err }));
  });
  return { child, ended };
}

export function reeve(state: string, ...args: readonly string[]): Promise<Ran> {
  return start(state, args).ended;
}

export const address = ({ endpoint: { host, port } }: Server): string => `${host}:${port}`;
