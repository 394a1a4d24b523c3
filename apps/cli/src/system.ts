/** The command line's outside world for real: the terminal, signals, name resolution, servers. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { connectRedis } from '@reeve/redis';
import { giveWay, systemPorts, systemSecret } from '@reeve/runtime';
import type { Io } from './io.ts';

const DEFAULT_COLUMNS = 80;

/**
 * A line from the terminal. A visible answer is left to the terminal itself, with its own echo and editing. For a secret
 * readline takes over, with nowhere to write; the question comes after that, so that not even a fast typist is echoed.
 */
function ask(
  question: string,
  { secret, signal }: { readonly secret: boolean; readonly signal: AbortSignal },
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const nowhere = new Writable({ write: (_chunk, _encoding, written) => written() });
    const lines = createInterface({ input: process.stdin, output: nowhere, terminal: secret });
    const onAbort = () => lines.close();
    let answer: string | undefined;
    signal.addEventListener('abort', onAbort, { once: true });
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    // While readline has the terminal, Ctrl-C is a key and no signal.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.once('close', () => {
      signal.removeEventListener('abort', onAbort);
      if (secret || answer === undefined) process.stderr.write('\n');
      if (signal.aborted) reject(signal.reason as Error);
      else resolve(answer);
    });
    process.stderr.write(question);
  });
}

async function* input(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  signal.throwIfAborted();
  // One that is still being read would keep this process.
  const letGo = () => void process.stdin.destroy();
  signal.addEventListener('abort', letGo, { once: true });
  try {
    for await (const chunk of process.stdin) yield chunk as Buffer;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', letGo);
  }
  signal.throwIfAborted();
}

const streams = { out: process.stdout, err: process.stderr } as const;

async function pass(to: keyof typeof streams, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  const stream = streams[to];
  if (stream.write(bytes)) return;
  try {
    await once(stream, 'drain', { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

export const systemIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  pass,
  outIsTerminal: process.stdout.isTTY === true,
  errIsTerminal: process.stderr.isTTY === true,
  inIsTerminal: process.stdin.isTTY === true,
  // 0 where the terminal does not tell.
  columns: () => process.stderr.columns || DEFAULT_COLUMNS,
  env: process.env,
  ask,
  input,
  onInterrupt(listener) {
    process.on('SIGINT', listener);
    process.on('SIGTERM', listener);
    return () => {
      process.off('SIGINT', listener);
      process.off('SIGTERM', listener);
    };
  },
  exitNow: (code) => process.exit(code),
  giveWay,
  async resolve(host) {
    if (isIP(host) !== 0) return host;
    try {
      return (await lookup(host, { order: 'ipv4first' })).address;
    } catch {
      return undefined; // the caller names the host in its error
    }
  },
  ports: systemPorts,
  connect: (options) => connectRedis(options, systemPorts),
  newPassword: systemSecret,
  async connectApi(options) {
    // Whoever works on Redis alone does without it.
    const { connect, systemKubePorts } = await import('@reeve/kube');
    return connect(systemKubePorts(), options);
  },
};
