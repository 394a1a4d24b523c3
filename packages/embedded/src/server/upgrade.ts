/** A connection that is to become a WebSocket: it does, or gets an answer like any other request. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TransportRequest, TransportResponse } from '@reeve/kube';
import type { ClientCertificate } from '../access/access.ts';
import { badRequest } from '../status/refusal.ts';
import { acceptText, handshakeProblem, isWebSocket } from '../websocket/handshake.ts';
import { type Upgraded, WebSocketConnection } from '../websocket/message-socket.ts';
import { answerError } from './answer.ts';
import { headOf, type ReceiveOptions, send } from './exchange.ts';

// As in http.ts: an import would load more than it needs.
const { ServerResponse } = process.getBuiltinModule('node:http');

type Answers<T> = (request: TransportRequest, certificate?: ClientCertificate) => Promise<T>;

export interface UpgradeOptions extends ReceiveOptions {
  readonly handle: Answers<TransportResponse>;
  readonly connect: Answers<TransportResponse | Upgraded>;
  certificateOf(socket: Socket): ClientCertificate | undefined;
  readonly onError?: (error: unknown) => void;
}

export async function upgrade(
  message: IncomingMessage,
  socket: Socket,
  head: Buffer,
  options: UpgradeOptions,
): Promise<void> {
  const gone = new AbortController();
  socket.on('error', () => undefined); // its end is told by the close
  socket.once('close', () => gone.abort(new Error('the client went away')));
  const answer = await answerOf(message, socket, options, gone.signal);
  if (gone.signal.aborted) return;
  if (!('run' in answer)) return respond(message, socket, answer, gone.signal);
  socket.setNoDelay(true);
  socket.write(acceptText(message.headers, answer.protocol));
  await answer.run(new WebSocketConnection(socket, head));
}

/** Nobody from another place, as with any request: a page can open a WebSocket to wherever it likes, and must say where it comes from. */
async function answerOf(
  message: IncomingMessage,
  socket: Socket,
  options: UpgradeOptions,
  signal: AbortSignal,
): Promise<TransportResponse | Upgraded> {
  try {
    const request = { ...headOf(message, options), signal };
    const certificate = options.certificateOf(socket);
    if (!isWebSocket(message.headers)) return await options.handle(request, certificate);
    const problem = handshakeProblem(message.headers);
    if (problem !== undefined) throw badRequest(problem);
    return await options.connect(request, certificate);
  } catch (error) {
    return answerError(error, options.onError ?? (() => undefined));
  }
}

/** The connection ends with it: what comes over it next could be anything. */
async function respond(
  message: IncomingMessage,
  socket: Socket,
  answer: TransportResponse,
  signal: AbortSignal,
): Promise<void> {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  await send(answer, response, signal);
}
