/** A program the rig can start: how, and where it came from. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './run.ts';

export interface Program {
  /** `valkey-server 9.1.2`, for tables and messages. */
  readonly name: string;
  readonly version: string;
  /** `PATH`, `PyPI wheel`, `Debian sid` … */
  readonly origin: string;
  readonly command: string;
  /** Arguments before its own: the dynamic loader's, where the program brings its own C library. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** All of its files lie below this folder; undefined: the system's own. */
  readonly folder?: string;
  /** Whether it was built with TLS. */
  readonly tls: boolean;
}

export function runProgram(program: Program, args: readonly string[], timeoutMs = 60_000) {
  return run(program.command, [...program.prefix, ...args], { env: program.env, timeoutMs });
}

export function findOnPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      continue;
    }
  }
  return undefined;
}

/** `Valkey server v=9.1.2 …`, `Redis server v=7.0.15 …`, `redis-cli 7.0.15`, `valkey-cli 9.1.2`. */
export function parseVersion(text: string): { product: 'valkey' | 'redis'; version: string } | undefined {
  const match = /(valkey|redis)\b.*?(\d+\.\d+\.\d+)/i.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  return { product: match[1].toLowerCase() === 'valkey' ? 'valkey' : 'redis', version: match[2] };
}

/** The program on PATH, if it answers `--version` with the product and an accepted major version. */
export async function programOnPath(
  name: string,
  product: 'valkey' | 'redis',
  acceptMajor: (major: number) => boolean,
): Promise<Program | undefined> {
  const command = findOnPath(name);
  if (!command) return undefined;
  const found = parseVersion((await run(command, ['--version'])).stdout);
  if (found?.product !== product || !acceptMajor(Number.parseInt(found.version, 10))) return undefined;
  const program = {
    name: `${name} ${found.version}`,
    version: found.version,
    origin: 'PATH',
    command,
    prefix: [],
    env: {},
  };
  return { ...program, tls: await hasTls(program) };
}

/** A build without TLS refuses a `tls-port` at once; one with TLS complains about the missing certificate. */
export async function hasTls(program: Omit<Program, 'tls'>): Promise<boolean> {
  if (!program.command.includes('server') && !program.prefix.some((part) => part.includes('server'))) {
    return (await run(program.command, [...program.prefix, '--help'], { env: program.env })).stdout.includes('--tls');
  }
  const args = [...program.prefix, '--port', '0', '--tls-port', '1', '--tls-cert-file', '/nonexistent'];
  const { stdout } = await run(program.command, args, { env: program.env, timeoutMs: 5000, cwd: '/' });
  return stdout !== '' && !/Missing implement of connection type tls|Failed finding TLS support/.test(stdout);
}
