/** The product as its users run it: `bin/reeve.js` in a process of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Finished, run } from './binaries/run.ts';
import type { Access, Endpoint } from './servers/connection.ts';
import { temporaryFolder } from './servers/process.ts';
import type { Certificates } from './servers/tls.ts';

export const REEVE = fileURLToPath(new URL('../../bin/reeve.js', import.meta.url));

export interface ReeveOptions {
  readonly access?: Access;
  readonly tls?: Certificates;
  readonly timeoutMs?: number;
  /** Journals go here. Default: a temporary folder, so that runs leave nothing in the user's own. */
  readonly stateFolder?: string;
}

export interface ReeveRun extends Finished {
  /** The JSON document of `--json`, if it printed one. */
  readonly json: Record<string, unknown> | undefined;
  readonly seconds: number;
}

let shared: string | undefined;

/** Arguments that let the command in. A password goes by file, never by argument. */
export function accessArguments({ access, tls }: ReeveOptions): readonly string[] {
  const args: string[] = [];
  if (access?.username !== undefined) args.push('--user', access.username);
  if (access?.password !== undefined) {
    const file = join(temporaryFolder('password'), 'password');
    writeFileSync(file, `${access.password}\n`, { mode: 0o600 });
    args.push('--password-file', file);
  }
  if (tls) args.push('--tls', '--cacert', tls.caFile, '--cert', tls.certFile, '--key', tls.keyFile);
  return args;
}

/** `reeve redis VERB …` with the given options; JSON is parsed when asked for with `--json`. */
export async function reeveRedis(args: readonly string[], options: ReeveOptions = {}): Promise<ReeveRun> {
  shared ??= temporaryFolder('state');
  const began = performance.now();
  const finished = await run(process.execPath, [REEVE, 'redis', ...args, ...accessArguments(options)], {
    env: { XDG_STATE_HOME: options.stateFolder ?? shared, NO_COLOR: '1' },
    timeoutMs: options.timeoutMs ?? 300_000,
  });
  return { ...finished, json: parse(finished.stdout), seconds: (performance.now() - began) / 1000 };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export function addressOf({ host, port }: Endpoint): string {
  return `${host}:${port}`;
}
