/** `pods/exec`: a command in a container, its streams over the channels of a WebSocket. */
import type { Status } from '@reeve/kube';
import { textOf } from '../object/draft.ts';
import { badRequest, internalError } from '../status/refusal.ts';
import { CLOSE } from '../websocket/frames.ts';
import type { MessageSocket } from '../websocket/message-socket.ts';
import { CHANNEL, type ChannelProtocol, message, readMessage } from './channels.ts';
import { containerOf, isRunning } from './container.ts';
import { type ExecQuery, readExecQuery } from './exec-options.ts';
import type { Found } from './find.ts';
import type { PodAccess, PodContainer } from './pod-access.ts';

/** A command that may be run, before anybody listens. */
export interface PreparedExec {
  readonly at: PodContainer;
  readonly query: ExecQuery;
}

/** Throws what the client is told before the connection becomes anything else. */
export function prepareExec({ pod, namespace, node }: Found, query: URLSearchParams): PreparedExec {
  const name = textOf(pod.metadata.name);
  const asked = readExecQuery(query);
  const container = containerOf(pod, asked.container);
  if (node === '') throw badRequest(`pod ${name} does not have a host assigned`);
  if (!isRunning(pod, container)) {
    throw internalError(`unable to upgrade connection: container not found (${JSON.stringify(container)})`);
  }
  return { at: { namespace, name, uid: textOf(pod.metadata.uid), node, container }, query: asked };
}

/** Runs it to its end, or until the client or the server goes. Never rejects. */
export async function runExec(
  access: PodAccess,
  { at, query }: PreparedExec,
  protocol: ChannelProtocol,
  socket: MessageSocket,
  closing: AbortSignal,
): Promise<void> {
  const { stdin, stdout, stderr, command } = query;
  const stop = AbortSignal.any([socket.gone, closing]);
  const writer = (channel: number, isWanted: boolean) =>
    isWanted ? (chunk: Uint8Array) => socket.send(message(channel, chunk)) : undefined;
  // By this the client knows that it is connected, also when nothing is ever written.
  const first = stdout ? CHANNEL.stdout : stderr ? CHANNEL.stderr : CHANNEL.error;
  await socket.send(message(first, new Uint8Array()));
  const input = inputOf(protocol, socket);
  const streams = {
    stdin: stdin ? input : undefined,
    stdout: writer(CHANNEL.stdout, stdout),
    stderr: writer(CHANNEL.stderr, stderr),
  };
  if (!stdin) void drain(input);
  const status = await access.exec(at, command, streams, stop).then(exitStatus, failedStatus);
  if (!stop.aborted) await socket.send(message(CHANNEL.error, Buffer.from(JSON.stringify(status))));
  socket.close(closing.aborted ? CLOSE.goingAway : CLOSE.normal);
}

async function* inputOf(protocol: ChannelProtocol, socket: MessageSocket): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const bytes of socket.messages) {
    const read = readMessage(protocol, bytes);
    if (read.type === 'end-of-input') return;
    if (read.type === 'input') yield read.data;
  }
}

/** What nobody reads is thrown away: pings must still be answered. */
async function drain(input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of input);
}

/** How a command ended, in the form in which the kubelet says it. */
export type ExecStatus = Omit<Status, 'kind' | 'apiVersion'>;

/** Clients read the code out of it. */
export function exitStatus(code: number): ExecStatus & { readonly metadata: object } {
  if (code === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

function failedStatus(error: unknown): ExecStatus {
  const why = error instanceof Error ? error.message : String(error);
  return internalError(`error executing command in container: ${why}`).status;
}
