/** Requests about what runs in pods: their logs, and commands in them. */
import type { TransportRequest, TransportResponse } from '@reeve/kube';
import type { Verdict } from '../access/access.ts';
import type { Connection } from '../kinds/kind.ts';
import type { Context, Target } from '../rest/context.ts';
import { badRequest, forbiddenRequest, methodNotAllowed } from '../status/refusal.ts';
import { isWebSocket, protocolsOf } from '../websocket/handshake.ts';
import type { Upgraded } from '../websocket/message-socket.ts';
import { chooseProtocol, PROTOCOLS } from './channels.ts';
import { prepareExec, runExec } from './exec.ts';
import { findPod } from './find.ts';
import { readPodLog } from './log.ts';
import type { PodAccess } from './pod-access.ts';

export interface PodCall {
  readonly access: PodAccess;
  readonly context: Context;
  readonly request: TransportRequest;
  readonly query: URLSearchParams;
  readonly target: Target;
  readonly verb: string;
  readonly connection: Connection;
  /** Whether whoever asks may do this, too. */
  mayAs(verb: string): Verdict | Promise<Verdict>;
  /** The server stops. */
  readonly closing: AbortSignal;
  /** Told what the connection becomes. Undefined: it cannot become anything. */
  readonly become: ((upgraded: Upgraded) => void) | undefined;
}

/** Never sent: the connection is another one by then. */
const SWITCHING: TransportResponse = { status: 101, headers: {}, body: new Uint8Array() };

export async function onPod(call: PodCall): Promise<TransportResponse> {
  const { connection, verb, access, context, target, query, request, closing } = call;
  if (!connection.verbs.includes(verb)) throw methodNotAllowed();
  if (connection.name === 'exec') return exec(call);
  const signal = request.signal ? AbortSignal.any([closing, request.signal]) : closing;
  return readPodLog(access, findPod(context, target), query, signal);
}

async function exec(call: PodCall): Promise<TransportResponse> {
  const { access, context, target, query, request, closing, become, verb } = call;
  // To open a WebSocket is a GET, and yet no mere reading.
  if (verb !== 'create') await requireCreate(call);
  const prepared = prepareExec(findPod(context, target), query);
  if (!become || !isWebSocket(request.headers ?? {})) throw badRequest('Upgrade request required');
  const offered = protocolsOf(request.headers ?? {});
  const protocol = chooseProtocol(offered);
  if (protocol === undefined) {
    const [wanted, served] = [offered.join(' '), PROTOCOLS.join(' ')];
    throw badRequest(`requested protocol(s) are not supported: [${wanted}]; supports [${served}]`);
  }
  become({ protocol, run: (socket) => runExec(access, prepared, protocol, socket, closing) });
  return SWITCHING;
}

async function requireCreate({ mayAs, target }: PodCall): Promise<void> {
  const { allowed, reason } = await mayAs('create');
  if (!allowed) throw forbiddenRequest(target.served.kind, target.name, reason ?? '');
}
