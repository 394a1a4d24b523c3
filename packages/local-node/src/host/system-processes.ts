/** Processes of this machine. What `/proc` says costs no disk, so it is read at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import type { LaunchRequest, Processes, ProcessRow, RunRequest, RunResult, StreamRequest } from './host.ts';
import { parseDatagramListeners, parseListeners, parsePortRange } from './listeners.ts';
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
  listeners() {
    const read = (table: string): string => readProc(`/proc/net/${table}`) ?? '';
    // Unknown is as if all were given by the kernel: nobody is taken for a server by mistake.
    const given = parsePortRange(readProc('/proc/sys/net/ipv4/ip_local_port_range') ?? '0 65535');
    return [
      ...['tcp', 'tcp6'].flatMap((table) => parseListeners(read(table))),
      ...['udp', 'udp6'].flatMap((table) => parseDatagramListeners(read(table), given)),
    ];
  },
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
    return outcomeOf(begin(request), request);
  },
  stream: (request) => streamOf(begin(request), request),
};

function begin({ signal, argv: [program, ...args], env, folder }: LaunchRequest & { readonly signal: AbortSignal }) {
  signal.throwIfAborted();
  return spawn(program, args, {
    env,
    cwd: folder,
    detached: true, // so that its whole group can be ended
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Ends it with its group when the signal says so. What is returned takes that back. */
function endingWith(child: ChildProcess, signal: AbortSignal): Disposable {
  const stop = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      child.kill('SIGKILL'); // the group is gone, or not made yet
    }
  };
  signal.addEventListener('abort', stop, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', stop) };
}

/** As a shell counts: 128 and the signal's number if a signal ended it. */
async function exitOf(child: ChildProcess): Promise<number> {
  const [code, name] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (name === null ? 0 : constants.signals[name]);
}

async function outcomeOf(child: ChildProcess, { signal, mostBytes, input }: RunRequest): Promise<RunResult> {
  using _ending = endingWith(child, signal);
  try {
    const stdout = collect(child.stdout, mostBytes ?? MOST_BYTES);
    const stderr = collect(child.stderr, mostBytes ?? MOST_BYTES);
    child.stdin?.on('error', () => undefined); // it may end without reading
    child.stdin?.end(input ?? '');
    const code = await exitOf(child);
    signal.throwIfAborted();
    return {
      code,
      stdout: await textOf(child.stdout, stdout, signal),
      stderr: await textOf(child.stderr, stderr, signal),
    };
  } finally {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

async function streamOf(child: ChildProcess, { signal, input, output }: StreamRequest): Promise<number> {
  using _ending = endingWith(child, signal);
  try {
    child.stdin?.on('error', () => undefined);
    const exited = exitOf(child);
    const passOn = async (name: 'stdout' | 'stderr'): Promise<void> => {
      for await (const chunk of child[name] ?? []) await output(name, chunk as Buffer);
    };
    const outputs = Promise.all([passOn('stdout'), passOn('stderr')]);
    outputs.catch(() => undefined); // looked at below, if it lives to be
    if (child.stdin) void feed(child.stdin, input).catch(() => child.stdin?.destroy());
    const code = await exited;
    signal.throwIfAborted();
    // A grandchild may keep the pipes open: then the signal ends the waiting.
    await Promise.race([outputs, aborted(signal)]);
    return code;
  } finally {
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** No faster than it reads. */
async function feed(stdin: Writable, input: AsyncIterable<Uint8Array> | undefined): Promise<void> {
  for await (const chunk of input ?? []) {
    if (!stdin.writable) return;
    if (!stdin.write(chunk)) await once(stdin, 'drain');
  }
  stdin.end();
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
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
