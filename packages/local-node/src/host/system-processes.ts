/** Processes of this machine. What `/proc` says costs no disk, so it is read at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import type { Processes, ProcessRow, RunRequest, RunResult } from './host.ts';
import { parseListeners } from './listeners.ts';
import { parseEnvironment, parseStat } from './process-table.ts';

const MOST_BYTES = 1 << 20;

/** Whatever goes wrong while reading `/proc` means that the process is gone or somebody else's. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function find(pid: number): ProcessRow | undefined {
  const line = readProc(`/proc/${pid}/stat`);
  return line === undefined ? undefined : parseStat(line);
}

export const systemProcesses: Processes = {
  bootId: async () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  self() {
    const { pid, startTime } = find(process.pid) ?? { pid: process.pid, startTime: '' };
    return { pid, startTime };
  },
  find,
  all() {
    const rows: ProcessRow[] = [];
    for (const name of readdirSync('/proc')) {
      const row = /^\d+$/.test(name) ? find(Number(name)) : undefined;
      if (row) rows.push(row);
    }
    return rows;
  },
  environment(pid) {
    const text = readProc(`/proc/${pid}/environ`);
    return text === undefined ? undefined : parseEnvironment(text);
  },
  sockets(pid) {
    const inodes: string[] = [];
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
        if (inode !== undefined) inodes.push(inode);
      }
    } catch {
      return inodes; // it ended while we looked
    }
    return inodes;
  },
  listeners: () => [
    ...parseListeners(readProc('/proc/net/tcp') ?? ''),
    ...parseListeners(readProc('/proc/net/tcp6') ?? ''),
  ],
  signal(id, signal) {
    const row = find(id.pid);
    if (!row || row.startTime !== id.startTime || row.isZombie) return false;
    try {
      return process.kill(id.pid, signal);
    } catch {
      return false;
    }
  },
  async launch({ argv: [program, ...args], env, folder }, ended) {
    const child = spawn(program, args, { env, cwd: folder, detached: true, stdio: 'ignore' });
    child.once('exit', ended);
    await once(child, 'spawn');
    child.unref();
  },
  async run(request) {
    request.signal.throwIfAborted();
    const [program, ...args] = request.argv;
    const child = spawn(program, args, {
      env: request.env,
      cwd: request.folder,
      detached: true, // so that its whole group can be ended
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return outcomeOf(child, request);
  },
};

async function outcomeOf(child: ChildProcess, { signal, mostBytes, input }: RunRequest): Promise<RunResult> {
  const stop = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      child.kill('SIGKILL'); // the group is gone, or not made yet
    }
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const stdout = collect(child.stdout, mostBytes ?? MOST_BYTES);
    const stderr = collect(child.stderr, mostBytes ?? MOST_BYTES);
    child.stdin?.on('error', () => undefined); // it may end without reading
    child.stdin?.end(input ?? '');
    const [code, name] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    return {
      code: code ?? 128 + (name === null ? 0 : constants.signals[name]),
      stdout: await textOf(child.stdout, stdout, signal),
      stderr: await textOf(child.stderr, stderr, signal),
    };
  } finally {
    signal.removeEventListener('abort', stop);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function collect(stream: NodeJS.ReadableStream | null, most: number): Buffer[] {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (size < most) chunks.push(chunk.subarray(0, most - size));
    size += chunk.length;
  });
  return chunks;
}

/** All that was written. A grandchild may keep the pipe open: then the signal ends the waiting. */
async function textOf(stream: ChildProcess['stdout'], chunks: readonly Buffer[], signal: AbortSignal): Promise<string> {
  if (stream && !stream.readableEnded) await once(stream, 'close', { signal });
  return Buffer.concat(chunks).toString('utf8');
}
