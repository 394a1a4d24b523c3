/** Asking a container: by a command in it, by HTTP, by a connection, by gRPC. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Clock } from '@reeve/runtime';
import { ReeveError } from '@reeve/runtime';
import type { RunResult } from '../host/host.ts';
import type { PodContainer } from '../pod/progress.ts';
import { askHealth } from './grpc.ts';

type Lifecycle = NonNullable<PodContainer['lifecycle']>;
export type PodAction = NonNullable<Lifecycle['preStop']>;

export interface Target {
  readonly address: string;
  readonly ports: PodContainer['ports'];
  exec(command: readonly string[], signal: AbortSignal): Promise<RunResult>;
}

export interface Answer {
  readonly isSuccess: boolean;
  /** For people: the answer, or why there is none. */
  readonly message: string;
}

const MOST_MESSAGE = 1_000;

/** Never rejects: a question that cannot be asked is a failure, too. */
export async function askContainer(
  action: PodAction,
  target: Target,
  clock: Clock,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    signal.throwIfAborted();
    if (action.exec) return await byCommand(action.exec.command ?? [], target, signal);
    if (action.httpGet) return await byHttp(action.httpGet, target, signal);
    if (action.tcpSocket) return await byConnection(action.tcpSocket, target, signal);
    if (action.grpc) return await byHealthCheck(action.grpc, target, signal);
    if (action.sleep) await clock.sleep(action.sleep.seconds * 1_000, signal);
    return { isSuccess: true, message: '' };
  } catch (error) {
    return { isSuccess: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function byCommand(command: readonly string[], target: Target, signal: AbortSignal): Promise<Answer> {
  const { code, stdout, stderr } = await target.exec(command, signal);
  return { isSuccess: code === 0, message: `${stdout}${stderr}`.slice(0, MOST_MESSAGE) };
}

function byHealthCheck(
  { port, service = '' }: NonNullable<PodAction['grpc']>,
  target: Target,
  signal: AbortSignal,
): Promise<Answer> {
  return askHealth({ host: target.address, port, service }, signal);
}

function portOf(port: number | string, { ports = [] }: Target): number {
  if (typeof port === 'number') return port;
  const named = ports.find(({ name }) => name === port)?.containerPort;
  const number = named ?? Number(port);
  if (Number.isInteger(number)) return number;
  throw new ReeveError('NODE_PROBE', `couldn't find port: ${port}`);
}

async function byHttp(get: NonNullable<PodAction['httpGet']>, target: Target, signal: AbortSignal): Promise<Answer> {
  const host = get.host === undefined || get.host === '' ? target.address : get.host;
  const path = get.path === undefined || get.path === '' ? '/' : get.path;
  const headers: Record<string, string> = { 'user-agent': 'kube-probe/reeve', accept: '*/*', connection: 'close' };
  for (const { name, value } of get.httpHeaders ?? []) headers[name.toLowerCase()] = value;
  const options = {
    host,
    port: portOf(get.port, target),
    path: path.startsWith('/') ? path : `/${path}`,
    headers,
    signal,
  };
  const status = await new Promise<number>((resolve, reject) => {
    // A probe asks whether it answers, not whether its certificate is good.
    const asked =
      get.scheme === 'HTTPS' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
    asked.once('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    asked.once('error', reject);
    asked.end();
  });
  const isSuccess = status >= 200 && status < 400;
  return { isSuccess, message: `HTTP probe ${isSuccess ? 'succeeded' : 'failed'} with statuscode: ${status}` };
}

async function byConnection(
  { host, port }: NonNullable<PodAction['tcpSocket']>,
  target: Target,
  signal: AbortSignal,
): Promise<Answer> {
  const to = { host: host === undefined || host === '' ? target.address : host, port: portOf(port, target) };
  await new Promise<void>((resolve, reject) => {
    const socket = connect(to);
    const onAbort = () => socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => resolve());
    socket.once('error', reject);
    socket.once('close', () => {
      signal.removeEventListener('abort', onAbort);
      reject(new Error('the connection was closed'));
    });
    socket.once('connect', () => socket.destroy());
  });
  return { isSuccess: true, message: '' };
}
