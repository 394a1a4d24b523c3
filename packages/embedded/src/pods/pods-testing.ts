/** A server with a pod, and somebody who runs it as a test says. */
import type { AnyObject } from '@reeve/kube';
import type { MessageSocket } from '../websocket/message-socket.ts';
import { openServer, pods } from '../server/server-testing.ts';
import type { ServerOptions } from '../server/server.ts';
import type { ExecStreams, PodAccess, PodContainer, PodLogOptions } from './pod-access.ts';

/** What was asked of it. */
export interface Asked {
  readonly at: PodContainer;
  readonly options?: PodLogOptions;
  readonly command?: readonly string[];
}

export class FakePods implements PodAccess {
  readonly asked: Asked[] = [];
  readonly ended: unknown[] = [];
  lines: () => AsyncIterable<Uint8Array> = async function* () {};
  run: (streams: ExecStreams, signal: AbortSignal) => Promise<number> = async () => 0;

  async logs(at: PodContainer, options: PodLogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    this.asked.push({ at, options });
    signal.addEventListener('abort', () => this.ended.push(signal.reason));
    return this.lines();
  }

  async exec(at: PodContainer, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number> {
    this.asked.push({ at, command });
    return this.run(streams, signal);
  }
}

export const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
export const ended = { terminated: { exitCode: 0, containerID: 'reeve://1' } };

export const container = (name: string) => ({ name, image: 'host' });

export async function openPods(options: Partial<ServerOptions> = {}) {
  const fake = new FakePods();
  const opened = await openServer({ pods: fake, ...options });
  const api = opened.of(pods);
  const create = async (name: string, containers: readonly object[], states: Readonly<Record<string, object>>) => {
    const spec = { nodeName: 'node-1', containers };
    const made = await api.create({ metadata: { name }, spec } as unknown as AnyObject);
    const statuses = Object.entries(states).map(([of, said]) => ({ name: of, image: 'host', ...said }));
    const value = { status: { phase: 'Running', containerStatuses: statuses } };
    await api.patch(name, { type: 'merge', value }, { subresource: 'status' });
    return made;
  };
  return { ...opened, fake, create };
}

/** The other end of a socket, in memory. */
export class FakeSocket implements MessageSocket {
  readonly sent: Buffer[] = [];
  readonly closed: number[] = [];
  /** To be read once. */
  readonly messages: AsyncIterable<Buffer>;
  readonly #gone = new AbortController();

  /** @param incoming what the client says, before it falls silent */
  constructor(...incoming: readonly Buffer[]) {
    this.messages = this.#read(incoming);
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  leave(): void {
    this.#gone.abort(new Error('gone'));
  }

  async send(payload: Uint8Array): Promise<void> {
    this.sent.push(Buffer.from(payload));
  }

  close(code: number): void {
    this.closed.push(code);
    this.leave();
  }

  /** What came on a channel, as text. */
  on(channel: number): string {
    return Buffer.concat(this.sent.filter(([of]) => of === channel).map((one) => one.subarray(1))).toString();
  }

  async *#read(incoming: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
    yield* incoming;
    if (!this.gone.aborted) await new Promise((resolve) => this.gone.addEventListener('abort', resolve));
  }
}
