/** The tool under proof, as a user runs it: a process of its own, which can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '@reeve/rig';

const REEVE = join(import.meta.dirname, '..', '..', 'bin', 'reeve.js');

export interface ToolResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Tool {
  readonly #child: ChildProcess;
  readonly result: Promise<ToolResult>;
  #ended = false;

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, [REEVE, 'redis', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
    this.result = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#ended = true;
        resolve({ code, signal, stdout, stderr });
      });
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  kill9(): void {
    this.#child.kill('SIGKILL');
  }
}

export function address(endpoint: Endpoint): string {
  return `${endpoint.host}:${endpoint.port}`;
}

/** Runs the tool to its end; throws with all it said if it did not end with 0. */
export async function reeve(...args: readonly string[]): Promise<ToolResult> {
  const result = await new Tool(args).result;
  if (result.code !== 0) {
    throw new Error(
      `reeve redis ${args.join(' ')} → ${result.code ?? result.signal}\n${result.stdout}\n${result.stderr}`,
    );
  }
  return result;
}

/** Waits until the operation has begun (its journal is there), or the tool ended. */
export async function begun(tool: Tool, journal: string): Promise<void> {
  while (!tool.ended && !existsSync(journal)) await new Promise((resolve) => setTimeout(resolve, 2));
}

export function journalLines(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

export const MOST_RESUMES = 6;

export interface Resumed {
  readonly resumes: number;
  /** What the tool said last when it did not reach its goal. */
  readonly said?: string;
}

/** Resumes until the goal is reached, or a person must decide. Only what the tool itself calls temporary may need more than one. */
export async function resume(verb: string, journal: string): Promise<Resumed> {
  let said = '';
  for (let resumes = 1; resumes <= MOST_RESUMES; resumes++) {
    const result = await new Tool([verb, '--resume', journal, '--wait-limit', '60', '--json']).result;
    if (result.code === 0) return { resumes };
    said = `${result.stdout}\n${result.stderr}`;
    if (said.includes('KEY_CONFLICT')) return { resumes, said };
  }
  return { resumes: MOST_RESUMES, said };
}
