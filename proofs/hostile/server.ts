/** The embedded server in a process of its own, requests to it as bytes, and what it costs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Without saying its length first. */
  readonly isChunked?: boolean;
  /** Default: the right one. Empty: none. */
  readonly token?: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

const TOKEN = 'the-token-of-this-proof';

export class HostedServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #url: URL;
  readonly #folder: string;
  readonly #agent: Agent;
  readonly #idle = new Set<Socket>();
  #isClosing = false;
  /** Idle connections that the server ended, and that were opened again. */
  reopened = 0;

  private constructor(child: ChildProcess, url: URL, folder: string, lanes: number) {
    this.#child = child;
    this.#url = url;
    this.#folder = folder;
    this.#agent = new Agent({ keepAlive: true, maxSockets: lanes });
  }

  static async start(lanes: number): Promise<HostedServer> {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-hostile-'));
    const program = fileURLToPath(new URL('../embedded/child.ts', import.meta.url));
    const child = spawn(process.execPath, [program, join(folder, 'store.db'), TOKEN], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await new Promise<string>((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('\n')) resolve(text);
      });
      child.once('exit', (code, signal) => reject(new Error(`the server ended with ${signal ?? code}`)));
    });
    return new HostedServer(child, new URL((JSON.parse(line) as { url: string }).url), folder, lanes);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** In MB: now, and at its highest. */
  memory(): { readonly now: number; readonly peak: number } {
    const text = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    const field = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024);
    return { now: field('VmRSS'), peak: field('VmHWM') };
  }

  /** Seconds of a processor that it has used so far. */
  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    // User and system time, in ticks of 10 ms.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  send({ method, path, headers = {}, body, isChunked = false, token = TOKEN }: Sent): Promise<Answer> {
    const started = performance.now();
    return new Promise((resolve, reject) => {
      const call = httpRequest({
        host: this.#url.hostname,
        port: this.#url.port,
        agent: this.#agent,
        method,
        path,
        headers: {
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(body === undefined || isChunked ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
      });
      call.setTimeout(60_000, () => call.destroy(new Error('no answer in 60 s')));
      call.once('error', reject);
      call.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            ms: performance.now() - started,
          }),
        );
      });
      call.end(body);
    });
  }

  /** Connections that say nothing, or only the beginning of something. Those that are ended are opened again. */
  idle(count: number): void {
    for (let at = 0; at < count; at++) this.#openIdle(at % 2 === 0 ? '' : 'GET /api/v1/pods HTTP/1.1\r\nHost: loc');
  }

  get idleConnections(): number {
    return [...this.#idle].filter((socket) => !socket.connecting).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#agent.destroy();
    for (const socket of this.#idle) socket.destroy();
    if (this.isRunning) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true });
  }

  #openIdle(beginning: string): void {
    const socket = connect(Number(this.#url.port), this.#url.hostname);
    this.#idle.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
    if (beginning !== '') socket.write(beginning);
    socket.once('close', () => {
      this.#idle.delete(socket);
      if (this.#isClosing || !this.isRunning) return;
      this.reopened++;
      this.#openIdle(beginning);
    });
  }
}
